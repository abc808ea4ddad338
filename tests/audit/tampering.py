"""What somebody with all rights over the database could do to the log."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import make_url

from gaby.kernel.database import Database
from gaby.kernel.database.sqlite import SqliteEngine

TABLES = ("audit_rows", "audit_checkpoints", "audit_keys")


@contextmanager
def owner_connection(db: Database) -> Generator[Any]:
    """As the owner of the tables, not as the role that Gaby acts as."""
    if isinstance(db.engine, SqliteEngine):
        connection: Any = sqlite3.connect(db.engine.path)
    else:
        url = make_url(db.engine.migration_url()).set(drivername="postgresql")
        connection = psycopg.connect(url.render_as_string(hide_password=False))
    try:
        yield connection
    finally:
        connection.close()


def tamper(db: Database, *statements: str) -> None:
    """Take away the triggers first, as an intruder with all rights would."""
    with owner_connection(db) as connection:
        for table in TABLES:
            if isinstance(db.engine, SqliteEngine):
                for name in ("no_update", "no_delete", "no_replace"):
                    connection.execute(f"DROP TRIGGER IF EXISTS {table}_{name}")
            else:
                connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        for statement in statements:
            connection.execute(statement)
        connection.commit()
