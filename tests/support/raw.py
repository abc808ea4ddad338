"""What is really in the database, table by table: for searching it for what must not be there, and for counting."""

from sqlalchemy import func, select

from gaby.app import Gaby
from gaby.kernel.database import Across, Base
from gaby.kernel.database.sqlite import SqliteEngine

_LOOKING = Across("a test looks at everything")


async def everything_stored(gaby: Gaby) -> bytes:
    """All rows of all tables, and on SQLite the bytes of the file and its log as well."""
    found: list[bytes] = []
    async with gaby.database.read(_LOOKING) as session:
        for table in Base.metadata.sorted_tables:
            for row in await session.execute(select(table)):
                found.extend(value if isinstance(value, bytes) else str(value).encode() for value in row)
    engine = gaby.database.engine
    if isinstance(engine, SqliteEngine):
        found.extend(path.read_bytes() for path in engine.path.parent.glob(f"{engine.path.name}*"))
    return b"\n".join(found)


async def row_counts(gaby: Gaby) -> dict[str, int]:
    async with gaby.database.read(_LOOKING) as session:
        return {
            table.name: (await session.execute(select(func.count()).select_from(table))).scalar_one()
            for table in Base.metadata.sorted_tables
        }
