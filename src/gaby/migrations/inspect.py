"""What a database holds, found out without writing to it: nothing, our tables, or somebody else's."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal

from sqlalchemy import create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from gaby.kernel.database import Database
from gaby.kernel.database.faults import (
    DatabaseDamaged,
    DatabaseUnavailable,
    ForeignDatabase,
    SchemaTooNew,
    translate,
    translate_driver_error,
    unusable_file,
)
from gaby.kernel.database.postgres import CONNECT_ARGS
from gaby.kernel.database.sqlite import APPLICATION_ID, SqliteEngine, file_size

VERSION_TABLE = "gaby_schema"
_HEADER = 100
_REVISION = "SELECT version_num FROM gaby_schema"
VERSIONS = Path(__file__).parent / "versions"

SchemaState = Literal["empty", "outdated", "current"]


def known_revisions() -> list[str]:
    """Oldest first. Each file is named by its revision, so Alembic need not be loaded to know them."""
    return sorted(path.stem.split("_", 1)[0] for path in VERSIONS.glob("[0-9]*.py"))


def inspect_schema(database: Database) -> SchemaState:
    """Raise when the database is not one this version may touch."""
    tables, revision, ours = _inspect(database)
    if not tables:
        return "empty"
    if not ours:
        raise ForeignDatabase
    if revision not in known_revisions():
        raise SchemaTooNew
    return "current" if revision == known_revisions()[-1] else "outdated"


def _inspect(database: Database) -> tuple[bool, str | None, bool]:
    engine = database.engine
    if isinstance(engine, SqliteEngine):
        return _inspect_file(engine.path)
    try:
        return _inspect_server(engine.migration_url())
    except SQLAlchemyError as error:
        raise translate(error) from error


def _inspect_file(path: Path) -> tuple[bool, str | None, bool]:
    try:
        return _read_file(path)
    except FileNotFoundError:
        return False, None, False
    except OSError as error:
        raise unusable_file(path, error) from error
    except DatabaseDamaged:
        return _read_file(path)  # While another process makes the file it can look damaged; the second look counts.


def _read_file(path: Path) -> tuple[bool, str | None, bool]:
    # SQLite itself looks whether it is a database: closing the file here would drop the locks of our own connections.
    size = file_size(path)
    if size == 0:
        return False, None, False
    if size < _HEADER:
        raise DatabaseDamaged
    # Without a log beside it the file is complete, and `immutable` keeps SQLite from leaving one behind.
    mode = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, timeout=5)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            ours = application == APPLICATION_ID and VERSION_TABLE in tables
            revision = connection.execute(_REVISION).fetchone() if ours else None
    except sqlite3.Error as error:
        raise translate_driver_error(error) or DatabaseUnavailable() from error
    return bool(tables) or application not in {0, APPLICATION_ID}, revision[0] if revision else None, ours


def _inspect_server(url: str) -> tuple[bool, str | None, bool]:
    engine = create_engine(url, connect_args=CONNECT_ARGS)
    try:
        with engine.connect() as connection:
            # The catalogue also lists what the login may not read; `information_schema` would call that empty.
            in_schema = (
                "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
                "AND relkind IN ('r', 'p', 'v', 'm', 'f')"
            )
            tables = set(connection.execute(text(in_schema)).scalars())
            ours = VERSION_TABLE in tables
            revision = connection.execute(text(_REVISION)).scalar() if ours else None
    finally:
        engine.dispose()
    return bool(tables), revision, ours
