"""PDFs give their pages, lines and headings, or the reason why not."""

import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.documents import DocumentText, RawDocument, Unreadable
from gaby.knowledge.parsers import read
from tests.knowledge.parsers.sample_files import Mark, paper

pytestmark = pytest.mark.promise("K1", "K2")

BODY = [(10, f"Line {number} of the body, which is long enough to be one.") for number in range(8)]
TWO = paper([[(20, "Lock-outs"), *BODY], [(14, "Second step"), (10, "Call the desk.")]])


def parsed(data: bytes, uri: str = "handbook.pdf") -> DocumentText:
    return read(RawDocument(uri, data))


def page(text: DocumentText, number: int) -> str:
    return text.text[text.pages[number - 1] : [*text.pages, len(text.text)][number]]


def test_each_page_knows_where_it_begins() -> None:
    text = parsed(TWO)
    assert len(text.pages) == 2
    assert page(text, 1).startswith("Lock-outs\nLine 0 of the body")
    assert page(text, 2) == "Second step\nCall the desk.\n"


def test_an_empty_page_counts() -> None:
    text = parsed(paper([[(10, "One.")], [], [(10, "Three.")]]))
    assert (text.pages, page(text, 3)) == ((0, 5, 5), "Three.\n")


def test_larger_type_makes_headings() -> None:
    text = parsed(TWO)
    assert [(heading.level, heading.title) for heading in text.outline] == [(1, "Lock-outs"), (2, "Second step")]
    assert all(text.text.startswith(heading.title, heading.start) for heading in text.outline)


def test_the_head_of_every_page_is_no_heading() -> None:
    pages = [[(16, "Example Ltd"), *BODY] for _ in range(4)]
    assert parsed(paper(pages)).outline == ()


def test_bookmarks_make_headings_at_the_lines_that_they_name() -> None:
    pages = [[(10, "1. Locked out"), *BODY], BODY]
    text = parsed(paper(pages, marks=[Mark("Locked out", 0), Mark("Nowhere said", 1)]))
    assert [(heading.start, heading.title) for heading in text.outline] == [
        (0, "Locked out"),
        (text.pages[1], "Nowhere said"),
    ]


@pytest.mark.parametrize(
    ("named", "title"),
    [("Handbook", "Handbook"), ("", "Lock-outs"), ("untitled", "Lock-outs"), ("Microsoft Word - x.doc", "Lock-outs")],
)
def test_the_title_is_the_one_that_says_something(named: str, title: str) -> None:
    assert parsed(paper([[(20, "Lock-outs"), *BODY]], title=named)).title == title


def test_a_pdf_is_known_by_its_bytes_too() -> None:
    assert parsed(TWO, "download.txt").kind == "pdf"


def test_broken_tables_inside_are_mended_where_possible() -> None:
    broken = TWO.replace(b"startxref\n", b"startxref\n9").replace(b"xref\n0 ", b"xrxf\n0 ")
    assert parsed(broken).text == parsed(TWO).text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (paper([[(10, "Secret.")]], locked=True), "locked with a password"),
        (paper([[], []]), "only pictures of pages"),
        (b"%PDF-1.7\nnothing more", "broken PDF"),
        (b"<html>Please sign in</html>", "called a PDF and is none"),
        (b"\0" * 100, "called a PDF and is none"),
    ],
)
def test_a_pdf_that_cannot_be_read_says_why_and_what_to_do(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        parsed(data)


def test_a_small_file_with_endless_text_is_refused() -> None:
    drawn = zlib.compress(b"BT /F 10 Tf " + b"(many words more) Tj " * 10_000 + b"ET")
    plain = paper([[(10, "x")]])
    start, end = plain.index(b"<< /Length"), plain.index(b"endstream")
    packed = plain[:start] + b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\n" % (len(drawn), drawn) + plain[end:]
    with pytest.raises(Unreadable, match="more than 100000 characters"):
        read(RawDocument("a.pdf", packed), limit_bytes=100_000)


@given(cut=st.integers(0, len(TWO)), at=st.integers(0, len(TWO) - 1), byte=st.binary(max_size=6))
def test_no_damage_does_more_than_spoil_the_text(cut: int, at: int, byte: bytes) -> None:
    for data in (TWO[:cut], TWO[:at] + byte + TWO[at + len(byte) :]):
        with suppress(Unreadable):
            text = parsed(data)
            assert list(text.pages) == sorted(text.pages)
            assert all(0 <= heading.start < len(text.text) for heading in text.outline)
