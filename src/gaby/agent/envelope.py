"""The envelope: the bounded part of all that is known which the planner sees, with what each part costs in tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gaby.agent.memory import CallRecord, PassageRecord, WorkingMemory
from gaby.agent.persona import EnvelopeLimits
from gaby.kernel.ids import WorkspaceId
from gaby.llm.tokens import estimate
from gaby.mind.result_preview import shown
from gaby.safety import Reader, Readers
from gaby.skills.plan import DialogueEntry, Envelope, ToolOption
from gaby.skills.plan_turns import CompletedCall, PlannerPassage, Turn, TurnCall
from gaby.tools.catalogue import CatalogueSnapshot, declarations_of
from gaby_connectors.sdk.manifest import Audience

_MOST_CALLS = 200
_MOST_PASSAGES = 80
_DIALOGUE = 40
_BRIEF = 400
"""Of results that are not among the latest."""


class PlannerTools:
    """The tools that may be used now, without the arguments that Gaby fills by itself."""

    def __init__(self, snapshot: CatalogueSnapshot) -> None:
        self.snapshot = snapshot
        self.tools = [
            ToolOption(
                name=entry.facts.full_name,
                description=entry.definition.description,
                parameters=entry.schema,
                access=entry.facts.access,
                declares=declarations_of(entry),
            )
            for entry in snapshot.tools.values()
            if not entry.connector.quarantined and entry.connector.policy.autonomy != "off"
        ]
        self.tokens = sum(estimate(f"{each.name} {each.description} {each.parameters}") for each in self.tools)

    def shown(self, memory: WorkingMemory) -> list[ToolOption]:
        """Those that are offered, in the order in which they were, without the withdrawn ones."""
        tools = self.tools
        if memory.offered:
            known = {tool.name: tool for tool in self.tools}
            tools = [known[name] for name in dict.fromkeys(memory.offered) if name in known]
        return [tool for tool in tools if tool.name not in memory.withdrawn] if memory.withdrawn else tools

    def others(self, memory: WorkingMemory) -> list[ToolOption]:
        """Those that are not offered and may be used."""
        if not memory.offered:
            return []
        return [tool for tool in self.tools if tool.name not in {*memory.offered, *memory.withdrawn}]


class PlannerToolsCache:
    """Made once for each state of a workspace's connectors."""

    def __init__(self) -> None:
        self._by_workspace: dict[WorkspaceId, PlannerTools] = {}

    def tools_for(self, snapshot: CatalogueSnapshot) -> PlannerTools:
        known = self._by_workspace.get(snapshot.workspace_id)
        if known is None or known.snapshot is not snapshot:
            known = self._by_workspace[snapshot.workspace_id] = PlannerTools(snapshot)
        return known


class MemoryFacts(Protocol):
    """What is remembered about the people and systems of a ticket. Empty until memory is built."""

    async def about(self, workspace_id: WorkspaceId, requester: str | None, text: str, limit: int) -> Sequence[str]: ...


class NoMemoryFacts:
    async def about(self, workspace_id: WorkspaceId, requester: str | None, text: str, limit: int) -> Sequence[str]:
        return ()


@dataclass(frozen=True)
class BuiltEnvelope:
    envelope: Envelope
    tokens: dict[str, int]
    """For each part, guessed from above."""
    withheld: bool
    """There are pages that the reader may not know."""


