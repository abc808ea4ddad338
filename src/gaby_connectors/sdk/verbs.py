"""Words that tell what a tool does before anybody has read its description."""

import re

_DESTRUCTIVE = frozenset(
    {
        "ban", "cancel", "charge", "deactivate", "delete", "destroy", "disable", "drop", "erase", "format", "grant",
        "kill", "overwrite", "pay", "purge", "refund", "remove", "reset", "revoke", "shutdown", "suspend", "terminate",
        "transfer", "truncate", "uninstall", "wipe",
    }
)  # fmt: skip
_BEFORE_THE_VERB = frozenset({"all", "batch", "bulk", "force", "hard", "mass"})


def looks_destructive(name: str) -> bool:
    """Whether a tool's name begins with a verb that destroys, pays, locks out or grants."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    words = [word for word in re.split(r"[^a-z0-9]+", snake) if word]
    while words and words[0] in _BEFORE_THE_VERB:
        words.pop(0)
    return bool(words) and words[0] in _DESTRUCTIVE
