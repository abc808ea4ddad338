"""Bringing a database up to date, under a lock, so that several machines may start at once."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from gaby.kernel.database import Base, Database
from gaby.kernel.database.faults import translate
from gaby.kernel.database.postgres import PostgresEngine
from gaby.kernel.database.sqlite import APPLICATION_ID, SqliteEngine
from gaby.migrations import tables
from gaby.migrations.inspect import VERSION_TABLE, inspect_schema
from gaby.migrations.protect import protect_workspaces

_LOCK = 0x47414259


def upgrade(database: Database, revision: str = "head") -> None:
    """Run what is missing in one transaction. A database that is not ours, or too new, is refused untouched."""
    inspect_schema(database)
    if isinstance(database.engine, SqliteEngine):
        _create_private(database.engine.path)
    with _transaction(database) as connection:
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent))
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        if isinstance(database.engine, PostgresEngine):
            protect_workspaces(connection, database.engine.role)


def find_drift(database: Database) -> list[str]:
    """Where the tables differ from what the code expects; empty when they agree."""
    with _transaction(database) as connection:
        options = {"version_table": VERSION_TABLE, "compare_type": True, "include_object": tables.ours}
        context = MigrationContext.configure(connection, opts=options)
        return [str(difference) for difference in compare_metadata(context, Base.metadata)]


@contextmanager
def _transaction(database: Database) -> Generator[Connection]:
    engine = create_engine(make_url(database.engine.migration_url()))
    if database.dialect == "sqlite":
        _begin_immediately(engine)
    try:
        with engine.begin() as connection:
            if database.dialect == "sqlite":
                connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            else:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            yield connection
    except SQLAlchemyError as error:
        raise translate(error) from error
    finally:
        engine.dispose()


def _create_private(path: Path) -> None:
    """The file holds people's data, so nobody but its owner may read it, from its first byte on."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _begin_immediately(engine: Engine) -> None:
    def connected(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA busy_timeout = 30000")

    def begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
