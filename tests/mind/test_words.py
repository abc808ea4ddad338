"""Words, stems and what means the same."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given

from gaby.llm.embeddings.embedder import Matrix
from gaby.mind.bm25 import Bm25Ranker
from gaby.mind.changes import asked_changes
from gaby.mind.concepts import mentioned
from gaby.mind.synonyms import alike, widened
from gaby.mind.vectors import VectorCache
from gaby.mind.words import stem, terms, words
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("G2")


@pytest.mark.parametrize("name", ["userId", "user_id", "user-id", "User ID", "USER.id"])
def test_a_name_is_the_same_words_however_it_is_written(name: str) -> None:
    assert words(name) == ["user", "id"]


@pytest.mark.parametrize(
    "family",
    [
        ("charge", "charged", "charges", "charging"),
        ("query", "queries"),
        ("authenticate", "authentication"),
        ("deploy", "deployment", "deploys"),
        ("stop", "stopped", "stopping"),
    ],
)
def test_forms_of_a_word_have_one_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


def test_different_words_keep_different_stems() -> None:
    assert len({stem(word) for word in ("user", "use", "invoice", "invite", "lock", "log", "status", "state")}) == 8


@given(hostile_texts)
def test_any_text_has_terms(text: str) -> None:
    assert all(terms(text))
    mentioned(text)
    asked_changes(text)


def test_what_means_the_same_counts_less_than_what_was_written() -> None:
    wider = widened({"2": 1.0, "fa": 1.0}, [stem(word) for word in words("2FA")])
    assert wider["2"] == 1.0
    assert 0 < wider[stem("authenticator")] < 1
    assert stem("invoice") in alike(stem("bill"))


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    ranker = Bm25Ranker([["user", "lock"], ["user", "invoice"], ["user", "device"]])
    scores = ranker.scores({"user": 1.0, "invoice": 1.0})
    assert scores.argmax() == 1
    assert ranker.rarity("invoice") > ranker.rarity("user")
    assert Bm25Ranker([]).scores({"x": 1.0}).size == 0


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("Please unlock Nora.", "unlock"),
        ("Could you reset my MFA?", "reset"),
        ("It was stolen, erase it", "erase"),
        ("Nora needs her password reset", "reset"),
        ("We would like to cancel", "cancel"),
    ],
)
def test_a_change_that_is_asked_for_is_heard(text: str, verb: str) -> None:
    assert stem(verb) in asked_changes(text)


@pytest.mark.parametrize(
    "text",
    [
        "I changed my password and am locked out",
        "Do not delete anything",
        "Reset link is broken",
        "Order 77 is late",
        "How do I add a user?",
        "The update broke it",
    ],
)
def test_telling_and_asking_is_no_order(text: str) -> None:
    assert asked_changes(text) == frozenset()


def test_a_text_is_embedded_once_and_the_oldest_is_forgotten() -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> Matrix:
        asked.extend(texts)
        return np.ones((len(texts), 2), np.float32)

    vectors = VectorCache(kept=2)
    assert vectors.vectors_for(embed, ["a", "b", "a"]).shape == (3, 2)
    vectors.vectors_for(embed, ["a"])
    vectors.vectors_for(embed, ["c"])
    vectors.vectors_for(embed, ["a", "b"])
    assert asked == ["a", "b", "c", "b"]
    assert vectors.vectors_for(embed, []).size == 0
