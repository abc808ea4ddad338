"""Reading vectors as OpenAI and Voyage answer them."""

import math
from typing import Any

from gaby.llm.errors import AnswerUnreadable
from gaby.llm.messages import EmbeddingResponse, TokenUsage
from gaby.llm.providers.response_builder import loaded, mapping, sequence, tokens

Row = tuple[float, ...]


def read_vectors(body: bytes, expected: int) -> EmbeddingResponse:
    return vectors(loaded(body), expected)


def vectors(payload: object, expected: int) -> EmbeddingResponse:
    """One row for each text, in the order of the texts, all of one length. Anything else is no answer."""
    reported = mapping(mapping(payload).get("usage"))
    usage = TokenUsage(input=tokens(reported.get("prompt_tokens", reported.get("total_tokens"))))
    rows: dict[int, Row] = {}
    for place, each in enumerate(sequence(mapping(payload).get("data"))):
        index = mapping(each).get("index", place)
        row = _row(mapping(each).get("embedding"))
        if row is None or not isinstance(index, int) or index in rows:
            raise AnswerUnreadable("The provider's vectors are not what its interface promises.", usage=usage)
        rows[index] = row
    if set(rows) != set(range(expected)) or len({len(row) for row in rows.values()}) > 1:
        raise AnswerUnreadable("The provider's vectors do not fit the texts.", usage=usage)
    return EmbeddingResponse(tuple(rows[index] for index in range(expected)), usage)


def _row(entry: object) -> Row | None:
    values: list[Any] = sequence(entry)
    if not values or not all(type(value) in (int, float) for value in values):
        return None
    try:
        row = tuple(float(value) for value in values)
    except OverflowError:
        return None
    return row if all(math.isfinite(value) for value in row) else None
