"""What stops an investigation of the sample company: a kill switch, changed tools, a question that nobody answers."""

from datetime import timedelta

import pytest

from gaby.agent.states import Halted, SafetyCheck
from gaby.app.sample import COMPANY
from gaby.kernel.clock import ManualClock
from gaby.kernel.ids import RunId
from gaby.mcp import ServerDefinitions
from gaby.tickets.escalation import parse_target
from tests.agent.scenes import CHARGED_TWICE, LOCKED_OUT, Office
from tests.support.receiver import receiving

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.mark.promise("S11", "L1")
async def test_a_kill_switch_halts_a_run_within_one_step(office: Office) -> None:
    ticket_id = await office.receive(LOCKED_OUT)
    row = await office.run_of(ticket_id)
    claimed = await office.gaby.agent.queue.claim_one("a test", office.workspace_id, RunId(row.id))
    assert claimed is not None
    loop = office.gaby.agent.loop
    run = await loop.resume(claimed)
    while not isinstance(run.state, SafetyCheck):
        assert await loop.step(run)
    async with office.gaby.database.write(office.workspace_id) as session:
        await office.gaby.tools.kill_switches.pull(session, office.actor, "something is wrong")
    before = len(await office.audit("tool.call.intent"))
    assert not await loop.step(run)

    assert isinstance(run.state, Halted)
    assert "something is wrong" in run.state.reason
    assert len(await office.audit("tool.call.intent")) == before
    ended = await office.run_of(ticket_id)
    assert (ended.state, ended.verdict, ended.wake_at) == ("halted", "failed", None)
    assert (await office.ticket(ticket_id)).status == "failed"


@pytest.mark.promise("L1", "M3")
async def test_a_connector_whose_tools_changed_leads_to_a_person(office: Office) -> None:
    async with office.gaby.database.write(office.workspace_id) as session:
        connectors = office.gaby.tools.connectors
        accepted = ServerDefinitions.model_validate((await connectors.get(session, COMPANY)).accepted)
        # As when the server shows one tool less than was accepted.
        other = accepted.model_copy(update={"tools": accepted.tools[1:]})
        await connectors.observe(session, office.actor, COMPANY, other)
    ticket_id = await office.receive(LOCKED_OUT)
    await office.work()

    run = await office.run_of(ticket_id)
    assert run.state == "done"
    assert run.verdict in {"needs_tech", "needs_l2", "needs_client"}
    assert await office.audit("tool.call.intent") == []
    assert len(await office.messages(ticket_id)) == 1


@pytest.mark.promise("L7", "T7")
async def test_a_question_that_nobody_answers_in_time_goes_to_a_person(office: Office, clock: ManualClock) -> None:
    with receiving() as receiver:
        async with office.gaby.database.write(office.workspace_id) as session:
            target = parse_target(f"webhook:{receiver.url}", secret="a secret of sixteen letters")
            await office.gaby.agent.escalations.set_target(session, office.actor, target)
        ticket_id = await office.receive(CHARGED_TWICE)
        await office.work()
        assert (await office.run_of(ticket_id)).state == "waiting_approval"

        clock.advance(timedelta(hours=23, minutes=59))
        await office.work()
        assert (await office.run_of(ticket_id)).state == "waiting_approval"
        clock.advance(timedelta(minutes=2))
        await office.gaby.tools.expire_approvals()
        await office.work()

        run = await office.run_of(ticket_id)
        assert (run.state, run.verdict) == ("done", "needs_tech")
        [told] = receiver.accepted
    assert b"needs_tech" in told
    assert b"Charged twice" in told
    assert not [each for each in await office.audit("tool.call.intent") if each["tool"] == "company.refund_charge"]
