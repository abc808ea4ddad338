"""What a database holds, found out without writing to it: nothing, our tables, or somebody else's."""

import sqlite3
from pathlib import Path
from typing import Literal

import psycopg
from sqlalchemy import create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from gaby.kernel.database import Database
from gaby.kernel.database.faults import (
    DatabaseUnavailable,
    ForeignDatabase,
    SchemaTooNew,
    translate,
    translate_driver_error,
)
from gaby.kernel.database.sqlite import APPLICATION_ID, SqliteEngine

VERSION_TABLE = "gaby_schema"
_REVISION = "SELECT version_num FROM gaby_schema"
VERSIONS = Path(__file__).parent / "versions"

SchemaState = Literal["empty", "outdated", "current"]


def known_revisions() -> list[str]:
    """Oldest first. Each file is named by its revision, so Alembic need not be loaded to know them."""
    return sorted(path.stem.split("_", 1)[0] for path in VERSIONS.glob("[0-9]*.py"))


def inspect_schema(database: Database) -> SchemaState:
    """Raise when the database is not one this version may touch."""
    tables, revision, ours = _look(database)
    if not tables:
        return "empty"
    if not ours:
        raise ForeignDatabase
    if revision not in known_revisions():
        raise SchemaTooNew
    return "current" if revision == known_revisions()[-1] else "outdated"


def _look(database: Database) -> tuple[bool, str | None, bool]:
    engine = database.engine
    if isinstance(engine, SqliteEngine):
        return _look_at_file(engine.path)
    try:
        return _look_at_server(engine.migration_url())
    except SQLAlchemyError as error:
        raise translate(error) from error
    except psycopg.Error as error:
        raise translate_driver_error(error) or error from error


def _look_at_file(path: Path) -> tuple[bool, str | None, bool]:
    if not path.exists() or path.stat().st_size == 0:
        return False, None, False
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            ours = application == APPLICATION_ID and VERSION_TABLE in tables
            revision = connection.execute(_REVISION).fetchone() if ours else None
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise translate_driver_error(error) or DatabaseUnavailable() from error
    return bool(tables), revision[0] if revision else None, ours


def _look_at_server(url: str) -> tuple[bool, str | None, bool]:
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            in_schema = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
            tables = set(connection.execute(text(in_schema)).scalars())
            ours = VERSION_TABLE in tables
            revision = connection.execute(text(_REVISION)).scalar() if ours else None
    finally:
        engine.dispose()
    return bool(tables), revision, ours
