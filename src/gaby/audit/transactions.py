"""A transaction of the audit log's own, outside the ORM, in a thread."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from gaby.audit.errors import AuditWouldWaitForItself
from gaby.kernel.database import Database
from gaby.kernel.database.raw_sql import Connection, begin, gate

T = TypeVar("T")


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


async def in_transaction(db: Database, operation: Callable[[Connection], T]) -> T:
    def run() -> T:
        with transaction(db) as connection:
            return operation(connection)

    if db.in_write_session():
        raise AuditWouldWaitForItself
    async with gate(db):
        return await asyncio.to_thread(run)
