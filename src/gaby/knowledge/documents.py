"""A document on its way into the index: as it was brought, as it is read, and cut into passages."""

from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from gaby.kernel.errors import Invalid


class Unreadable(Invalid):
    """This document cannot be read."""


@dataclass(frozen=True)
class RawDocument:
    """What a source brought. Nothing has been decoded yet."""

    uri: str
    """Its address inside its source, such as `kubernetes/crash-loops.md`."""
    data: bytes
    media_type: str | None = None
    """As its server called it, without parameters; None when only the name tells."""
    charset: str | None = None
    title: str | None = None
    """When the source knows better than the text."""
    link: str | None = None
    """Where a person opens the original."""


@dataclass(frozen=True)
class PdfHeading:
    """A heading that the text itself does not mark, as in a PDF."""

    start: int
    level: int
    """1 is the outermost."""
    title: str


@dataclass(frozen=True)
class DocumentText:
    """A document that can be read. Lines end with a line feed alone and are what citations count."""

    title: str
    text: str
    kind: str
    """`markdown`, `plain`, `pdf`, `html` (by then turned into Markdown), or a language such as `python` or `go`."""
    pages: tuple[int, ...] = ()
    """Where each page begins, as an offset into the text. Empty when it has no pages."""
    outline: tuple[PdfHeading, ...] = ()
    """Headings found by other means than marks in the text, in order. Only PDFs have them."""


class Passage(NamedTuple):
    """A part of a text. All passages of a text, one behind the other, are the text."""

    start: int
    end: int
    first_line: int
    """Counted from 1, as editors do. The line of the first character that is not white space."""
    last_line: int
    headings: tuple[str, ...] = ()
    """From the outermost to the nearest: `("Accounts", "Lock-outs")`; for code `("Ledger", "settle")`."""
    first_page: int | None = None
    last_page: int | None = None

    def extract(self, text: str) -> str:
        return text[self.start : self.end]


def content_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
