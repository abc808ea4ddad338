"""How well the check of support tells wrong sentences, on labelled pairs in four languages."""

import pytest
from evals.entailment.__main__ import RECORDING
from evals.entailment.judges import by_model, by_values
from evals.entailment.pairs import Pair, measured, read_pairs
from evals.recorded.recording import read_recording
from evals.recorded.seat import Seat

pytestmark = pytest.mark.promise("G10")


def test_the_pairs_are_in_four_languages_and_half_of_them_wrong() -> None:
    pairs = read_pairs()
    assert len(pairs) >= 200
    assert {pair.lang for pair in pairs} == {"en", "de", "fr", "es"}
    assert sum(pair.supported for pair in pairs) * 2 == len(pairs)
    assert len({pair.id for pair in pairs}) == len(pairs)


def test_the_recorded_model_keeps_true_sentences_and_finds_wrong_ones() -> None:
    pairs, seat = read_pairs(), Seat(read_recording(RECORDING))
    figures = measured(pairs, by_model(pairs, seat))
    assert not seat.stale, "the prompt of the review has changed; record with `python -m evals.entailment --record`"
    assert figures.true_kept >= 0.95
    assert figures.false_caught >= 0.95


def test_values_alone_tell_less_than_a_model() -> None:
    pairs = read_pairs()
    figures = measured(pairs, by_values(pairs))
    assert figures.true_kept >= 0.6, "a check that turns down true sentences spoils replies"
    assert 0.2 <= figures.false_caught < 0.95, "it finds some of the wrong ones, and a model finds more"


def test_the_measure_sees_both_kinds_of_error() -> None:
    pairs = [Pair("a", "en", "", "", supported=True, wrong=""), Pair("b", "de", "", "", supported=False, wrong="date")]
    figures = measured(pairs, {"a": False, "b": True})
    assert (figures.true_kept, figures.false_caught, figures.missed) == (0.0, 0.0, {"date": 1})
    assert measured(pairs, {"a": True, "b": False}).right_by_language == {"de": 1.0, "en": 1.0}
