"""Workers over Procrastinate: any number of them, told or not told, on the Postgres that they share."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from gaby.app import Gaby, build
from gaby.app.build_agent import build_jobs
from gaby.kernel.clock import ManualClock
from gaby.kernel.errors import Misconfigured
from gaby.kernel.ids import TicketId
from gaby.mcp import McpHost
from gaby.settings import Settings
from gaby.tickets.canonical_ticket import IncomingTicket
from tests.agent.scenes import Office, open_office

pytestmark = pytest.mark.promise("Q3")
on_postgres = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
QUESTION = IncomingTicket("T-1", "A question", "How do I change the colour of the page?")


@pytest.fixture
async def bare(gaby: Gaby, tmp_path: Path) -> Office:
    return await open_office(gaby, tmp_path, sample=False)


@contextmanager
def another_worker(settings: Settings, clock: ManualClock) -> Generator[None]:
    """With an event loop, connections and services of its own."""
    ready, stop = threading.Event(), threading.Event()
    failed: list[BaseException] = []

    async def work() -> None:
        async with build(settings, clock=clock, public_url="http://gaby.example").run_worker():
            ready.set()
            await asyncio.to_thread(stop.wait)

    def run() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:
            failed.append(error)
            raise
        finally:
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        ready.wait()
        yield
    finally:
        stop.set()
        thread.join()
    assert failed == []


async def until_done(office: Office, ticket_id: TicketId) -> None:
    for _ in range(600):
        if (await office.run_of(ticket_id)).state == "done":
            return
        await asyncio.sleep(0.1)
    raise AssertionError("nobody works on it")


@on_postgres
@pytest.mark.promise("Q1")
async def test_a_ticket_is_worked_on_elsewhere_whether_or_not_somebody_was_told(
    bare: Office, settings: Settings, clock: ManualClock
) -> None:
    jobs = build_jobs(bare.gaby.database, bare.gaby.runner)
    with another_worker(settings, clock):
        async with jobs.open():
            told = await bare.receive(QUESTION)
            jobs.schedule()
            await until_done(bare, told)
        untold = await bare.receive(IncomingTicket("T-2", "Another question", "Where do I find the invoices?"))
        await until_done(bare, untold)

    run = await bare.run_of(untold)
    assert run.lease_until is None
    assert run.lease_owner is not None
    assert len(await bare.messages(untold)) == 1


@on_postgres
async def test_however_often_it_is_said_one_worker_is_called(bare: Office, database_url: str) -> None:
    jobs = build_jobs(bare.gaby.database, bare.gaby.runner)
    for _ in range(3):
        async with jobs.open():
            jobs.schedule()
            jobs.schedule()
    jobs.schedule()

    def called() -> int:
        with psycopg.connect(database_url.replace("+psycopg", "")) as connection:
            row = connection.execute("SELECT count(*) FROM gaby_queue.procrastinate_jobs").fetchone()
        return row[0] if row else 0

    assert await asyncio.to_thread(called) == 1


@on_postgres
@pytest.mark.promise("Q6")
async def test_what_a_dead_worker_held_is_deleted_and_what_waits_is_kept(bare: Office, database_url: str) -> None:
    jobs = build_jobs(bare.gaby.database, bare.gaby.runner)

    def run(statement: str) -> int:
        place = "-c search_path=gaby_queue"
        with psycopg.connect(database_url.replace("+psycopg", ""), options=place) as connection:
            return connection.execute(statement.encode()).rowcount

    async with jobs.open():
        jobs.schedule()
    async with jobs.open():
        assert await jobs.forget_dead() == 0, "nobody has begun it"
        await asyncio.to_thread(run, "UPDATE gaby_queue.procrastinate_jobs SET status = 'doing', worker_id = NULL")
        assert await jobs.forget_dead() == 1
    assert await asyncio.to_thread(run, "DELETE FROM gaby_queue.procrastinate_jobs") == 0


@on_sqlite
async def test_on_sqlite_it_says_what_to_set(settings: Settings, clock: ManualClock) -> None:
    mode = settings.worker.model_copy(update={"mode": "procrastinate"})
    built = build(settings.model_copy(update={"worker": mode}), clock=clock)
    with pytest.raises(Misconfigured, match="GABY_DATABASE_URL"):
        async with built.running():
            pass


@on_postgres
async def test_a_worker_looks_after_the_connectors_that_it_calls(
    gaby: Gaby, settings: Settings, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = threading.Event()

    async def check(host: McpHost) -> None:
        if host is not gaby.host:
            checked.set()

    monkeypatch.setattr(McpHost, "health_check", check)
    often = settings.connectors.model_copy(update={"check_every": timedelta(milliseconds=20)})
    with another_worker(settings.model_copy(update={"connectors": often}), clock):
        assert await asyncio.to_thread(checked.wait, 60)
