"""From small to big: a passage is helped by its document and by what stands before and after it."""

from collections.abc import Sequence

import numpy as np

from gaby.knowledge.retrieval.fusion import finite, scaled, wholes
from gaby.knowledge.retrieval.pool import CandidatePool, Column
from gaby.knowledge.retrieval.query_expansion import SearchQuery


def document(pool: CandidatePool, queries: Sequence[SearchQuery]) -> Column:
    """How near the question is to the mean of what was found of the document."""
    _, first, of = np.unique([each.document for each in pool.candidates], return_index=True, return_inverse=True)
    # Passages of one document one behind the other, so that each document's are added in one go.
    in_order = np.argsort(of, kind="stable")
    begins = np.searchsorted(of[in_order], np.arange(len(first)))
    means = np.add.reduceat(finite(pool.vectors)[in_order], begins, axis=0)
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
    return scaled((finite(pool.queries)[wholes(queries)] @ means.T).max(axis=0)[of])


def neighbour(pool: CandidatePool, scores: Column) -> Column:
    """The better score of the two beside each passage."""
    at = {(each.document, each.ordinal): place for place, each in enumerate(pool.candidates)}
    nowhere = len(scores)
    neighbours = np.array(
        [[at.get((each.document, each.ordinal + step), nowhere) for step in (-1, 1)] for each in pool.candidates]
    )
    return np.append(scores, 0.0)[neighbours].max(axis=1)
