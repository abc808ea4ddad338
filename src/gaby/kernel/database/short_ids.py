"""Short ids: so much of the beginning of an id that no other row of the workspace has it."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from uuid import UUID

from sqlalchemy import select

from gaby.kernel.database.models import WorkspaceOwned
from gaby.kernel.database.sessions import ReadSession

SHORTEST = 8
"""So many characters at least: ids begin with the time, and fewer are soon another row's too."""
_DIGITS = frozenset("0123456789abcdef")


async def ids_beginning(session: ReadSession, beginning: str, table: type[WorkspaceOwned]) -> Sequence[UUID] | None:
    """At most two ids of the table that begin so; None when that cannot be the beginning of an id."""
    if not may_begin_id(beginning):
        return None
    digits = _digits(beginning)
    lowest, highest = UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
    query = select(table.id).where(table.workspace_id == session.workspace_id)
    query = query.where(table.id >= lowest, table.id <= highest).order_by(table.id).limit(2)
    return (await session.scalars(query)).all()


async def short_ids(session: ReadSession, ids: Sequence[UUID], *tables: type[WorkspaceOwned]) -> Mapping[UUID, str]:
    """Each differs from the beginning of every other id of these tables, since commands take the id of each."""
    if not ids:
        return {}
    lowest = UUID(min(ids).hex[:SHORTEST].ljust(32, "0"))
    known: list[UUID] = []
    for table in tables:
        query = select(table.id).where(table.workspace_id == session.workspace_id, table.id >= lowest)
        known += (await session.scalars(query)).all()
    known.sort()
    # Ids that share a beginning are neighbours in their order.
    needed = [_shared(one, other) + 1 for one, other in pairwise(known)]
    around = zip(known, [0, *needed], [*needed, 0], strict=True)
    lengths = {each: max(SHORTEST, before, after) for each, before, after in around}
    return {each: each.hex[: lengths.get(each)] for each in ids}


def may_begin_id(text: str) -> bool:
    """Dashes do not count."""
    digits = _digits(text)
    return SHORTEST <= len(digits) <= 32 and _DIGITS.issuperset(digits)


def _digits(text: str) -> str:
    return text.replace("-", "").lower()


def _shared(one: UUID, other: UUID) -> int:
    """How many hexadecimal digits of their beginnings are the same."""
    return (128 - (one.int ^ other.int).bit_length()) // 4