def fill(
    memory: WorkingMemory,
    tools: PlannerTools,
    facts: Sequence[str],
    bounds: EnvelopeLimits,
    *,
    reader: Reader,
    ticket_id: str,
    now: datetime,
) -> BuiltEnvelope:
    """Pages that `reader`, who gets the reply, may not know are left out until they are asked for."""
    ticket = memory.ticket
    text = "\n\n".join((ticket.body, *ticket.messages))
    passages, withheld = _passages(memory, reader, bounds)
    similar = [f"{each.title} ({each.status}) {each.summary}".strip() for each in memory.similar[: bounds.similar]]
    calls = _calls(memory.calls, bounds)
    shown_tools = tools.shown(memory)
    envelope = Envelope(
        title=ticket.title,
        text=text,
        body=ticket.body,
        dialogue=[DialogueEntry(author=each.author, text=each.text) for each in ticket.dialogue[-_DIALOGUE:]],
        earlier=memory.earlier[-_DIALOGUE:],
        ticket_id=ticket_id,
        requester=ticket.requester,
        requester_verified=ticket.verified,
        instructed=reader.kind == "staff",
        searched=bool(memory.queries),
        queries=memory.queries,
        passages=passages,
        internal=memory.internal or reader.kind == "staff",
        similar_tickets=similar,
        facts=list(facts[: bounds.facts]),
        calls=calls,
        turns=_turns(memory),
        tools=shown_tools,
        other_tools=tools.others(memory),
        nudges=memory.nudges,
        must_conclude=memory.must_conclude,
        now=now,
    )
    tokens = {
        "ticket": estimate(f"{ticket.title}\n{text}"),
        "passages": sum(estimate(each.text) for each in passages),
        "similar": sum(map(estimate, similar)),
        "facts": sum(map(estimate, envelope.facts)),
        "results": sum(estimate(each.result) for each in calls),
        "tools": tools.tokens,
    }
    return BuiltEnvelope(envelope, tokens, withheld=withheld)


def _passages(memory: WorkingMemory, reader: Reader, bounds: EnvelopeLimits) -> tuple[list[PlannerPassage], bool]:
    """Each by a name that stays the same, at the turn from which on it could be seen; and whether some are kept back.

    The latest search knows most about what is looked for, so what it found comes first.
    """
    names = {each.citation: (name, turn) for name, each, turn in named_pages(memory, reader)}
    passages = [
        PlannerPassage(
            name=names[each.citation][0],
            citation=each.citation,
            title=each.title,
            text=each.text,
            trusted=each.trusted,
            runbook=each.runbook,
            turn=names[each.citation][1],
        )
        for each in memory.passages
        if each.citation in names
    ]
    # As many as one search gives, for each search that was made.
    most = min(_MOST_PASSAGES, bounds.passages * max(1, 1 + len(memory.turns)))
    return passages[:most], len(passages) < len(memory.passages)


def named_pages(memory: WorkingMemory, reader: Reader) -> list[tuple[str, PassageRecord, int]]:
    """The pages that the planner may see, each with the name that a conclusion cites it by and the turn from which on
    it was seen. They are counted in that order: a gap would tell that there are others, and a name never changes."""
    asked = next((place for place, turn in enumerate(memory.turns, 1) if turn.internal), 0)
    seen: list[tuple[int, PassageRecord]] = []
    for each in memory.passages:
        is_open = Readers(Audience(each.audience)).allow(reader)
        if is_open or memory.internal:
            seen.append((each.turn if is_open else max(each.turn, asked), each))
    ordered = sorted(seen, key=lambda pair: pair[0])
    return [(f"p{number}", each, turn) for number, (turn, each) in enumerate(ordered, 1)]


def _turns(memory: WorkingMemory) -> list[Turn]:
    numbers = {call.id: call.number for call in memory.calls}
    return [
        Turn(
            text=turn.text,
            queries=list(turn.queries),
            internal=turn.internal,
            need=turn.need,
            offered=list(turn.offered),
            calls=[
                TurnCall(tool=tool, arguments=arguments, number=numbers.get(call_id))
                for call_id, tool, arguments in turn.calls
            ],
        )
        for turn in memory.turns
    ]


def _calls(calls: Sequence[CallRecord], bounds: EnvelopeLimits) -> list[CompletedCall]:
    """The latest results in full, of earlier ones the beginning."""
    latest = len(calls) - bounds.results
    return [
        CompletedCall(
            number=call.number,
            tool=call.tool,
            arguments=call.arguments,
            outcome=call.outcome,
            access=call.access,
            result="" if call.result is None else shown(call.result, _size(place, latest, bounds)),
            reason=call.reason,
            agreed=call.agreed,
        )
        for place, call in enumerate(calls[-_MOST_CALLS:], max(0, len(calls) - _MOST_CALLS))
    ]


def _size(place: int, latest: int, bounds: EnvelopeLimits) -> int:
    return bounds.result_characters if place >= latest else _BRIEF
