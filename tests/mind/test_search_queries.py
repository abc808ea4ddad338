"""A ticket becomes a few search queries: what happened, without who and when."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.mind.search_queries import queries
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("G2")


def test_the_subject_the_error_code_and_the_telling_sentences_are_searched_for() -> None:
    text = (
        "Subject: Printing broken\n\nHi team,\n\nsince 12 May 2026 the labels fail with E-4410 for ada@acme.example.\n"
        "The scanner still works.\n\nKind regards\nAda"
    )
    first, second, third = queries(text, 3)
    assert first == "Printing broken"
    assert second.startswith("E-4410 ")
    assert "label" in second
    assert third == "The scanner still works."


def test_names_addresses_and_dates_are_left_out() -> None:
    (query, *_) = queries("User ada@acme.example at 10.0.0.5 cannot open the report since 2026-05-12.", 1)
    assert "cannot open the report" in query
    assert not any(private in query for private in ("ada", "10.0.0.5", "2026"))


def test_courtesy_is_not_searched_for() -> None:
    assert queries("Hello,\nthanks in advance\nBest regards", 5) == []


def test_the_same_thing_said_twice_is_searched_for_once() -> None:
    assert len(queries("The export is empty. The export is empty!", 5)) == 1


def test_a_long_text_is_searched_for_by_what_it_speaks_of_most() -> None:
    text = " ".join(
        f"The printer in room {number} prints blank pages again and nobody knows why." for number in range(30)
    )
    assert "printer" in queries(text, 1)[0]
    assert len(queries(text, 1)[0]) < 400


@given(hostile_texts, st.integers(0, 6))
def test_there_are_never_more_than_asked_for_and_always_the_same(text: str, limit: int) -> None:
    found = queries(text, limit)
    assert len(found) <= limit
    assert all(found)
    assert len(set(found)) == len(found)
    assert found == queries(text, limit)
