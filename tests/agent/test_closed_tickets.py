"""Years of closed tickets make no new one slower: no statement of Gaby's daily work costs more for their sake.

The work is done on the real composition, and every statement that any connection runs is counted. So a statement that
is added later is held to the same promise without being listed here.
"""

import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gaby.app import Gaby, build
from gaby.identity import Role
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import AllWorkspaces, open_database
from gaby.kernel.ids import TicketId, WorkspaceId
from gaby.settings import Settings
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.usage.models import UsageCounter
from gaby.worker.schedules import Schedules, schedule_health
from tests.agent.scenes import CHARGED_TWICE, Office, open_office
from tests.support.app_client import World
from tests.support.closed_tickets import add_closed_tickets, row_counts
from tests.support.postgres import Postgres
from tests.support.statement_costs import PostgresCosts, StatementCosts, sqlite_costs

CLOSED = 100_000
SAMPLE = 40_000
MOST_MORE = 150_000
"""Instructions of SQLite. To look at every closed ticket of the sample takes 200,000; some lists have 2,000 rows."""
MOST_MORE_ROWS = 5_000
"""Rows and pages on Postgres."""
DO_NOT_GROW = {
    "reference_counters",
    *("workspaces", "people", "memberships", "sign_ins"),
    *("connectors", "policy_epochs", "desks", "agent_configs", "leaders", "schedules"),
    *("knowledge_sources", "knowledge_documents", "knowledge_passages", "knowledge_vectors", "knowledge_terms"),
    *("knowledge_corpora", "knowledge_citations", "knowledge_gaps"),
    *("audit_keys", "audit_checkpoints", "audit_tiles"),
}
"""Not with closed tickets: they are of people, of what was set up, of what was read, or follow from the audit log.
Any other table in which a day's work leaves rows is filled."""
OUTAGE = IncomingTicket("", "Dashboard shows error 502", "Since 10:12 every page of the dashboard shows error 502.")
READ_WHOLE = {"audit walk", "/api/audit/export"}
"""A schedule and a page that go through all there is because that is their purpose: the log is verified from its first
row, once a day, and exported whole."""


async def _days_work(office: Office, label: str) -> TicketId:
    """All that happens again and again: tickets from intake to done, schedules, checks, and the pages people look at.

    The id of a ticket that took an approval and left a row in every table that tickets fill.
    """
    gaby = office.gaby
    charged = await office.receive(replace(CHARGED_TWICE, external_id=f"{label}-charged"))
    await office.work()
    for approval in await office.waiting():
        await office.answer(approval, "approve")
    for number in range(3):
        email = f"{label}{number}@brightbakery.example"
        await office.receive(replace(OUTAGE, external_id=f"{label}-{number}", requester_email=email))
    await office.work()
    await office.receive(replace(CHARGED_TWICE, external_id=f"{label}-charged", body="It is still there twice."))
    await office.work()
    await _schedules(gaby, label)
    await _pages(gaby, office.workspace_id, charged, label)
    return charged


async def _schedules(gaby: Gaby, label: str) -> None:
    queue, everywhere = gaby.agent.queue, AllWorkspaces("a test looks at all")
    assert isinstance(gaby.clock, ManualClock)
    gaby.clock.advance(timedelta(days=8))  # So that what was learned is weighed, and what waits expires.
    for schedule in gaby.schedules():
        if schedule.name not in READ_WHOLE | {"statistics"}:
            await schedule.work()
    await gaby.checkpointer.checkpoint()
    leader = Schedules(gaby.database, gaby.clock, label, gaby.schedules(), silence=timedelta())
    await leader.contend()
    await queue.due(5)
    await queue.waiting()
    async with gaby.database.read(everywhere) as session:
        await schedule_health(session, gaby.clock.now())


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
    pages += [f"/api/runs?state={state}" for state in ("open", "created", "waiting_approval", "done")]
    pages += [f"/api/tickets?status={status}" for status in ("queued", "needs_tech", "auto_resolved")]
    pages += ["/api/approvals?state=approved", "/api/approvals?state=used", f"/api/usage/calls?run_id={run.id}"]
    for page in pages:
        if page not in READ_WHOLE:
            answer = await browser.get(page)
            assert answer.status_code < 500, f"{page}: {answer.text}"


