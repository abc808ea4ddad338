"""What the head of a mail says: who, about what, in which thread, and whether a program wrote it."""

import hashlib
import re
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message

from gaby.tickets.adapters.email.config import is_address
from gaby.tickets.cleaning import clean_line

MOST_IDS = 20
DIGEST = "digest-"
"""How the ids begin that Gaby gives to mails without one."""
TICKET = "X-Gaby-Ticket"
"""In Gaby's answers: the ticket they belong to."""
_MOST_HEADER = 8_000
_ID = re.compile(r"<([A-Za-z0-9!#$%&'*+/=?^_`{|}~.:\[\]@-]{1,190})>")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*+\"")
_COMMENT = re.compile(r"\([^()]*\)")
_IN_ANGLES = re.compile(r"<([^<>]*)>")
_RESULT = re.compile(r"(?:^|;)\s*(dkim|dmarc)\s*=\s*([a-z]{1,20})([^;]*)", re.IGNORECASE)
_FROM_DOMAIN = re.compile(r"\bheader\.from\s*=\s*([A-Za-z0-9.-]{1,253})", re.IGNORECASE)
_DAEMONS = ("mailer-daemon@", "postmaster@", "no-reply@", "noreply@", "do-not-reply@", "donotreply@")
_OWN = re.compile(r"gaby-[0-9a-z]{32}")


def raw(head: Message, name: str) -> str:
    """As it was written, in one line."""
    return str(head.get(name, ""))[:_MOST_HEADER].replace("\r", " ").replace("\n", " ").strip()


def words(head: Message, name: str, most: int) -> str:
    """With what is encoded decoded."""
    text = raw(head, name)
    try:
        parts = decode_header(text)
    except (HeaderParseError, ValueError):
        return clean_line(text, most)
    return clean_line("".join(_part(value, charset) for value, charset in parts), most)


def _part(value: bytes | str, charset: str | None) -> str:
    if isinstance(value, str):
        return value
    # What is written as raw bytes is almost always UTF-8; the library marks it as unknown.
    try:
        return value.decode("utf-8" if charset in (None, "unknown-8bit") else str(charset), "replace")
    except (LookupError, ValueError):
        return value.decode("utf-8", "replace")


def address(head: Message, name: str) -> str | None:
    """The one mailbox in it. None where there are several or it is not plain: then nobody is vouched for."""
    if len(head.get_all(name, [])) != 1:
        return None
    text = _QUOTED.sub(" ", raw(head, name))
    for _ in range(5):
        text = _COMMENT.sub(" ", text)
    found = _IN_ANGLES.findall(text)
    mailbox = (found[0] if len(found) == 1 else "" if found else text).strip()
    return mailbox.lower() if is_address(mailbox) else None


def message_id(head: Message, mail: bytes) -> str:
    """Without its brackets. A mail without a usable one gets one from its bytes, the same each time it is read."""
    found = _ID.fullmatch(raw(head, "message-id"))
    return found[1] if found else digest_id(mail)


def digest_id(mail: bytes) -> str:
    return f"{DIGEST}{hashlib.sha256(mail).hexdigest()[:40]}"


def parents(head: Message) -> list[str]:
    """The messages it refers to, oldest first."""
    found = ids(head, "references") or ids(head, "in-reply-to")
    return found if len(found) <= MOST_IDS else [found[0], *found[1 - MOST_IDS :]]


def ids(head: Message, name: str) -> list[str]:
    return _ID.findall(raw(head, name))


def is_id(text: str) -> bool:
    return _ID.fullmatch(f"<{text}>") is not None


def is_own_id(message: str, domain: str) -> bool:
    """Whether Gaby gave this id: its marker, at the desk's domain."""
    marker, _, where = message.partition("@")
    return _OWN.fullmatch(marker) is not None and where.lower() == domain


def authentication(head: Message, authserv_id: str) -> dict[str, str]:
    """What the desk's own server found out about the sender. Others' findings are anybody's to write."""
    for header in head.get_all("authentication-results", []) if authserv_id else []:
        text = _COMMENT.sub(" ", str(header)[:_MOST_HEADER].replace("\r", " ").replace("\n", " "))
        server, _, results = text.partition(";")
        if (server.split() or [""])[0].lower() != authserv_id.lower():
            continue
        found: dict[str, str] = {}
        for method, result, rest in _RESULT.findall(results):
            found.setdefault(method.lower(), result.lower())
            domain = _FROM_DOMAIN.search(rest)
            if method.lower() == "dmarc" and domain:
                found.setdefault("from", domain[1].lower())
        # The topmost is the newest, and the only one that the server is sure to have written itself.
        return found
    return {}


def is_verified(sender: str | None, found: dict[str, str]) -> bool:
    return sender is not None and found.get("dmarc") == "pass" and found.get("from") == sender.rpartition("@")[2]


def is_automatic(head: Message, to: str | None) -> bool:
    """Whether a program wrote it, or reads what is sent to this address: answering one starts a quarrel without end."""
    submitted = raw(head, "auto-submitted").partition(";")[0].strip().lower()
    suppressed = raw(head, "x-auto-response-suppress").lower()
    return (
        submitted not in ("", "no")
        or raw(head, "precedence").lower() in ("bulk", "junk", "list", "auto_reply")
        or raw(head, "return-path").replace(" ", "") == "<>"
        or any(name in head for name in ("list-id", "list-unsubscribe", "x-autoreply", "x-autorespond", "x-loop"))
        or "all" in suppressed
        or "autoreply" in suppressed
        or head.get_content_type() == "multipart/report"
        or (to or "").startswith(_DAEMONS)
    )
