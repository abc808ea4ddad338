"""A mail's parts: what was written, and what is attached.

The standard library reads the heads; the body is cut here. Its own parser compares every line with every open boundary,
so that a mail of many short lines in many layers keeps it busy for minutes.
"""

import codecs
import quopri
import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32

from gaby.tickets.adapters.html_text import html_to_text
from gaby.tickets.text_cleanup import clean, clean_line

MOST_TEXT = 100_000
"""Characters of a mail that are read."""
_MOST_HEAD = 256_000
_DEEPEST = 20
_MOST_PARTS = 200
_MOST_ATTACHMENTS = 20
_EDGE_END = re.compile(rb"(--)?[ \t]*(?:\r?\n|\Z)")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
# Python knows them, no mail uses them, and some take a time that grows with the square of the text.
_NO_CHARSETS = frozenset(("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7"))
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")


@dataclass(frozen=True)
class MimePart:
    head: Message
    body: bytes
    head_cut: bool = False


@dataclass
class MailContent:
    """What a mail holds, read as far as the limits allow."""

    texts: list[str] = field(default_factory=list[str])
    attachments: list[dict[str, str | int]] = field(default_factory=list[dict[str, str | int]])
    plain: bool = True
    shortened: bool = False

    def text(self) -> str:
        return clean("\n\n".join(text.strip("\r\n") for text in self.texts), MOST_TEXT)


def part(data: bytes) -> MimePart:
    if data.startswith((b"\r\n", b"\n")):
        return MimePart(Message(compat32), data)
    end = _HEAD_END.search(data)
    head, body = (data[: end.start() + 1], data[end.end() :]) if end else (data, b"")
    # The library's own policy for modern mail reads each header into a tree, which a hostile one can make slow or fail.
    return MimePart(BytesHeaderParser(policy=compat32).parsebytes(head[:_MOST_HEAD]), body, len(head) > _MOST_HEAD)


def read(mail: MimePart) -> MailContent:
    return _MimeWalker().read(mail, 0)


class _MimeWalker:
    def __init__(self) -> None:
        self._left = _MOST_PARTS

    def read(self, mail: MimePart, depth: int) -> MailContent:
        kind = mail.head.get_content_type()
        boundary = mail.head.get_boundary() if kind.startswith("multipart/") else None
        if boundary and depth < _DEEPEST:
            inside = [self.read(inner, depth + 1) for inner in self._parts(mail.body, boundary)]
            return _best(inside) if kind == "multipart/alternative" else _joined(inside)
        if boundary:
            return MailContent(shortened=True)
        return _leaf(mail, kind)

    def _parts(self, body: bytes, boundary: str) -> Iterator[MimePart]:
        """Between the lines of the boundary. What is before the first or after the last is for nobody."""
        start = None
        for begin, end, is_last in _edges(body, b"--" + boundary.encode("utf-8", "replace")):
            if start is not None:
                yield part(_without_line_end(body[start:begin]))
            self._left -= 1
            start = None if is_last or self._left < 0 else end
            if start is None:
                return
        if start is not None:
            yield part(body[start:])


def _edges(body: bytes, edge: bytes) -> Iterator[tuple[int, int, bool]]:
    """Where each line of the boundary begins and ends, and whether it is the last."""
    at = body.find(edge)
    while at >= 0:
        end = _EDGE_END.match(body, at + len(edge))
        if end is not None and (at == 0 or body[at - 1] == ord("\n")):
            yield at, end.end(), end[1] is not None
        at = body.find(edge, at + len(edge))


def _without_line_end(text: bytes) -> bytes:
    """The line's end before a boundary belongs to the boundary."""
    return text.removesuffix(b"\n").removesuffix(b"\r")


def _joined(inside: list[MailContent]) -> MailContent:
    return MailContent(
        [text for content in inside for text in content.texts],
        [attachment for content in inside for attachment in content.attachments][:_MOST_ATTACHMENTS],
        all(content.plain for content in inside),
        any(content.shortened for content in inside),
    )


def _best(inside: list[MailContent]) -> MailContent:
    """Of several ways to say the same, the plain one if it says anything."""
    saying = [content for content in inside if any(text.strip() for text in content.texts)]
    plain = [content for content in saying if content.plain]
    chosen = (plain or saying or [MailContent()])[0]
    whole = _joined(inside)
    return MailContent(chosen.texts, whole.attachments, chosen.plain, whole.shortened)


def _leaf(mail: MimePart, kind: str) -> MailContent:
    name = _file_name(mail.head)
    attached = str(mail.head.get("content-disposition", "")).strip().lower().startswith("attachment")
    if kind not in ("text/plain", "text/html") or attached or name:
        size = len(mail.body) * 3 // 4 if _encoding(mail.head) == "base64" else len(mail.body)
        return MailContent(attachments=[{"name": name or "unnamed", "type": clean_line(kind, 100), "size": size}])
    text = _decoded(_bytes(mail), mail.head.get_content_charset())
    if kind == "text/html":
        return MailContent([html_to_text(text)], plain=False, shortened=len(text) > MOST_TEXT * 20)
    return MailContent([text[: MOST_TEXT * 2]], shortened=len(text) > MOST_TEXT)


def _bytes(mail: MimePart) -> bytes:
    encoding = _encoding(mail.head)
    if encoding == "quoted-printable":
        return quopri.decodestring(mail.body)
    if encoding == "base64":
        # Whatever is no digit is left out, as mail programs do; a digit that is left alone says nothing.
        digits = _NOT_BASE64.sub(b"", mail.body)
        digits = digits[:-1] if len(digits) % 4 == 1 else digits
        return b64decode(digits + b"=" * (-len(digits) % 4))
    return mail.body


def _encoding(head: Message) -> str:
    return str(head.get("content-transfer-encoding", "")).strip().lower()


def _file_name(head: Message) -> str:
    try:
        return clean_line(head.get_filename() or "", 200)
    except (LookupError, ValueError):
        return "unnamed"


def _decoded(data: bytes, charset: str | None) -> str:
    """In the charset it claims; where that cannot be, as UTF-8, and else as what Windows writes."""
    for name in (_known(charset), "utf-8"):
        try:
            return data.decode(name)
        except (LookupError, ValueError):
            continue
    return data.decode("cp1252", "replace")


def _known(charset: str | None) -> str:
    try:
        name = codecs.lookup(charset or "utf-8").name
    except (LookupError, ValueError):
        return "utf-8"
    return "utf-8" if name in _NO_CHARSETS else name
