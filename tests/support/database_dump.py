"""What is really in the database, table by table: for searching it for what must not be there, and for counting."""

from sqlalchemy import func, select

from gaby.app import Gaby
from gaby.kernel.database import AllWorkspaces, Base
from gaby.kernel.database.sqlite import SqliteEngine

_LOOKING = AllWorkspaces("a test looks at everything")
MOVING = frozenset({"leaders", "schedules"})
"""Whoever leads the schedules writes here all the time."""


async def all_rows(gaby: Gaby) -> dict[str, list[str]]:
    """Every table with its rows, in an order that does not depend on the engine."""
    async with gaby.database.read(_LOOKING) as session:
        return {
            table.name: sorted(repr(tuple(row)) for row in await session.execute(select(table)))
            for table in Base.metadata.sorted_tables
            if table.name not in MOVING
        }


async def requested_rows(gaby: Gaby) -> dict[str, list[str]]:
    """For comparisons: without the checkpoints that the server signs by itself once a minute."""
    found = await all_rows(gaby)
    return {
        name: [row for row in rows if "'audit.checkpoint'" not in row]
        for name, rows in found.items()
        if name not in {"audit_checkpoints", "audit_tiles"}
    }


async def everything_stored(gaby: Gaby) -> bytes:
    """All rows of all tables as one text, and on SQLite the bytes of the file and its log as well."""
    found = [row.encode() for rows in (await all_rows(gaby)).values() for row in rows]
    engine = gaby.database.engine
    if isinstance(engine, SqliteEngine):
        found.extend(path.read_bytes() for path in engine.path.parent.glob(f"{engine.path.name}*"))
    return b"\n".join(found)


async def row_counts(gaby: Gaby) -> dict[str, int]:
    async with gaby.database.read(_LOOKING) as session:
        return {
            table.name: (await session.execute(select(func.count()).select_from(table))).scalar_one()
            for table in Base.metadata.sorted_tables
            if table.name not in MOVING
        }
