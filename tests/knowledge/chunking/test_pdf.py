"""Passages of a PDF keep to its pages and carry the headings over them."""

import pytest

from gaby.knowledge.chunking.sizes import SOFT_MAXIMUM
from gaby.knowledge.documents import DocumentText, PdfHeading, RawDocument
from gaby.knowledge.parsers import read
from gaby.llm.tokens import estimate
from tests.knowledge.chunking.laws import lawful
from tests.knowledge.parsers.sample_files import Mark, paper

pytestmark = pytest.mark.promise("K2")

LINE = "The desk unlocks an account when it has seen a badge.\n"
PAGE = LINE * 12


def paged(*pages: str, outline: tuple[PdfHeading, ...] = ()) -> DocumentText:
    starts = tuple(sum(map(len, pages[:number])) for number in range(len(pages)))
    return DocumentText("t", "".join(pages), "pdf", starts, outline)


def test_no_passage_crosses_the_end_of_a_page() -> None:
    passages = lawful(paged(PAGE, PAGE, PAGE))
    assert [(passage.first_page, passage.last_page) for passage in passages] == [(1, 1), (2, 2), (3, 3)]


def test_a_long_page_is_cut_between_lines() -> None:
    text = paged(LINE * 100, PAGE)
    passages = lawful(text)
    assert len(passages) > 3
    assert all(estimate(passage.extract(text.text)) <= SOFT_MAXIMUM for passage in passages)
    assert all(passage.extract(text.text).startswith("The desk") for passage in passages)


def test_headings_are_carried_from_page_to_page() -> None:
    outline = (
        PdfHeading(0, 1, "Accounts"),
        PdfHeading(len(PAGE), 2, "Lock-outs"),
        PdfHeading(3 * len(PAGE), 1, "Devices"),
    )
    passages = lawful(paged(PAGE, PAGE, PAGE, PAGE, outline=outline))
    assert [passage.headings for passage in passages] == [
        ("Accounts",),
        ("Accounts", "Lock-outs"),
        ("Accounts", "Lock-outs"),
        ("Devices",),
    ]


def test_the_rest_of_a_section_joins_the_page_before_only_where_the_heading_goes_on() -> None:
    rest = "The end.\n"
    same = lawful(paged(PAGE, rest, outline=(PdfHeading(0, 1, "Accounts"),)))
    other = lawful(paged(PAGE, rest, outline=(PdfHeading(0, 1, "Accounts"), PdfHeading(len(PAGE), 1, "Devices"))))
    assert [(passage.first_page, passage.last_page) for passage in same] == [(1, 2)]
    assert [(passage.first_page, passage.last_page) for passage in other] == [(1, 1), (2, 2)]


def test_from_bytes_to_passages() -> None:
    body = [(10, LINE.strip())] * 12
    data = paper([[(10, "3"), (18, "Lock-outs"), *body], body], marks=[Mark("Lock-outs", 0)])
    passages = lawful(read(RawDocument("handbook.pdf", data)))
    assert [(passage.headings, passage.first_page) for passage in passages] == [
        (("Lock-outs",), 1),
        (("Lock-outs",), 2),
    ]
