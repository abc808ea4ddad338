"""The envelope: the bounded part of all that is known which the planner sees, with what each part costs in tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gaby.agent.memory import CallRecord, Memory
from gaby.agent.persona import Bounds
from gaby.kernel.ids import WorkspaceId
from gaby.llm.tokens import estimate
from gaby.mind.showing import shown
from gaby.skills.choose_tools import Tool
from gaby.skills.plan import Envelope, MadeCall, Passage
from gaby.tools.catalogue import Snapshot, without_own_arguments

_BRIEF = 400
"""Of results that are not among the latest."""


class Facts(Protocol):
    """What is remembered about the people and systems of a ticket. Empty until memory is built."""

    async def about(self, workspace_id: WorkspaceId, requester: str | None, text: str, limit: int) -> Sequence[str]: ...


class NoFacts:
    async def about(self, workspace_id: WorkspaceId, requester: str | None, text: str, limit: int) -> Sequence[str]:
        return ()


@dataclass(frozen=True)
class Filled:
    envelope: Envelope
    tokens: dict[str, int]
    """For each part, guessed from above."""


def fill(
    memory: Memory, tools: Sequence[Tool], facts: Sequence[str], bounds: Bounds, *, ticket_id: str, now: datetime
) -> Filled:
    ticket = memory.ticket
    text = "\n\n".join((ticket.body, *ticket.messages))
    passages = [
        Passage(citation=each.citation, title=each.title, text=each.text) for each in memory.passages[: bounds.passages]
    ]
    similar = [f"{each.title} ({each.status}) {each.summary}".strip() for each in memory.similar[: bounds.similar]]
    calls = _calls(memory.calls, bounds)
    envelope = Envelope(
        title=ticket.title,
        text=text,
        ticket_id=ticket_id,
        requester=ticket.requester,
        requester_verified=ticket.verified,
        searched=bool(memory.queries),
        queries=memory.queries,
        passages=passages,
        similar_tickets=similar,
        facts=list(facts[: bounds.facts]),
        calls=calls,
        tools=[tool for tool in tools if tool.name not in memory.withdrawn],
        nudges=memory.nudges,
        now=now,
    )
    tokens = {
        "ticket": estimate(f"{ticket.title}\n{text}"),
        "passages": sum(estimate(each.text) for each in passages),
        "similar": sum(map(estimate, similar)),
        "facts": sum(map(estimate, envelope.facts)),
        "results": sum(estimate(each.result) for each in calls),
        "tools": sum(estimate(f"{each.name} {each.description} {each.parameters}") for each in envelope.tools),
    }
    return Filled(envelope, tokens)


def tools_of(snapshot: Snapshot) -> list[Tool]:
    """Those that may be used now, without the arguments that Gaby fills by itself."""
    return [
        Tool(
            name=entry.facts.full_name,
            description=entry.definition.description or "",
            parameters=without_own_arguments(entry.definition.input_schema),
            lane=entry.facts.lane,
        )
        for entry in snapshot.tools.values()
        if not entry.connector.quarantined and entry.connector.policy.autonomy != "off"
    ]


def _calls(calls: Sequence[CallRecord], bounds: Bounds) -> list[MadeCall]:
    """The latest results in full, of earlier ones the beginning."""
    latest = len(calls) - bounds.results
    return [
        MadeCall(
            number=call.number,
            tool=call.tool,
            arguments=call.arguments,
            outcome=call.outcome,
            lane=call.lane,
            result="" if call.result is None else shown(call.result, _size(place, latest, bounds)),
            reason=call.reason,
        )
        for place, call in enumerate(calls[-200:])
    ]


def _size(place: int, latest: int, bounds: Bounds) -> int:
    return bounds.result_characters if place >= latest else _BRIEF
