"""Models at a provider: what is sent to them, and what is believed."""

from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.kernel.ids import WorkspaceId
from gaby.llm.embeddings.remote import EMPTY, LONGEST_TEXT, MOST_CHARACTERS, MOST_TEXTS, ask, checked
from gaby.llm.errors import AnswerUnreadable
from tests.llm.embeddings.scenes import Provider

pytestmark = pytest.mark.promise("G9")

A = WorkspaceId(UUID(int=0xA))


async def test_a_provider_is_asked_in_batches_that_it_takes() -> None:
    provider = Provider()
    texts = [f"text {number}" for number in range(200)] + ["x" * 7_000] * 40 + ["y" * 2**20]
    rows = [row async for row in ask(provider, A, "acme/vectors", texts, None)]
    assert sum(map(len, rows)) == len(texts)
    assert [text for batch in provider.asked for text in batch][:240] == texts[:240]
    for batch in provider.asked:
        assert len(batch) <= MOST_TEXTS
        assert sum(map(len, batch)) <= MOST_CHARACTERS
        assert max(map(len, batch)) <= LONGEST_TEXT


@pytest.mark.parametrize("text", ["", "  \n", " " * 20_000 + "too late"])
async def test_nobody_is_asked_to_read_nothing(text: str) -> None:
    provider = Provider()
    (rows,) = [row async for row in ask(provider, A, "acme/vectors", [text], None)]
    assert provider.asked == [[EMPTY]]
    assert np.isclose(np.linalg.norm(rows), 1)


async def test_a_provider_that_changes_its_mind_about_dimensions_is_not_believed() -> None:
    provider = Provider()
    answers = ask(provider, A, "acme/vectors", [f"text {number}" for number in range(100)], None)
    await anext(answers)
    provider.dimensions = 9
    with pytest.raises(AnswerUnreadable, match="9 numbers, and before with 8"):
        await anext(answers)


@pytest.mark.parametrize(
    "answer",
    [
        [],
        [[1.0, 2.0]],
        [[1.0, 2.0]] * 3,
        [[1.0, 2.0], [1.0]],
        [[1.0, 2.0], []],
        [[], []],
        [1.0, 2.0],
        [[[1.0]], [[2.0]]],
        [[1.0, float("nan")], [1.0, 2.0]],
        [[1.0, float("inf")], [1.0, 2.0]],
        [[0.0, 0.0], [1.0, 2.0]],
        [[1.0, None], [1.0, 2.0]],
        [["a", "b"], ["c", "d"]],
        [["1", "2"], ["3", "4"]],
        [[True, False], [True, True]],
        [[1.0, 10**400], [1.0, 2.0]],
        "ab",
        None,
        {"data": []},
        [[1e308, 1e308], ["x", 1]],
    ],
)
def test_a_wrong_answer_is_an_error(answer: Any) -> None:
    with pytest.raises(AnswerUnreadable):
        checked(answer, "acme/vectors", count=2, dimensions=None)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text() | st.integers(), st.lists))
def test_any_answer_is_rows_of_length_one_or_an_error(answer: Any) -> None:
    try:
        rows = checked(answer, "acme/vectors", count=2, dimensions=3)
    except AnswerUnreadable:
        return
    assert rows.shape == (2, 3)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)


def test_long_and_short_vectors_are_made_length_one() -> None:
    rows = checked([[3, 4], [0.0, 5e-324], [6e300, 8e300]], "acme/vectors", count=3, dimensions=2)
    assert np.allclose(rows, [[0.6, 0.8], [0.0, 1.0], [0.6, 0.8]])
