"""Whole investigations on the sample company: real connector, real handbook, no model."""

import re

import pytest

from gaby.agent.run_loader import load
from gaby.kernel.ids import ApprovalId
from gaby.tools.approvals import ApprovalDecision
from gaby.tools.connectors import PolicyChange
from gaby_connectors.sdk.manifest import Autonomy
from tests.agent.scenes import CHARGED_TWICE, LOCKED_OUT, Office

pytestmark = [pytest.mark.promise("L1", "L4", "G2")]


@pytest.mark.promise("T6", "L12", "K5")
async def test_a_locked_account_is_unlocked_checked_and_answered_with_sources(office: Office) -> None:
    ticket_id = await office.receive(LOCKED_OUT)
    await office.work()

    run = await office.run_of(ticket_id)
    assert (run.state, run.verdict) == ("done", "auto_resolved")
    assert (await office.ticket(ticket_id)).status == "auto_resolved"
    calls = [payload["tool"] for payload in await office.audit("tool.call.intent")]
    assert calls.count("company.unlock_user") == 1
    assert calls.index("company.list_logins") < calls.index("company.unlock_user") < len(calls) - 1

    [reply] = await office.messages(ticket_id)
    assert (reply.author, reply.private) == ("gaby", False)
    assert "unlocked" in reply.body
    assert not re.search(r"tool:|doc:|\[\d+\]|company\.", reply.body), "sources are for colleagues"
    async with office.gaby.database.read(office.workspace_id) as session:
        memory = (await load(session, office.gaby.vault, run)).memory
    sentences = (memory.cited or "").splitlines()
    assert sentences
    assert all(re.search(r"\[(?:doc|tool):[^\]]+\]$", line) for line in sentences), sentences


@pytest.mark.promise("L2")
async def test_every_edge_leaves_its_lines_and_what_it_added(office: Office) -> None:
    ticket_id = await office.receive(LOCKED_OUT)
    await office.work()
    run = await office.run_of(ticket_id)

    async with office.gaby.database.read(office.workspace_id) as session:
        edges = [edge async for edge in office.gaby.agent.replay(session, run)]
        loaded = await load(session, office.gaby.vault, run)
    assert [edge.n for edge in edges] == list(range(1, run.edges + 1))
    names = [edge.state.name for edge in edges]
    assert names[0] == "planning"
    assert names[-3:] == ["verdict", "writing_back", "done"]
    assert {"retrieving", "safety_check", "acting", "observing"} <= set(names)
    moved = await office.audit("investigation.moved") + await office.audit("investigation.done")
    assert [payload["to"] for payload in moved] == names
    assert loaded.memory.ticket.requester == LOCKED_OUT.requester_email
    steps = await office.steps(run.id)
    assert all(step.system and step.action and step.kind and step.at for step in steps)


@pytest.mark.promise("S5", "T1")
async def test_names_and_addresses_stand_only_where_they_are_sealed(office: Office) -> None:
    ticket_id = await office.receive(LOCKED_OUT)
    await office.work()
    run = await office.run_of(ticket_id)
    shown = " ".join(f"{step.action} {step.detail}" for step in await office.steps(run.id)) + str(run.summary)
    assert "nora" not in shown.lower()
    async with office.gaby.database.read(office.workspace_id) as session:
        row = await office.gaby.tickets.intake.get(session, ticket_id)
        written = await office.gaby.tickets.intake.written(session, row)
    assert written.body == LOCKED_OUT.body
    assert LOCKED_OUT.body not in row.body_encrypted


@pytest.mark.promise("L7", "S6", "S7")
async def test_a_refund_waits_for_a_person_and_goes_on_with_exactly_that_call(office: Office) -> None:
    ticket_id = await office.receive(CHARGED_TWICE)
    await office.work()
    run = await office.run_of(ticket_id)
    assert run.state == "waiting_approval"
    assert run.lease_until is None
    [approval] = await office.waiting()
    assert run.wake_at == approval.expires_at
    assert approval.tool == "refund_charge"

    await office.answer(approval, "approve")
    await office.work()
    run = await office.run_of(ticket_id)
    assert run.state == "done"
    done = [each for each in await office.audit("tool.call.intent") if each["tool"] == "company.refund_charge"]
    assert [each["approval_id"] for each in done] == [str(approval.id)]
    assert [each["call_id"] for each in done] == [str(approval.call_id)]


@pytest.mark.promise("L7", "S6")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_the_record_tells_what_a_person_has_put_in_not_what_was_planned(office: Office) -> None:
    ticket_id = await office.receive(CHARGED_TWICE)
    await office.work()
    [approval] = await office.waiting()
    async with office.gaby.database.write(office.workspace_id) as session:
        planned = (await office.gaby.tools.approvals.call_of(session, approval)).arguments
        answer = ApprovalDecision("approve", arguments={**planned, "reason": "agreed by telephone"})
        await office.gaby.tools.decide_approval(session, office.actor, ApprovalId(approval.id), answer)
    await office.work()
    run = await office.run_of(ticket_id)
    async with office.gaby.database.read(office.workspace_id) as session:
        memory = (await load(session, office.gaby.vault, run)).memory
    [made] = [each for each in memory.calls if each.tool == "company.refund_charge"]
    assert made.arguments["reason"] == "agreed by telephone"


@pytest.mark.promise("L7")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_refusal_is_heeded_and_a_person_gets_the_ticket(office: Office) -> None:
    ticket_id = await office.receive(CHARGED_TWICE)
    await office.work()
    [approval] = await office.waiting()
    await office.answer(approval, "refuse", "The second one was for another shop.")
    await office.work()
    run = await office.run_of(ticket_id)
    assert (run.state, run.verdict) == ("done", "needs_tech")
    assert not [each for each in await office.audit("tool.call.intent") if each["tool"] == "company.refund_charge"]
    assert await office.waiting() == []


@pytest.mark.promise("S3", "T6")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_where_gaby_may_only_look_it_says_what_to_do_and_changes_nothing(office: Office) -> None:
    async with office.gaby.database.write(office.workspace_id) as session:
        change = PolicyChange(autonomy=Autonomy.INVESTIGATE)
        await office.gaby.tools.connectors.limit(session, office.actor, "company", change)
    ticket_id = await office.receive(LOCKED_OUT)
    await office.work()
    run = await office.run_of(ticket_id)
    assert run.verdict == "needs_tech"
    assert not [each for each in await office.audit("tool.call.intent") if each["tool"] == "company.unlock_user"]
    [note] = await office.messages(ticket_id)
    assert note.private
