"""Words that tell what a tool does before anybody has read its description."""

import re

_DESTRUCTIVE = frozenset(
    {
        "ban", "cancel", "charge", "deactivate", "delete", "destroy", "disable", "drop", "erase", "format", "grant",
        "kill", "overwrite", "pay", "purge", "refund", "remove", "reset", "revoke", "shutdown", "suspend", "terminate",
        "transfer", "truncate", "uninstall", "wipe",
    }
)  # fmt: skip
CHANGES = _DESTRUCTIVE | frozenset(
    {
        "abort", "accept", "activate", "add", "adjust", "allocate", "allow", "anonymize", "append", "apply",
        "approve", "archive", "assign", "attach", "authorize", "ban", "block", "book", "buy", "call", "cancel",
        "change", "charge", "clean", "clear", "clone", "close", "commit", "configure", "confirm", "convert",
        "copy", "create", "credit", "deactivate", "debit", "decline", "decrement", "delete", "demote", "deny",
        "deploy", "deprovision", "destroy", "detach", "disable", "discard", "dismiss", "dispatch", "drain", "drop",
        "duplicate", "edit", "eject", "emit", "empty", "enable", "encrypt", "enforce", "enqueue", "enroll",
        "ensure", "erase", "escalate", "eval", "evict", "exec", "execute", "expire", "extend", "extract", "flush",
        "force", "forget", "format", "forward", "freeze", "generate", "grant", "halt", "heal", "hide", "hold",
        "impersonate", "import", "impose", "increment", "init", "initialize", "inject", "insert", "install",
        "invalidate", "invite", "invoke", "issue", "join", "kick", "kill", "launch", "leave", "link", "load",
        "lock", "log", "logout", "mark", "merge", "migrate", "modify", "move", "mute", "notify", "open", "order",
        "overwrite", "patch", "pause", "pay", "persist", "pin", "post", "prepare", "process", "promote",
        "provision", "prune", "publish", "purge", "push", "put", "quarantine", "queue", "reassign", "rebalance",
        "reboot", "rebuild", "recalculate", "recover", "recreate", "redeem", "redeploy", "refresh", "refund",
        "regenerate", "register", "reindex", "reject", "release", "reload", "remove", "rename", "renew", "reopen",
        "repair", "replace", "reply", "request", "requeue", "rerun", "reschedule", "resend", "reset", "resize",
        "resolve", "restart", "restore", "resume", "retire", "retry", "return", "revert", "revoke", "rewrite",
        "roll", "rollback", "rotate", "run", "save", "scale", "schedule", "scrub", "seed", "send", "set", "settle",
        "share", "shred", "shutdown", "sign", "simulate", "snooze", "spawn", "split", "start", "stop", "store",
        "submit", "subscribe", "suspend", "swap", "switch", "sync", "tag", "terminate", "toggle", "touch", "trade",
        "train", "transfer", "trigger", "trim", "truncate", "turn", "unarchive", "unassign", "unban", "unblock",
        "uninstall", "unlink", "unlock", "unmute", "unpublish", "unregister", "unset", "unshare", "unsubscribe",
        "untag", "update", "upgrade", "upload", "upsert", "use", "validate", "verify", "void", "wipe", "withdraw",
        "write", "zap",
    }
)  # fmt: skip
"""Verbs of tools that change something."""
_BEFORE_THE_VERB = frozenset({"all", "batch", "bulk", "force", "hard", "mass"})


def looks_destructive(name: str) -> bool:
    """Whether a tool's name begins with a verb that destroys, pays, locks out or grants."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    words = [word for word in re.split(r"[^a-z0-9]+", snake) if word]
    while words and words[0] in _BEFORE_THE_VERB:
        words.pop(0)
    return bool(words) and words[0] in _DESTRUCTIVE
