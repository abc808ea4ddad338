"""Bringing a database up to date, under a lock, so that several machines may start at once."""

import os
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from gaby.kernel.database import Base, Database
from gaby.kernel.database.faults import (
    SchemaOutdated,
    UpgradeForbidden,
    is_privilege_missing,
    translate,
    unusable_file,
)
from gaby.kernel.database.postgres import CONNECT_ARGS, WORKSPACE_SETTING, PostgresEngine
from gaby.kernel.database.sqlite import APPLICATION_ID, SqliteEngine, file_size
from gaby.migrations.inspect import VERSION_TABLE, inspect_schema
from gaby.migrations.protect import protect_workspaces, unprotected_tables

_LOCK = 0x47414259
_BUSY_SECONDS = 30.0
_one_at_a_time = Lock()
"""Alembic keeps its connection in a global, so two threads would write into each other's database."""


def upgrade(database: Database, revision: str = "head") -> None:
    """Run what is missing in one transaction. A database that is not ours, or too new, is refused untouched."""
    inspect_schema(database)
    if isinstance(database.engine, SqliteEngine):
        _create_private(database.engine.path)
    with _one_at_a_time, _transaction(database) as connection:
        _own(connection)
        # Loaded here, since a server that finds its tables up to date can do without Alembic and its 7 MB.
        from alembic import command
        from alembic.config import Config

        _load_tables()

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent))
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        if isinstance(database.engine, PostgresEngine):
            protect_workspaces(connection, database.engine.role, database.engine.login)


def find_drift(database: Database) -> list[str]:
    """Where the tables differ from what the code expects; empty when they agree. Writes nothing."""
    if inspect_schema(database) == "empty":
        raise SchemaOutdated
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    from gaby.migrations import tables

    with _transaction(database) as connection:
        options = {"version_table": VERSION_TABLE, "compare_type": True, "include_object": tables.ours}
        context = MigrationContext.configure(connection, opts=options)
        return [str(difference) for difference in compare_metadata(context, Base.metadata)]


def unprotected(database: Database) -> list[str]:
    """Workspace tables of Postgres on which row-level security is not in force. SQLite has the guard alone."""
    if database.dialect != "postgresql":
        return []
    _load_tables()
    with _transaction(database) as connection:
        return [f"{table}: row-level security is not in force" for table in unprotected_tables(connection)]


def _load_tables() -> None:
    """Only who changes or protects tables has to know all of them."""
    import_module("gaby.migrations.tables")


@contextmanager
def _transaction(database: Database) -> Generator[Connection]:
    arguments = CONNECT_ARGS if database.dialect == "postgresql" else {"timeout": _BUSY_SECONDS}
    engine = create_engine(make_url(database.engine.migration_url()), connect_args=arguments)
    if database.dialect == "sqlite":
        _begin_immediately(engine)
    try:
        with engine.begin() as connection:
            if database.dialect == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            yield connection
    except SQLAlchemyError as error:
        if is_privilege_missing(error):
            raise UpgradeForbidden from error
        raise translate(error) from error
    finally:
        engine.dispose()


def _own(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    else:
        # Row-level security binds the owner of the tables too; a migration has to see every row.
        connection.execute(text(f"SELECT set_config('{WORKSPACE_SETTING}', '*', true)"))


def _create_private(path: Path) -> None:
    """The file holds people's data, so nobody but its owner may read it, from its first byte on."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A file that holds something is left alone: closing it here would drop the locks of our own connections.
        if not path.exists() or file_size(path) == 0:
            file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
            try:
                os.fchmod(file, 0o600)
            finally:
                os.close(file)
    except OSError as error:
        raise unusable_file(path, error) from error


def _begin_immediately(engine: Engine) -> None:
    def connected(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        _switch_to_wal(connection)

    def begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """SQLite does not always wait its busy timeout here: of two processes that switch a new file, one is refused."""
    give_up_at = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > give_up_at:
                raise
            time.sleep(0.02)
        else:
            return
