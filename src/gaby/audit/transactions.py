"""A transaction of the audit log's own, outside the ORM, in a thread."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

from gaby.audit.errors import AuditWouldWaitForItself
from gaby.audit.sql import Connection, across_workspaces
from gaby.kernel.database import Database

T = TypeVar("T")


def gate(db: Database) -> AbstractAsyncContextManager[Any]:
    """On SQLite the process has one writer at a time; on Postgres the logs have locks of their own."""
    return db.gate if db.dialect == "sqlite" else nullcontext()


def begin(db: Database, connection: Any) -> None:
    if db.dialect == "sqlite":
        connection.execute("BEGIN IMMEDIATE")
    else:
        across_workspaces(connection)


@contextmanager
def transaction(db: Database) -> Generator[Connection]:
    """Commits at the end; anything raised inside undoes it all."""
    connection: Any = db.raw_connection()
    try:
        begin(db, connection)
        yield connection
        connection.commit()
    finally:
        # Closing without a commit rolls back, on both engines.
        connection.close()


async def in_transaction(db: Database, work: Callable[[Connection], T]) -> T:
    def run() -> T:
        with transaction(db) as connection:
            return work(connection)

    if db.in_write_session():
        raise AuditWouldWaitForItself
    async with gate(db):
        return await asyncio.to_thread(run)
