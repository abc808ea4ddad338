"""Years of closed tickets make no new one slower: no statement of Gaby's daily work costs more for their sake.

The work is done on the real composition, and every statement that any connection runs is counted. So a statement that
is added later is held to the same promise without being listed here.
"""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gaby.app import Gaby, build
from gaby.identity import Role
from gaby.kernel.clock import HeldClock
from gaby.kernel.database import Across
from gaby.kernel.ids import TicketId, WorkspaceId
from gaby.settings import Settings
from gaby.tickets.canonical import IncomingTicket
from gaby.worker.schedules import Schedules, look_at_schedules
from tests.agent.scenes import CHARGED_TWICE, LOCKED_OUT, Office, open_office
from tests.support.closed_tickets import add_closed_tickets, grown, row_counts
from tests.support.postgres import Postgres
from tests.support.statement_costs import PostgresCosts, StatementCosts, sqlite_costs
from tests.support.web import World

CLOSED = 100_000
MOST_MORE = 20_000
"""Instructions of SQLite. To look at every closed ticket takes at least ten times as many."""
MOST_MORE_ROWS = 1_000
"""Rows and pages on Postgres."""
GROW_WITH_SOMETHING_ELSE = {"people", "memberships", "sign_ins"}
"""Tables that got rows because the test made a person."""
OUTAGE = IncomingTicket("", "Dashboard shows error 502", "Since 10:12 every page of the dashboard shows error 502.")
READ_WHOLE = {"audit walk"}
"""Schedules that go through all there is because that is their purpose: the log is verified from its first row."""
WHOLE_PAGES = {"/api/audit/export"}
"""The same of pages: all rows are asked for."""


async def _days_work(office: Office, label: str) -> TicketId:
    """All that happens again and again: tickets from intake to done, schedules, checks, and the pages people look at.

    The id of a ticket that took an approval and left a row in every table that tickets fill.
    """
    gaby = office.gaby
    await office.receive(replace(LOCKED_OUT, external_id=f"{label}-locked"))
    charged = await office.receive(replace(CHARGED_TWICE, external_id=f"{label}-charged"))
    await office.work()
    for approval in await office.waiting():
        await office.answer(approval, "approve")
    for number in range(4):
        email = f"{label}{number}@brightbakery.example"
        await office.receive(replace(OUTAGE, external_id=f"{label}-{number}", requester_email=email))
    await office.work()
    await office.receive(replace(CHARGED_TWICE, external_id=f"{label}-charged", body="It is still there twice."))
    await office.work()
    await _schedules(gaby, label)
    await _pages(gaby, office.workspace_id, charged, label)
    return charged


async def _schedules(gaby: Gaby, label: str) -> None:
    queue, everywhere = gaby.agent.queue, Across("a test looks at all")
    assert isinstance(gaby.clock, HeldClock)
    gaby.clock.advance(timedelta(days=8))  # So that what was learned is weighed, and what waits expires.
    for schedule in gaby.schedules():
        if schedule.name not in READ_WHOLE:
            await schedule.work()
    await gaby.checkpointer.checkpoint()
    leader = Schedules(gaby.database, gaby.clock, label, gaby.schedules(), silence=timedelta())
    await leader.contend()
    await queue.due(5)
    await queue.waiting()
    async with gaby.database.read(everywhere) as session:
        await queue.depth(session)
        await look_at_schedules(session, gaby.clock.now())


async def _pages(gaby: Gaby, workspace_id: WorkspaceId, ticket_id: TicketId, label: str) -> None:
    """Every page that needs no id, and those of one ticket."""
    world = World(gaby)
    person = await world.person(f"{label}@pages.example", (workspace_id, Role.OWNER), manages_installation=True)
    browser = await world.enter(person)
    async with gaby.database.read(workspace_id) as session:
        run = await gaby.agent.latest_of(session, ticket_id)
    assert run is not None
    pages = [path for path, methods in world.app.openapi()["paths"].items() if "get" in methods and "{" not in path]
    pages += [f"/api/tickets/{ticket_id}", f"/api/tickets/{ticket_id}/original", f"/api/runs/{run.id}"]
    for page in pages:
        if page not in WHOLE_PAGES:
            answer = await browser.get(page, headers={"X-Workspace": str(workspace_id)})
            assert answer.status_code < 500, (page, answer.text)


class _Years:
    """One database on which Gaby is started again and again, so that nothing is remembered from before."""

    def __init__(self, settings: Settings, clock: HeldClock, folder: Path) -> None:
        self._settings, self._clock, self._folder = settings, clock, folder
        self._workspace_id: WorkspaceId | None = None
        self._closed: TicketId | None = None
        self._filled: set[str] = set()

    async def work(self, label: str) -> None:
        # The company forgets too, so that the same tickets need the same work.
        shutil.rmtree(self._folder, ignore_errors=True)
        gaby = build(self._settings, clock=self._clock, public_url="http://gaby.example")
        async with gaby.running():
            office = await self._office(gaby)
            before = await row_counts(gaby.database) if self._closed else {}
            self._closed = await _days_work(office, label)
            self._filled |= grown(before, await row_counts(gaby.database)) if before else set()

    async def add_closed(self, copies: int) -> None:
        gaby = build(self._settings, clock=self._clock)
        assert self._workspace_id is not None
        assert self._closed is not None
        async with gaby.running(background=False):
            place = (gaby.database, gaby.appender, self._workspace_id, self._closed)
            add_closed_tickets(*place, self._filled - GROW_WITH_SOMETHING_ELSE, copies)
            await gaby.checkpointer.checkpoint()

    async def _office(self, gaby: Gaby) -> Office:
        if self._workspace_id is not None:
            return Office(gaby, self._workspace_id, self._folder)
        office = await open_office(gaby, self._folder)
        self._workspace_id = office.workspace_id
        return office


@pytest.fixture
def years(settings: Settings, clock: HeldClock, tmp_path: Path) -> _Years:
    return _Years(settings, clock, tmp_path / "company")


@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_closed_tickets_make_no_statement_dearer_on_sqlite(years: _Years, tmp_path: Path) -> None:
    with sqlite_costs() as usual:
        await years.work("first")
        await years.work("second")
    await years.add_closed(CLOSED)

    with sqlite_costs() as without_statistics:
        await years.work("third")
    assert_none_above(without_statistics, usual, MOST_MORE)

    with closing(sqlite3.connect(tmp_path / "gaby.db")) as connection:
        connection.execute("ANALYZE")
    with sqlite_costs() as with_statistics:
        await years.work("fourth")
    assert_none_above(with_statistics, usual, MOST_MORE)


@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_closed_tickets_make_no_statement_dearer_on_postgres(
    years: _Years, database_url: str, postgres: Postgres
) -> None:
    costs = PostgresCosts(postgres, urlsplit(database_url).path.strip("/"))
    await years.work("first")
    await years.work("second")
    usual = costs.taken()
    await years.add_closed(CLOSED)
    # As autovacuum would.
    postgres.execute("ANALYZE", urlsplit(database_url).path.strip("/"))

    costs.taken()
    await years.work("analyzed")
    assert_none_above(costs.taken(), usual, MOST_MORE_ROWS)


def assert_none_above(costs: StatementCosts, usual: StatementCosts, by: int) -> None:
    assert len(costs.costs) > 100, "the statements were not seen"
    dearer = costs.above(usual, by)
    assert not dearer, f"{len(dearer)} statements grow with closed tickets:\n" + "\n".join(dearer)
