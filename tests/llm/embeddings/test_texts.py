"""Texts and vectors on their way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gaby.llm.embeddings.texts import batches, clean, digest
from gaby.llm.embeddings.vectors import from_bytes, nowhere, to_bytes, unit_rows

pytestmark = pytest.mark.promise("G9")

any_text = st.text(st.characters(exclude_categories=()))


@given(any_text)
def test_any_text_can_be_hashed_and_cleaning_twice_changes_nothing(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert len(digest(cleaned)) == 32
    assert "\0" not in cleaned


def test_halves_of_a_character_are_joined_or_become_spaces() -> None:
    assert clean("a\ud83d\ude00b") == "a😀b"
    assert clean("a\ud83db\ude00c\0d") == "a b c d"
    assert clean("plain – text 😀") == "plain – text 😀"


@given(st.lists(st.text(max_size=20)), st.integers(1, 50), st.integers(1, 5))
def test_batches_keep_order_and_limits(texts: list[str], characters: int, count: int) -> None:
    parts = list(batches(texts, characters=characters, count=count))
    assert [text for part in parts for text in part] == texts
    for part in parts:
        assert 0 < len(part) <= count
        assert len(part) == 1 or sum(map(len, part)) <= characters


@given(arrays(np.float32, st.tuples(st.integers(0, 4), st.integers(1, 6)), elements=st.floats(width=32)))
def test_rows_of_any_numbers_become_rows_of_length_one(rows: np.ndarray) -> None:
    units = unit_rows(rows)
    assert units.shape == rows.shape
    assert np.allclose(np.linalg.norm(units, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 256, 640, 3072])
def test_nowhere_has_length_one(dimensions: int) -> None:
    assert np.isclose(np.linalg.norm(nowhere(dimensions)), 1)


@given(arrays(np.float32, 6, elements=st.floats(-100, 100, width=32)))
def test_a_vector_is_the_same_after_it_was_stored(numbers: np.ndarray) -> None:
    vector = unit_rows(numbers[np.newaxis])[0]
    stored = from_bytes(to_bytes(vector))
    assert stored is not None
    assert np.array_equal(stored, vector)


def test_vectors_are_stored_as_little_endian_floats() -> None:
    assert to_bytes(np.array([1, 0], np.float32)) == b"\x00\x00\x80\x3f\x00\x00\x00\x00"


@given(st.binary(max_size=64))
def test_whatever_stands_in_the_database_is_a_vector_of_length_one_or_nothing(blob: bytes) -> None:
    found = from_bytes(blob)
    assert found is None or abs(float(np.linalg.norm(found)) - 1) < 1e-3


@pytest.mark.parametrize("cut", [1, 4, 7])
def test_a_vector_that_was_cut_short_is_no_vector(cut: int) -> None:
    assert from_bytes(to_bytes(nowhere(8))[:-cut]) is None
