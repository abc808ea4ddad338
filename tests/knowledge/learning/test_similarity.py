"""How alike two texts are."""

import pytest

from gaby.knowledge.learning.similarity import likeness

pytestmark = pytest.mark.promise("K7")


def test_likeness_is_one_for_the_same_and_nothing_for_other_words() -> None:
    assert likeness("The scanner beeps twice", "the SCANNER beeps, twice!") == pytest.approx(1.0)
    assert likeness("scanner beeps", "invoice lacks number") == 0
    assert likeness("", "") == likeness("", "scanner") == 0
    assert likeness("scanner beeps", "scanner hums") == likeness("scanner hums", "scanner beeps")


def test_a_text_without_end_is_compared_in_the_time_of_its_beginning() -> None:
    assert likeness("scanner " * 200_000, "scanner") == pytest.approx(1.0)