class _Years:
    """One database on which Gaby is started again and again, so that nothing is remembered from before."""

    def __init__(self, settings: Settings, clock: ManualClock, folder: Path) -> None:
        self._settings, self._clock, self._folder = settings, clock, folder
        self._workspace_id: WorkspaceId | None = None
        self._closed: TicketId | None = None

    async def work(self, label: str) -> None:
        # The company forgets too, so that the same tickets need the same work.
        shutil.rmtree(self._folder, ignore_errors=True)
        gaby = build(self._settings, clock=self._clock, public_url="http://gaby.example")
        async with gaby.running():
            self._closed = await _days_work(await self._office(gaby), label)

    async def add_closed(self, copies: int) -> None:
        gaby = build(self._settings, clock=self._clock)
        assert self._workspace_id is not None
        assert self._closed is not None
        async with gaby.running(background=False):
            await self._add_counter(gaby)
            filled = {name for name, count in (await row_counts(gaby.database)).items() if count}
            place = (gaby.database, gaby.appender, self._workspace_id, self._closed)
            add_closed_tickets(*place, filled - DO_NOT_GROW, copies)
            await gaby.checkpointer.checkpoint()

    async def refresh_statistics(self) -> None:
        database = open_database(self._settings.database_url)
        await database.refresh_statistics()
        await database.close()

    async def _add_counter(self, gaby: Gaby) -> None:
        """Only models that cost something are counted for each run, and here none was asked."""
        place = self._workspace_id
        assert place is not None
        counter = UsageCounter(
            workspace_id=place,
            span="run",
            key="first",
            used_tokens=0,
            held_tokens=0,
            used_nano_usd=0,
            held_nano_usd=0,
            runs=1,
            updated_at=gaby.clock.now(),
        )
        async with gaby.database.write(place) as session:
            session.add(counter)

    async def _office(self, gaby: Gaby) -> Office:
        if self._workspace_id is not None:
            return Office(gaby, self._workspace_id, self._folder)
        office = await open_office(gaby, self._folder)
        self._workspace_id = office.workspace_id
        return office


@pytest.fixture
def years(settings: Settings, clock: ManualClock, tmp_path: Path) -> _Years:
    return _Years(settings, clock, tmp_path / "company")


@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_closed_tickets_make_no_statement_dearer_on_sqlite(years: _Years) -> None:
    with sqlite_costs() as usual:
        await years.work("first")
    await years.add_closed(SAMPLE)
    with sqlite_costs() as more:
        await years.work("second")
    assert_none_above(more, usual, MOST_MORE)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_statistics_change_nothing_about_closed_tickets_on_sqlite(years: _Years) -> None:
    with sqlite_costs() as usual:
        await years.work("first")
    await years.add_closed(CLOSED)

    with sqlite_costs() as without_statistics:
        await years.work("second")
    assert_none_above(without_statistics, usual, MOST_MORE)

    await years.refresh_statistics()
    with sqlite_costs() as with_statistics:
        await years.work("third")
    assert_none_above(with_statistics, usual, MOST_MORE)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_closed_tickets_make_no_statement_dearer_on_postgres(
    years: _Years, database_url: str, postgres: Postgres
) -> None:
    costs = PostgresCosts(postgres, urlsplit(database_url).path.strip("/"))
    await years.work("first")
    usual = costs.taken()
    await years.add_closed(CLOSED)
    # As autovacuum would.
    postgres.execute("ANALYZE", urlsplit(database_url).path.strip("/"))

    costs.taken()
    await years.work("second")
    assert_none_above(costs.taken(), usual, MOST_MORE_ROWS)


def assert_none_above(costs: StatementCosts, usual: StatementCosts, by: int) -> None:
    assert len(costs.costs) > 100, "the statements were not seen"
    assert not costs.counts_all
    dearer = costs.above(usual, by)
    assert not dearer, f"{len(dearer)} statements grow with closed tickets:\n" + "\n".join(dearer)
