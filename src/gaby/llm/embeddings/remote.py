"""Models at a provider: in batches that every provider takes, and no answer is believed unseen."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gaby.kernel.ids import WorkspaceId
from gaby.llm.embeddings.embedder import Matrix
from gaby.llm.embeddings.texts import batches
from gaby.llm.embeddings.vectors import unit_rows
from gaby.llm.errors import AnswerUnreadable

MOST_TEXTS = 96
MOST_CHARACTERS = 100_000
LONGEST_TEXT = 8_000
"""Of a longer text only the beginning is sent. Some providers refuse more than 8,192 tokens, and a token is at least
a character almost everywhere."""
EMPTY = "(empty)"
"""Sent for a text that says nothing, since providers refuse to read nothing."""

Rows = Sequence[Sequence[float]] | NDArray[np.floating[Any]]


class RemoteEmbed(Protocol):
    """Asks a provider, within the workspace's budget. One row for each text, in order."""

    async def __call__(self, workspace_id: WorkspaceId, model: str, texts: Sequence[str], /) -> Rows: ...


async def ask(
    remote: RemoteEmbed, workspace_id: WorkspaceId, model: str, texts: Sequence[str], dimensions: int | None
) -> AsyncIterator[Matrix]:
    """The vectors batch by batch, so that those which are paid for can be kept before the next is asked for."""
    begun = [text[:LONGEST_TEXT] for text in texts]
    sent = [EMPTY if not text or text.isspace() else text for text in begun]
    for batch in batches(sent, characters=MOST_CHARACTERS, count=MOST_TEXTS):
        rows = checked(await remote(workspace_id, model, batch), model, count=len(batch), dimensions=dimensions)
        dimensions = rows.shape[1]
        yield rows


def checked(answer: Rows, model: str, *, count: int, dimensions: int | None) -> Matrix:
    """The answer as rows of length 1, or an error that says what is wrong with it."""
    try:
        vectors = np.asarray(answer)
    except (TypeError, ValueError, OverflowError) as error:
        raise AnswerUnreadable(f"{model} answered with vectors of different lengths.") from error
    if vectors.dtype.kind not in "fiu" or vectors.ndim != 2 or len(vectors) != count:
        raise AnswerUnreadable(f"{model} was asked for {count} vectors, and answered with something else.")
    rows = vectors.astype(np.float64)
    if rows.shape[1] != (dimensions or rows.shape[1]) or rows.shape[1] == 0:
        raise AnswerUnreadable(
            f"{model} answered with vectors of {rows.shape[1]} numbers, and before with {dimensions}. "
            "If it was replaced, choose it under another name, so that everything is indexed again."
        )
    if not np.isfinite(rows).all() or not rows.any(axis=1).all():
        raise AnswerUnreadable(f"{model} answered with a vector that points nowhere.")
    return unit_rows(rows)
