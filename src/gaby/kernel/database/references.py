"""Short references for people, such as T-12: numbers that count up in each workspace, beside the ids."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import ClassVar, NamedTuple
from uuid import UUID

from sqlalchemy import String, select, update
from sqlalchemy.orm import Mapped, MappedAsDataclass, mapped_column

from gaby.kernel.database.models import Base, WorkspaceOwned
from gaby.kernel.database.sessions import ReadSession, WriteSession
from gaby.kernel.events import Event

_REFERENCE = re.compile(r"([A-Za-z])-([1-9][0-9]{0,8})")
_WAITING = "rows without a number"


class ReferenceCounter(Base):
    """The last number that a workspace gave to this kind of row."""

    __tablename__ = "reference_counters"

    workspace_id: Mapped[UUID] = mapped_column(primary_key=True)
    prefix: Mapped[str] = mapped_column(String(1), primary_key=True)
    last: Mapped[int]


class Referenced(WorkspaceOwned, MappedAsDataclass, kw_only=True):
    """A row that people call by a short reference, which it has from the end of its transaction on. A run that a
    statement has written gets it when it is taken up."""

    PREFIX: ClassVar[str]

    number: Mapped[int | None] = mapped_column(default=None)

    @property
    def reference(self) -> str | None:
        return None if self.number is None else f"{self.PREFIX}-{self.number}"


class RowToNumber(NamedTuple):
    table: type[Referenced]
    workspace_id: UUID
    id: UUID


def wants_reference(session: WriteSession, table: type[Referenced], row_id: UUID) -> None:
    """Number a new row at the end of its transaction.

    Whoever takes a number on Postgres holds the counter until the commit, and others of the workspace wait for it. At
    the end that is no longer than they wait for the audit log anyway.
    """
    session.info.setdefault(_WAITING, []).append(RowToNumber(table, session.workspace_id, row_id))


async def assign_references(session: WriteSession, _events: Sequence[Event] = ()) -> None:
    """Number what waits for it; before the end, if somebody has to be told the reference already."""
    waiting: list[RowToNumber] = session.info.pop(_WAITING, [])
    if not waiting:
        return
    await session.flush()
    together: dict[tuple[str, UUID], list[RowToNumber]] = defaultdict(list)
    for row in waiting:
        together[row.table.PREFIX, row.workspace_id].append(row)
    # Always tickets before their runs, so that two transactions never wait for each other.
    for (prefix, workspace_id), rows in sorted(together.items(), key=lambda each: each[0], reverse=True):
        first = await _take(session, workspace_id, prefix, len(rows)) + 1
        for number, row in enumerate(rows, first):
            table = row.table
            mine = (table.workspace_id == workspace_id, table.id == row.id)
            await session.execute(update(table).where(*mine).values(number=number))


async def add_reference(session: WriteSession, table: type[Referenced], row_id: UUID) -> None:
    """At once, for a row that was written without one."""
    wants_reference(session, table, row_id)
    await assign_references(session)


async def find_reference(session: ReadSession, text: str, table: type[Referenced]) -> UUID | None:
    """The id of the row with that reference; None when there is none, or when the text is no reference to its kind."""
    if not is_reference(text, table):
        return None
    mine = (table.workspace_id == session.workspace_id, table.number == int(text.partition("-")[2]))
    return (await session.scalars(select(table.id).where(*mine))).one_or_none()


def is_reference(text: str, table: type[Referenced]) -> bool:
    """Whether it is written like one of this kind of row, be there such a row or not."""
    match = _REFERENCE.fullmatch(text)
    return match is not None and match[1].upper() == table.PREFIX


async def _take(session: WriteSession, workspace_id: UUID, prefix: str, count: int) -> int:
    """Take so many numbers; returns the last one that was taken before."""
    # Loaded here, since only writers need it.
    if session.get_bind().dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert
    else:
        from sqlalchemy.dialects.sqlite import insert

    counter = ReferenceCounter
    first = insert(counter).values(workspace_id=workspace_id, prefix=prefix, last=count)
    taken = first.on_conflict_do_update(
        index_elements=["workspace_id", "prefix"], set_={"last": counter.last + count}
    ).returning(counter.last)
    return (await session.execute(taken)).scalar_one() - count
