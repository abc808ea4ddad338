"""What the head of a mail says: who, about what, in which thread, and whether a program wrote it."""

import hashlib
import re
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message

from gaby.tickets.adapters.email.authentication_results import trusted_results
from gaby.tickets.adapters.email.config import is_address
from gaby.tickets.adapters.email.header_scan import HeaderPiece, HeaderSyntaxError, header_pieces, unfolded
from gaby.tickets.text_cleanup import clean_line

MOST_IDS = 20
DIGEST = "digest-"
"""How the ids begin that Gaby gives to mails without one."""
THREAD = "thread-"
"""How the ids begin that Gaby gives to threads whose first mail is not in the mailbox."""
TICKET = "X-Gaby-Ticket"
"""In Gaby's answers: the ticket they belong to."""
_MOST_HEADER = 8_000
_ID = re.compile(r"<([A-Za-z0-9!#$%&'*+/=?^_`{|}~.:\[\]@-]{1,190})>")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_IN_ANGLES = re.compile(r"<([^<>]*)>")
_SEPARATORS = frozenset("@,;:<>")
"""Of several mailboxes, or of a group of them."""
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
    """The mailbox in it. None where the header comes twice, names several, or is not plain."""
    mailbox = _mailbox(head, name)
    return mailbox[0] if mailbox is not None else None


def sole_address(head: Message, name: str) -> str | None:
    """The same, and None as well where the header could be read as naming somebody else besides: what a program takes
    for a name with a comma, another takes for two people. Only this one is vouched for."""
    mailbox = _mailbox(head, name)
    return mailbox[0] if mailbox is not None and not _SEPARATORS & set(mailbox[1]) else None


def _mailbox(head: Message, name: str) -> tuple[str, str] | None:
    """The mailbox, and what stands around its brackets."""
    if len(head.get_all(name, [])) != 1:
        return None
    text = str(head.get(name, ""))
    try:
        # The name in front may be in any language, and says nothing about who it is.
        plain = _NOT_ASCII.sub("_", unfolded(text[:_MOST_HEADER]))
        text = "".join(_skeleton(header_pieces(plain)))
    except HeaderSyntaxError:
        return None
    addresses = _IN_ANGLES.findall(text)
    mailbox = (addresses[0] if len(addresses) == 1 else "" if addresses else text).strip()
    return (mailbox.lower(), _IN_ANGLES.sub("", text) if addresses else "") if is_address(mailbox) else None


def _skeleton(pieces: Iterator[HeaderPiece]) -> Iterator[str]:
    """Without comments, and with a mark that no address contains in place of what is quoted."""
    for piece in pieces:
        yield " " if piece.spaced else ""
        yield "\0" if piece.quoted else piece.text


def message_id(head: Message, mail: bytes) -> str:
    """Without its brackets. A mail without a usable one gets one from its bytes, the same each time it is read."""
    match = _ID.fullmatch(raw(head, "message-id"))
    # Who could choose an id of Gaby's would own the ticket of whoever gets it later.
    return match[1] if match and not match[1].startswith((DIGEST, THREAD)) else digest_id(mail)


def digest_id(mail: bytes) -> str:
    return f"{DIGEST}{hashlib.sha256(mail).hexdigest()[:40]}"


def thread_id(root: str, *owner: str) -> str:
    """Of the thread that this owner began by answering a mail which is not in the mailbox."""
    return f"{THREAD}{hashlib.sha256(' '.join((root, *owner)).encode()).hexdigest()[:40]}"


def parents(head: Message) -> list[str]:
    """The messages it refers to, oldest first."""
    references = ids(head, "references") or ids(head, "in-reply-to")
    return references if len(references) <= MOST_IDS else [references[0], *references[1 - MOST_IDS :]]


def ids(head: Message, name: str) -> list[str]:
    return _ID.findall(raw(head, name))


def is_id(text: str) -> bool:
    return _ID.fullmatch(f"<{text}>") is not None


def is_own_id(message: str, domain: str) -> bool:
    """Whether Gaby gave this id: its marker, at the desk's domain."""
    marker, _, where = message.partition("@")
    return _OWN.fullmatch(marker) is not None and where.lower() == domain


def is_verified(head: Message, authserv_id: str) -> bool:
    """Whether the desk's own server says that the domain of the one address in the one `From` sent this (DMARC)."""
    sender = sole_address(head, "from")
    results = trusted_results(head, authserv_id)
    return sender is not None and results is not None and results.dmarc_domain == sender.rpartition("@")[2]


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
