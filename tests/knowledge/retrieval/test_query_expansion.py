"""Questions become queries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.retrieval.embedding_text import passage_text, question_text
from gaby.knowledge.retrieval.query_expansion import MOST, READ, questions

pytestmark = pytest.mark.promise("K4")


def test_a_short_question_stays_one_query() -> None:
    (query,) = questions("How do I reset my password?")
    assert query.kind == "whole"
    assert query.terms == ("reset", "password")


def test_a_ticket_is_asked_as_a_whole_and_in_parts() -> None:
    ticket = "My card was stolen in Rome. The app does not let me sign in. Can I get a refund for the hotel?"
    found = questions(ticket)
    assert found[0].text == ticket
    assert {"refund", "hotel"} <= {term for query in found[1:] if len(query.terms) < 4 for term in query.terms}


def test_an_error_code_is_a_query_of_its_own() -> None:
    found = questions("Since the update nobody can sign in. The page shows AADSTS50076. We need help today.")
    assert "AADSTS50076" in [query.text for query in found if query.kind == "code"]


def test_what_is_said_often_is_counted() -> None:
    assert questions("The card, the card, the card and the hotel")[0].counts == {"card": 3, "hotel": 1}


def test_rewrites_of_a_model_are_asked_too() -> None:
    found = questions("cant get in", ["sign-in fails", "password reset"])
    assert [query.text for query in found if query.kind == "rewrite"] == ["sign-in fails", "password reset"]


def test_a_long_ticket_has_no_more_queries_than_it_may() -> None:
    found = questions(" ".join(f"Part {number} says that thing{number} broke." for number in range(300)))
    assert len(found) <= MOST
    assert all(len(query.text) <= READ for query in found)
    assert any("thing299" in query.counts for query in found[1:])


def test_the_same_words_are_not_asked_twice() -> None:
    found = [frozenset(query.terms) for query in questions("Reset password. Reset password! Password reset?")]
    assert len(found) == len(set(found))


@pytest.mark.parametrize("text", ["", "   ", "?!", "🙂🙃", "the of and"])
def test_a_text_without_words_asks_nothing(text: str) -> None:
    assert questions(text) == []


@given(st.text(max_size=400), st.lists(st.text(max_size=40), max_size=20))
def test_any_text_becomes_a_bounded_number_of_queries(text: str, rewrites: list[str]) -> None:
    found = questions(text, rewrites)
    assert len(found) <= MOST
    assert all(query.terms for query in found)


@pytest.mark.parametrize("text", ["a " * 2_000_000, "x" * 4_000_000, "error E-1 " * 300_000, "。" * 1_000_000])
def test_megabytes_are_read_only_so_far(text: str) -> None:
    assert sum(len(query.text) for query in questions(text)) <= 3 * READ


def test_local_models_hear_only_the_words_that_say_something() -> None:
    assert passage_text("local/wordllama", "Cards", ("Lost",), "What to do with it") == "cards cards lost"
    assert passage_text("acme/large", "Cards", (), "What to do") == "Cards\nCards\nWhat to do"


def test_words_that_the_corpus_has_count_more_in_a_question() -> None:
    assert question_text("local/wordllama", "Cards of Nora", {"card": 1.0}) == "cards cards cards nora"
    assert question_text("acme/large", "Cards of Nora", {"card": 1.0}) == "Cards of Nora"
