"""PDF: the text of each page, in the order in which it is drawn, with its headings where the file gives them away."""

import re
from collections.abc import Iterator
from contextlib import closing
from itertools import chain, islice
from threading import Lock
from typing import Any, NamedTuple

import pypdfium2
from pypdfium2 import raw

from gaby.knowledge.documents import PdfHeading, Unreadable
from gaby.knowledge.parsers.binary_files import is_pdf
from gaby.knowledge.parsers.control_characters import cleaned
from gaby.knowledge.parsers.pdf_headings import Bookmark, PdfLine, from_bookmarks, from_type, largest_line

_MOST_PAGES = 5_000
_MOST_BOOKMARKS = 5_000
_NO_TITLE = re.compile(
    r"untitled|microsoft |.*\.(?:docx?|odt|rtf|xlsx?|pptx?|indd|tex|dvi|pdf|qxd|html?)$", re.IGNORECASE
)
# A hyphen that only breaks a word over two lines; the reader of the text wants the word.
_BROKEN_WORD = re.compile("[\ufffe\x02]\r?\n?")
# The library holds state of its own and serves one caller at a time.
_ONE_AT_A_TIME = Lock()


class PdfText(NamedTuple):
    title: str | None
    text: str
    pages: tuple[int, ...]
    outline: tuple[PdfHeading, ...]


def pdf_text(data: bytes, *, limit_characters: int) -> PdfText:
    if not is_pdf(data):
        raise Unreadable("It is called a PDF and is none. Open the original and save it again as PDF.")
    with _ONE_AT_A_TIME, closing(_opened(data)) as document:
        pages = _pages(document, limit_characters)
        bookmarks = list(_bookmarks(document))
        title = str(_untyped(document).get_metadata_value("Title"))
    if not any(line.words for page in pages for line in page):
        raise Unreadable(
            "It has no text, only pictures of pages. Run text recognition (OCR) over it, then bring it again."
        )
    outline = from_bookmarks(bookmarks, pages) if bookmarks else from_type(pages)
    text = "".join(f"{line.words}\n" for line in chain.from_iterable(pages))
    named = None if _NO_TITLE.match(title) else title
    return PdfText(named or largest_line(pages), text, _starts(pages), tuple(outline))


def _opened(data: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if _untyped(error).err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise Unreadable("It is locked with a password. Save it without one, then bring it again.") from None
        raise _broken() from None


def _untyped(thing: object) -> Any:
    """The library says little about its types."""
    return thing


def _broken() -> Unreadable:
    return Unreadable("It is a broken PDF: its end or its inner tables are missing. Save or export it again.")


def _pages(document: pypdfium2.PdfDocument, limit_characters: int) -> list[list[PdfLine]]:
    count = len(document)
    if count > _MOST_PAGES:
        raise Unreadable(f"It has {count} pages; at most {_MOST_PAGES} are read. Split it, or leave it out.")
    pages: list[list[PdfLine]] = []
    position = 0
    for number in range(count):
        pages.append(list(_lines(document, number, position)))
        if pages[-1]:
            position = pages[-1][-1].start + len(pages[-1][-1].words) + 1
        if position > limit_characters:
            raise Unreadable(f"Its text has more than {limit_characters} characters. Split it, or leave it out.")
    return pages


def _lines(document: pypdfium2.PdfDocument, number: int, position: int) -> Iterator[PdfLine]:
    try:
        with closing(document[number]) as page, closing(page.get_textpage()) as words:
            text = words.get_text_range()
            sized = len(text) == words.count_chars()
            begin = 0
            for line in _raw_lines(text):
                shown = cleaned(_BROKEN_WORD.sub("", line)).rstrip()
                if shown or begin:
                    yield PdfLine(position, shown, _type_size(words, begin) if sized and shown else 0.0)
                    position += len(shown) + 1
                begin += len(line)
    except pypdfium2.PdfiumError:
        # One page that is broken does not spoil the others.
        return


def _raw_lines(text: str) -> Iterator[str]:
    """With their ends, a word that is broken over two lines counting as one line."""
    begin = 0
    for end in re.finditer(r"\r\n?|\n", text):
        if text[end.start() - 1 : end.start()] not in ("\ufffe", "\x02"):
            yield text[begin : end.end()]
            begin = end.end()
    if begin < len(text):
        yield text[begin:]


def _type_size(words: pypdfium2.PdfTextPage, index: int) -> float:
    return round(2 * float(raw.FPDFText_GetFontSize(_untyped(words), index))) / 2


def _bookmarks(document: pypdfium2.PdfDocument) -> Iterator[Bookmark]:
    try:
        for mark in islice(_untyped(document).get_toc(), _MOST_BOOKMARKS):
            target = mark.get_dest()
            page = target.get_index() if target else None
            title = " ".join(cleaned(str(mark.get_title())).split())
            if page is not None and title:
                yield Bookmark(mark.level + 1, title, page)
    except pypdfium2.PdfiumError:
        return


def _starts(pages: list[list[PdfLine]]) -> tuple[int, ...]:
    starts: list[int] = []
    position = 0
    for page in pages:
        starts.append(position)
        if page:
            position = page[-1].start + len(page[-1].words) + 1
    return tuple(starts)
