"""Whether a text asks for something to be changed, and what: `please unlock Nora`, `can you refund it`."""

import re

from gaby.mind.words import stem

_VERBS = (
    "add|remove|delete|create|update|change|set|reset|unlock|lock|disable|enable|cancel|refund|restart|reboot|"
    "resend|send|"
    "assign|unassign|reassign|move|rename|transfer|upgrade|downgrade|extend|approve|reject|close|reopen|grant|"
    "revoke|block|"
    "unblock|suspend|resume|activate|deactivate|reactivate|merge|rotate|install|uninstall|purge|clear|flush|"
    "schedule|book|"
    "order|issue|apply|increase|decrease|reduce|raise|stop|start|kill|terminate|wipe|invite|register|replace|"
    "restore|reissue|"
    "void|waive|credit|reverse|expire|invalidate|erase|archive|unarchive|publish|deploy|scale|roll back|rollback|"
    "retry|rerun|"
    "trigger|provision|deprovision|migrate|swap|switch off|switch on|switch|turn on|turn off|escalate|forward|"
    "notify|reply|post|write|make|give|correct|take away|hand over"
)
# "Reset link is broken" begins with a noun.
_TELLS = (
    r"(?! (?:[^\s.,;!?]{1,40} ){0,2}(?:is|are|was|were|has|have|fails?|failed (?:with|to|for)|does|doesn't|did|"
    r"never|cannot|"
    r"can't|broke|stopped|keeps?|shows?|says?|hangs?|goes|went|takes?|came|comes)\b)"
)
# A heading of one word names a subject and orders nothing.
_HEADING = r"(?!\s*(?:\n|\Z))"
_BEGINS = re.compile(
    rf"(?:^|[.!?;:\n]\s*|\band (?:then )?|\bthen )(?:please |kindly |pls |now |just )?({_VERBS})\b{_HEADING}{_TELLS}",
    re.IGNORECASE,
)
_ADDED = re.compile(
    rf"[,:–-]\s*(?:so |and |then )?(?:please |kindly |pls )?({_VERBS}) "
    r"(?:it|this|that|the|my|our|your|his|her|their|him|them|all|off|on|me|us|[A-Za-z]*[0-9_.@]\w*)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(
    rf"\b(?:please|kindly|pls|can you|could you|would you|can we|can someone|could someone|can somebody|"
    rf"could somebody|you to|"
    rf"wants? to|like to|need to|needs to|have to|must|let us|let's|should|help me|ask you to|needs you to|"
    rf"wants? \w+ to)"
    rf"(?: please| also| just| now| then)? ({_VERBS})\b",
    re.IGNORECASE,
)
_DONE_TO = re.compile(
    r"\b(?:needs?|want|wants|should|must|has|have|like|would like) (?:\w+ ){0,4}?(?:to be |be |)"
    r"(unlocked|reset|refunded|deleted|removed|added|disabled|enabled|restarted|cancelled|canceled|changed|"
    r"updated|renamed|"
    r"moved|created|reactivated|activated|deactivated|revoked|granted|resent|rotated|replaced|restored|extended|"
    r"closed)\b",
    re.IGNORECASE,
)
_NOT_ORDERS = re.compile(r"\b(?:don'?t|do not|never|not) (?:please )?\Z", re.IGNORECASE)
_OWN_DOING = re.compile(
    r"\b(?:do|does|did|should|must|shall|can|could|may|will|would|have|need|if|when|how|where|what)(?:n['’]t)? "
    r"(?:i|we)\b[^.!?\n,;]{0,40}\Z",
    re.IGNORECASE,
)
"""`What do I have to send`: the requester asks what to do themselves."""
_BEFORE = 20
_BEFORE_OWN = 60


def asked_changes(text: str) -> frozenset[str]:
    """The stems of the verbs that are asked for. Empty when the text only tells or asks."""
    changes: set[str] = set()
    for pattern in (_BEGINS, _ADDED, _ASKED, _DONE_TO):
        for match in pattern.finditer(text):
            start = match.start(1)
            is_order = not _NOT_ORDERS.search(text, max(0, start - _BEFORE), start)
            if is_order and not _OWN_DOING.search(text, max(0, start - _BEFORE_OWN), start):
                changes.add(stem(match[1].lower().split()[0]))
    return frozenset(changes)
