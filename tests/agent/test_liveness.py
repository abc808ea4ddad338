"""Whether somebody moves what was accepted can be asked at any time, and what nobody would move is repaired."""

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, update

from gaby.agent.liveness import BOUND, Rule
from gaby.agent.models import Investigation
from gaby.agent.queue import MOST_DEATHS
from gaby.app import Gaby
from gaby.app.checks import liveness_check
from gaby.audit import recall_calls
from gaby.audit.intents import IntentOutcome
from gaby.kernel.clock import ManualClock
from gaby.kernel.ids import RunId
from gaby.tickets.canonical_ticket import IncomingTicket
from tests.agent.scenes import Office, open_office

pytestmark = [pytest.mark.promise("Q6", "O5")]
QUESTION = IncomingTicket("T-1", "A question", "How do I change the colour of the page?")
LATER = BOUND + timedelta(hours=1)


@pytest.fixture
async def bare(gaby: Gaby, tmp_path: Path) -> Office:
    return await open_office(gaby, tmp_path, sample=False)


async def broken(office: Office) -> dict[Rule, int]:
    return {rule: count for rule, count in (await office.gaby.agent.liveness.broken()).items() if count}


async def change(office: Office, **values: object) -> None:
    async with office.gaby.database.write(office.workspace_id) as session:
        mine = Investigation.workspace_id == office.workspace_id
        await session.execute(update(Investigation).where(mine).values(**values))


async def test_as_long_as_somebody_works_nothing_is_told(bare: Office, clock: ManualClock) -> None:
    assert await broken(bare) == {}
    await bare.receive(QUESTION)
    clock.advance(BOUND / 2)
    assert await broken(bare) == {}
    await bare.work()
    clock.advance(LATER)
    assert await broken(bare) == {}
    assert (await liveness_check(bare.gaby.agent.liveness)()).health == "ok"


async def test_what_nobody_takes_up_is_told(bare: Office, clock: ManualClock) -> None:
    await bare.receive(QUESTION)
    clock.advance(LATER)
    assert await broken(bare) == {"unattended": 1}
    told = await liveness_check(bare.gaby.agent.liveness)()
    assert (told.name, told.health) == ("tickets", "warn")
    assert "1 investigations are due" in told.message


async def test_what_a_dead_worker_holds_and_nobody_takes_away_is_told(bare: Office, clock: ManualClock) -> None:
    await bare.receive(QUESTION)
    await bare.gaby.agent.queue.claim("dead")
    clock.advance(LATER)
    assert await broken(bare) == {"silent": 1}


async def test_a_clock_that_was_set_back_and_workers_that_die_are_told(bare: Office, clock: ManualClock) -> None:
    await bare.receive(QUESTION)
    ahead = clock.now() + LATER
    await change(bare, created_at=ahead, wake_at=ahead, claims_without_progress=MOST_DEATHS)
    assert await broken(bare) == {"ahead": 1, "suspect": 1}


async def test_a_ticket_without_a_run_gets_one(bare: Office, clock: ManualClock) -> None:
    """No transaction of ours leaves one behind. Somebody's hand in the database may."""
    ticket_id = await bare.receive(QUESTION)
    async with bare.gaby.database.write(bare.workspace_id) as session:
        await session.execute(delete(Investigation).where(Investigation.workspace_id == bare.workspace_id))
    clock.advance(LATER)
    assert await broken(bare) == {"without_run": 1}
    assert await bare.gaby.agent.liveness.repair() == 1
    assert await broken(bare) == {}
    assert len(await bare.audit("investigation.missing")) == 1
    await bare.work()
    assert (await bare.run_of(ticket_id)).state == "done"
    assert await bare.gaby.agent.liveness.repair() == 0


@pytest.mark.parametrize("ended", [False, True], ids=["its run is open", "its run has ended"])
async def test_a_change_that_was_cut_off_is_closed_as_unknown_when_its_run_has_ended(
    bare: Office, clock: ManualClock, ended: bool
) -> None:
    ticket_id = await bare.receive(QUESTION)
    run, audit = await bare.run_of(ticket_id), bare.gaby.audit
    call_id = bare.gaby.ids.new()
    payload = {"run_id": str(run.id), "call_id": str(call_id), "tool": "shop.pay"}
    draft = audit.draft(bare.actor, "tool.call.intent", payload)._replace(opens=True)
    await audit._write(draft)  # pyright: ignore[reportPrivateUsage]
    if ended:
        await bare.work()
    assert await bare.gaby.agent.liveness.repair() == 0, "it may be under way"
    clock.advance(LATER)
    if not ended:
        assert "open_effects" not in await broken(bare)
        assert await bare.gaby.agent.liveness.repair() == 0
        return
    assert await broken(bare) == {"open_effects": 1}
    assert await bare.gaby.agent.liveness.repair() == 1
    async with bare.gaby.database.read(bare.workspace_id) as session:
        assert (await recall_calls(session, RunId(run.id)))[call_id].outcome is IntentOutcome.UNKNOWN
    assert await broken(bare) == {}
