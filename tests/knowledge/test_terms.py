"""The terms of lexical search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.terms import LONGEST, content, terms

pytestmark = pytest.mark.promise("K4")


@pytest.mark.parametrize("written", ["userId", "user_id", "user-id"])
def test_a_name_is_found_by_its_words_and_as_a_whole(written: str) -> None:
    assert terms(written) == ["user", "id", "userid"]


@pytest.mark.parametrize(
    ("code", "whole"), [("AADSTS50076", "aadsts50076"), ("E-1042", "e1042"), ("ORA-00942", "ora00942")]
)
def test_an_error_code_is_kept_whole_as_well_as_split(code: str, whole: str) -> None:
    found = terms(f"It says {code}.")
    assert whole in found
    assert len(found) > 2


def test_forms_of_a_word_and_accents_make_no_difference() -> None:
    assert terms("Charged at the Café, naïvely") == terms("charging at cafe naively")
    assert terms("Straße") == terms("STRASSE")


def test_words_that_say_little_are_left_out() -> None:
    assert terms("What is it that you have?") == []


def test_a_text_without_blanks_is_found_by_pairs_of_characters() -> None:
    assert terms("支払い方法") == ["支払", "払い", "い方", "方法"]
    assert set(terms("支払い")) <= set(terms("支払い方法"))


def test_a_number_with_a_point_is_not_another_number() -> None:
    assert "35" not in terms("3.5 seconds")
    assert "10001" in terms("10.0.0.1")


@pytest.mark.parametrize("long", ["a" * 5_000, "aGVsbG8gd29ybGQ" * 400, "0f" * 4_000, "A1" * 4_000])
def test_keys_and_hashes_are_bounded(long: str) -> None:
    assert terms(long) == [long[:LONGEST].lower()]


def test_signs_around_a_word_are_no_part_of_it() -> None:
    assert terms('(refund) -> "card"; [vpn=E-1042]...') == terms("refund card vpn E-1042")
    assert content("`userId`: <café>/naïve!") == ["user", "id", "cafe", "naive"]


def test_how_often_a_term_stands_there_is_kept() -> None:
    assert terms("card, card and card").count("card") == 3


def test_content_is_spelled_as_written() -> None:
    assert content("The charged cards of userId") == ["charged", "cards", "user", "id"]


@given(st.text(max_size=300))
def test_every_term_is_a_run_of_lower_case_letters_and_digits(text: str) -> None:
    for term in terms(text):
        assert term.isalnum()
        assert term == term.lower()
        assert len(term) <= LONGEST


@given(st.text(alphabet="aA1-_.é日 \t\n'\"", max_size=200))
def test_terms_of_two_texts_are_the_terms_of_both(text: str) -> None:
    assert terms(f"{text} {text}") == 2 * terms(text)
