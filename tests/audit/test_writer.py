"""Group commit: durable before it is acknowledged, one transaction for many, and it heals by itself."""

import asyncio
import sqlite3
from collections.abc import Generator, Sequence
from typing import Any

import pytest

from gaby.audit import AuditLog, AuditUnavailable, AuditWouldWaitForItself
from gaby.audit.rows import AuditRow, RowDraft
from gaby.audit.source import snapshot
from gaby.audit.store import Appender
from gaby.audit.transactions import transaction
from gaby.audit.writer import AuditWriter
from gaby.kernel import failpoints
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database, open_database
from gaby.kernel.database.raw_sql import Connection, Dialect
from gaby.kernel.database.sqlite import SqliteEngine
from gaby.kernel.errors import Unavailable
from gaby.kernel.ids import IdFactory, WorkspaceId
from gaby.migrations import upgrade
from tests.audit.logs import ACME, BYTE, COPA
from tests.support.postgres import Postgres, start_postgres

pytestmark = pytest.mark.promise("A1", "A2")

ACTOR = system_actor("test")


def stored(db: Database, workspace_id: WorkspaceId) -> list[Any]:
    with snapshot(db) as source:
        return list(source.rows(workspace_id))


async def test_rows_of_many_tasks_form_one_chain_per_workspace(db: Database, audit: AuditLog) -> None:
    async def one(number: int) -> None:
        workspace = (ACME, BYTE, COPA)[number % 3]
        row = await audit.append(workspace, ACTOR, "test.row", {"n": number})
        assert row in stored(db, workspace)

    await asyncio.gather(*(one(number) for number in range(60)))
    for workspace in (ACME, BYTE, COPA):
        rows = stored(db, workspace)
        assert [row.seq for row in rows] == list(range(20))
        assert [row.prev_hash for row in rows[1:]] == [row.hash for row in rows[:-1]]


class CountingAppender(Appender):
    """Notes how many rows each transaction holds."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock, IdFactory(clock))
        self.sizes: list[int] = []

    def append(self, connection: Connection, dialect: Dialect, drafts: Sequence[RowDraft]) -> list[AuditRow]:
        self.sizes.append(len(drafts))
        return super().append(connection, dialect, drafts)


async def test_waiting_rows_share_a_transaction(db: Database, clock: ManualClock) -> None:
    appender = CountingAppender(clock)
    writer = AuditWriter(db, appender)
    draft = RowDraft(ACME, "system", "test", "test.row", "{}")
    await asyncio.gather(*(writer.append(draft) for _ in range(40)))
    await writer.stop()
    assert sum(appender.sizes) == 40
    assert len(appender.sizes) <= 2


async def test_two_writers_never_give_the_same_number(db: Database, clock: ManualClock) -> None:
    writers = [AuditWriter(db, Appender(clock, IdFactory(clock)), max_batch=3) for _ in range(3)]
    draft = RowDraft(ACME, "system", "test", "test.row", "{}")
    other = RowDraft(BYTE, "system", "test", "test.row", "{}")
    await asyncio.gather(*(writers[n % 3].append(other if n % 2 else draft) for n in range(60)))
    for writer in writers:
        await writer.stop()
    assert [row.seq for row in stored(db, ACME)] == list(range(30))
    assert [row.seq for row in stored(db, BYTE)] == list(range(30))


@pytest.mark.parametrize("point", ["audit.before_insert", "audit.before_commit"])
async def test_a_failed_batch_acknowledges_nothing_and_the_next_one_works(
    db: Database, audit: AuditLog, point: str
) -> None:
    await audit.append(ACME, ACTOR, "test.first", {})
    failpoints.configure(f"{point}=error@1")
    answers = await asyncio.gather(
        *(audit.append(ACME, ACTOR, "test.lost", {}) for _ in range(5)), return_exceptions=True
    )
    assert all(isinstance(answer, Unavailable) for answer in answers)
    assert [row.event for row in stored(db, ACME)] == ["test.first"]
    assert (await audit.append(ACME, ACTOR, "test.second", {})).seq == 1


async def test_a_commit_that_was_not_confirmed_is_not_acknowledged(db: Database, audit: AuditLog) -> None:
    failpoints.configure("audit.after_commit=error@1")
    with pytest.raises(AuditUnavailable):
        await audit.append(ACME, ACTOR, "test.perhaps", {})
    assert (await audit.append(ACME, ACTOR, "test.next", {})).seq == len(stored(db, ACME)) - 1


@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_locked_database_is_unavailable_and_then_available_again(db: Database, audit: AuditLog) -> None:
    assert isinstance(db.engine, SqliteEngine)
    blocker = sqlite3.connect(db.engine.path, isolation_level=None)
    await audit.append(ACME, ACTOR, "test.row", {})
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(AuditUnavailable):
        await audit.append(ACME, ACTOR, "test.row", {})
    blocker.execute("ROLLBACK")
    blocker.close()
    assert (await audit.append(ACME, ACTOR, "test.row", {})).seq == 1


async def test_appending_inside_a_transaction_is_refused_at_once(db: Database, audit: AuditLog) -> None:
    async with db.write(ACME):
        with pytest.raises(AuditWouldWaitForItself):
            await audit.append(ACME, ACTOR, "test.row", {})
    await audit.append(ACME, ACTOR, "test.row", {})


async def test_stopping_writes_what_waits_and_takes_no_more(db: Database, appender: Appender) -> None:
    log = AuditLog(db, appender)
    waiting = [asyncio.create_task(log.append(ACME, ACTOR, "test.row", {})) for _ in range(5)]
    await asyncio.sleep(0)
    await log.stop()
    assert {row.seq for row in await asyncio.gather(*waiting)} == set(range(5))
    with pytest.raises(AuditUnavailable, match="shutting down"):
        await log.append(ACME, ACTOR, "test.row", {})


async def test_a_cancelled_caller_does_not_disturb_the_others(db: Database, audit: AuditLog) -> None:
    tasks = [asyncio.create_task(audit.append(ACME, ACTOR, "test.row", {})) for _ in range(4)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(answers[1], asyncio.CancelledError)
    assert len(stored(db, ACME)) in {3, 4}


def test_a_failed_transaction_leaves_no_row(db: Database, appender: Appender) -> None:
    def fail() -> None:
        with transaction(db) as connection:
            appender.append(connection, db.dialect, [RowDraft(ACME, "system", "test", "test.row", "{}")])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert stored(db, ACME) == []


@pytest.fixture
def own_postgres() -> Generator[Postgres]:
    server = start_postgres()
    yield server
    server.remove()


async def test_the_writer_reconnects_when_postgres_comes_back(own_postgres: Postgres, clock: ManualClock) -> None:
    db = open_database(own_postgres.url())
    upgrade(db)
    log = AuditLog(db, Appender(clock, IdFactory(clock)))
    await log.append(ACME, ACTOR, "test.before", {})
    own_postgres.stop()
    with pytest.raises(AuditUnavailable):
        await log.append(ACME, ACTOR, "test.during", {})
    own_postgres.start()
    assert (await log.append(ACME, ACTOR, "test.after", {})).seq == 1
    own_postgres.stop()
    own_postgres.start()
    # The connection died while nobody looked: it is replaced without anybody noticing.
    assert (await log.append(ACME, ACTOR, "test.again", {})).seq == 2
    await log.stop()
    await db.close()
