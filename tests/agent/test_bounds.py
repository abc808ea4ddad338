"""What the planner sees is bounded, counted, and a workspace's own; what an investigation may use up is limited."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from gaby.agent.budget import spent
from gaby.agent.envelope import BuiltEnvelope, PlannerTools, fill
from gaby.agent.memory import CallRecord, PassageRecord, SimilarTicket, TicketView, WorkingMemory
from gaby.agent.persona import EnvelopeLimits, Persona
from gaby.app import Gaby
from gaby.kernel.errors import Invalid
from gaby.kernel.ids import SYSTEM
from gaby.llm.tokens import estimate
from gaby.safety import STAFF_READER
from gaby.tools.catalogue import CatalogueSnapshot
from gaby.usage.limits import SpendCap
from tests.agent.scenes import Office, open_office

NOW = datetime(2030, 1, 2, tzinfo=UTC)
one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def much() -> WorkingMemory:
    """A memory with a hundred of everything."""
    ticket = TicketView(title="Slow", body="The shop is slow.", messages=("Still slow.",))
    memory = WorkingMemory(ticket=ticket, queries=["slow shop"])
    for number in range(1, 101):
        passage = PassageRecord(
            citation=f"doc:{number}",
            document_id=UUID(int=number),
            title="t",
            text=f"Text {number}. " * 50,
            confidence=0.5,
        )
        memory.passages.append(passage)
        memory.similar.append(SimilarTicket(title=f"Slow {number}", status="done"))
        memory.calls.append(
            CallRecord(
                id=UUID(int=number),
                number=number,
                tool="company.get",
                arguments={"n": number},
                access="read",
                outcome="done",
                result={"log": "slow query " * 5000},
            )
        )
    return memory


def filled(bounds: EnvelopeLimits, memory: WorkingMemory | None = None) -> BuiltEnvelope:
    facts = [f"Fact {number}" for number in range(100)]
    tools = PlannerTools(CatalogueSnapshot(SYSTEM, 1, {}, {}))
    return fill(memory or much(), tools, facts, bounds, reader=STAFF_READER, ticket_id="T-1", now=NOW)


@pytest.mark.promise("L8")
def test_the_planner_sees_six_passages_ten_facts_and_three_tickets_however_much_there_is() -> None:
    seen = filled(EnvelopeLimits()).envelope

    assert (len(seen.passages), len(seen.facts), len(seen.similar_tickets)) == (6, 10, 3)
    assert "Still slow." in seen.text
    full = [each for each in seen.calls if len(each.result) > 1000]
    assert [each.number for each in full] == list(range(89, 101))
    assert max(len(each.result) for each in full) <= 12_100
    assert [each.number for each in seen.calls] == list(range(1, 101))


@pytest.mark.promise("L8")
def test_a_workspaces_own_bounds_hold() -> None:
    seen = filled(EnvelopeLimits(passages=0, facts=1, similar=0, results=1, result_characters=200)).envelope

    assert (seen.passages, len(seen.facts), seen.similar_tickets) == ([], 1, [])
    assert max(len(each.result) for each in seen.calls) <= 500


@pytest.mark.promise("L8")
def test_what_each_part_costs_is_counted() -> None:
    told = filled(EnvelopeLimits())
    assert set(told.tokens) == {"ticket", "passages", "similar", "facts", "results", "tools"}
    assert told.tokens["passages"] == sum(estimate(each.text) for each in told.envelope.passages)
    assert told.tokens["results"] > filled(EnvelopeLimits(results=1)).tokens["results"] > 0
    nothing = filled(EnvelopeLimits(facts=0), WorkingMemory()).tokens
    assert (nothing["passages"], nothing["similar"], nothing["facts"], nothing["results"]) == (0, 0, 0, 0)


@pytest.mark.promise("L5")
@pytest.mark.parametrize(
    ("used", "what"),
    [
        ({}, None),
        ({"iterations": 19, "seconds": 899.9, "tokens": 999, "nano_usd": 499_999_999}, None),
        ({"iterations": 20}, "20 rounds"),
        ({"seconds": 900.0}, "900 seconds"),
        ({"tokens": 1000}, "1000 tokens"),
        ({"nano_usd": 500_000_000}, "0.50 USD"),
    ],
)
def test_each_budget_ends_when_it_is_reached(used: dict[str, Any], what: str | None) -> None:
    found = spent(WorkingMemory(**used), Persona(), SpendCap(1000, 500_000_000), working_for=0.0)
    assert (found or "").removeprefix("The limit of ") == (what or "")


@pytest.mark.promise("L5")
def test_the_present_move_counts_and_no_limit_is_no_limit() -> None:
    assert spent(WorkingMemory(seconds=890), Persona(), SpendCap(), working_for=9.9) is None
    assert spent(WorkingMemory(seconds=890), Persona(), SpendCap(), working_for=10.0) is not None
    assert spent(WorkingMemory(tokens=10**9, nano_usd=10**15), Persona(), SpendCap(), working_for=0.0) is None


@one_engine
@pytest.mark.promise("L8")
async def test_a_workspace_changes_what_it_wants_and_nothing_else(gaby: Gaby, tmp_path: Path) -> None:
    office = await open_office(gaby, tmp_path, sample=False)
    other = await open_office(gaby, tmp_path, "globex", sample=False)
    usual = await persona_of(other)

    await change(office, {"iterations": 5, "bounds": {"passages": 3}})
    await change(office, {"bounds": {"facts": 2}})
    mine = await persona_of(office)
    assert (mine.iterations, mine.bounds.passages, mine.bounds.facts) == (5, 3, 2)
    assert (mine.seconds, mine.bounds.similar) == (usual.seconds, usual.bounds.similar)
    assert await persona_of(other) == usual

    await change(office, {"iterations": None, "bounds": {"passages": None}})
    mine = await persona_of(office)
    assert (mine.iterations, mine.bounds.passages, mine.bounds.facts) == (usual.iterations, usual.bounds.passages, 2)
    await change(office, {"bounds": None})
    assert await persona_of(office) == usual
    with pytest.raises(Invalid, match="iterations"):
        await change(office, {"iterations": 0})
    assert await persona_of(office) == usual


async def persona_of(office: Office) -> Persona:
    async with office.gaby.database.read(office.workspace_id) as session:
        return await office.gaby.agent.personas.load(session)


async def change(office: Office, changes: dict[str, Any]) -> None:
    async with office.gaby.database.write(office.workspace_id) as session:
        await office.gaby.agent.personas.change(session, office.actor, changes)
