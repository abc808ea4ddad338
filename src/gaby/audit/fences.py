"""Fences: what must still be true in the database at the moment an intent is written.

A decision is made from what was read a moment ago. The fence is checked in the transaction of the intent, so a change
that was committed before it, on whatever machine, stops the effect.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gaby.kernel.database.raw_sql import SqlRunner


class Fence(NamedTuple):
    statement: str
    """Selects one number, with `?` for parameters."""
    parameters: tuple[str, ...]
    expected: int


def standing(sql: SqlRunner, fences: Sequence[Fence | None]) -> list[bool]:
    """For each, whether it holds. Equal fences are asked once."""
    standing_fences: dict[Fence, bool] = {}
    for fence in fences:
        if fence is not None and fence not in standing_fences:
            row = sql.one(fence.statement, *fence.parameters)
            standing_fences[fence] = row is not None and row[0] == fence.expected
    return [fence is None or standing_fences[fence] for fence in fences]
