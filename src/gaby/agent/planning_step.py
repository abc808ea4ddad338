"""The planning step: how a run begins, what it does next, what it searches, and what it makes of the answers."""

import asyncio
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from gaby.agent import budget, detector
from gaby.agent.envelope import BuiltEnvelope, MemoryFacts, PlannerTools, PlannerToolsCache, fill
from gaby.agent.incident_grouping import IncidentGrouping
from gaby.agent.ledger_entries import enter_calls, enter_passages
from gaby.agent.memory import MemoryDelta, PassageRecord, TurnRecord
from gaby.agent.queue import RunQueue
from gaby.agent.run_context import InvestigationContext, NextTransition
from gaby.agent.states import Created, Observing, Planning, Retrieving, SafetyCheck
from gaby.agent.ticket_reader import TicketReader
from gaby.agent.tool_offers import MOST_SHOWN_TOOLS, matching_tools, offered_tools
from gaby.agent.transitions import TimelineStep
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.database.raw_sql import SqlStatement
from gaby.kernel.ids import IdFactory, TicketId
from gaby.knowledge.audiences import audiences_of
from gaby.knowledge.runbook_consents import consents_of_pages, sources_of_customers
from gaby.knowledge.service import Knowledge
from gaby.llm.budget_ledger import OFFLINE
from gaby.llm.results import SkillResult
from gaby.llm.service import Models
from gaby.mind.situations import FoundPassage
from gaby.mind.tool_names import short_name
from gaby.skills import plan, triage
from gaby.skills.plan import PlannerStep
from gaby.tickets.canonical_ticket import rank_of
from gaby.tickets.statements import set_investigating
from gaby.tools import ToolCall, Tools
from gaby.tools.disclosure import requester_of

_FALLBACK_LOOK = timedelta(hours=1)
_JUDGED = frozenset({"writing_back", "done", "halted"})
"""States of an investigation that has found what it could: what is left may wait for a person."""
_RUNBOOK_CANDIDATES = 30
_LATER = 10
_QUERY = 400
_NOT_SEARCHED = "(not searched: too much is waiting)"


@dataclass(frozen=True)
class PlanningStep:
    database: Database
    clock: Clock
    ids: IdFactory
    tools: Tools
    models: Models
    knowledge: Knowledge
    tickets: TicketReader
    queue: RunQueue
    bursts: IncidentGrouping
    facts: MemoryFacts
    toolboxes: PlannerToolsCache
    degraded_above: int
    """With more than so many waiting, tickets of low priority are looked into without the knowledge."""

    async def begin(self, run: InvestigationContext, state: Created) -> NextTransition:
        # Whatever another process has connected, limited or taken away since is known from here on.
        await self.tools.catalogue.fresh(run.workspace_id)
        view = await self.tickets.view(run)
        if run.ticket.closed_at is not None:
            reason = "A person closed the ticket."
            return NextTransition(
                state.verdict_ready(reason), (TimelineStep("desk", "Closed", reason),), MemoryDelta(ticket=view)
            )
        if (ended := await self.tickets.verdict_before_thanks(run)) is not None:
            reason = "The requester says that it is solved."
            delta = MemoryDelta(ticket=view, worth_investigating=False, before=ended)
            return NextTransition(state.verdict_ready(reason), (TimelineStep("desk", "Thanks", reason),), delta)
        delta = MemoryDelta(ticket=view)
        if run.instructed:
            # Whoever works here wants it done; it is no customer's trouble that others could have as well.
            step = TimelineStep("gaby", "Started", "An operator's instruction.")
            return NextTransition(state.started(), (step,), delta, also=(_investigating(run),))
        earlier = await self.tickets.earlier_changes(run)
        delta = delta.model_copy(update=earlier.model_dump(include={"earlier", "earlier_is_open"}))
        steps: list[TimelineStep] = []
        if run.persona.triage:
            later = [f"{each.author}: {each.text}" for each in view.dialogue]
            given = triage.TriageInput(title=view.title[:500], body=view.body[:20_000], later=later[-_LATER:])
            triaged = await self.models.runner.run(triage.skill, given, run.occasion)
            # Rules go by words, and whoever the desk vouches for sends no advertising.
            mistaken = triaged.offline and triaged.value.intent == "spam" and view.verified
            worth = triaged.value.worth_investigating or mistaken
            said = {"intent": triaged.value.intent, "urgency": triaged.value.urgency, "worth_investigating": worth}
            delta = delta.model_copy(update={**said, **_used(triaged)})
            steps.append(
                TimelineStep(
                    "gaby",
                    f"Triage: {triaged.value.intent}",
                    run.redact_own(" ".join(triaged.value.reasons)),
                    "thought",
                )
            )
            if not worth:
                return NextTransition(state.verdict_ready(triaged.value.reasons[-1]), tuple(steps), delta)
        return await self._with_neighbours(run, state, delta, steps)

    async def _with_neighbours(
        self, run: InvestigationContext, state: Created, delta: MemoryDelta, steps: list[TimelineStep]
    ) -> NextTransition:
        """Tickets of one incident are looked into once."""
        near = await self.bursts.around(run.workspace_id, TicketId(run.ticket.id), delta.intent)
        delta = delta.model_copy(update={"similar": near.similar})
        if near.incident is not None:
            steps.append(TimelineStep("gaby", "Part of an incident", run.redact_own(near.incident.title), "info"))
        status = _investigating(run, delta.urgency)
        if near.lead is not None and near.lead_state in _JUDGED:
            return NextTransition(state.follow(near.lead), tuple(steps), delta, also=(status,))
        if near.lead is not None:
            steps.append(TimelineStep("gaby", "Waits", "Another ticket of this incident is looked into first."))
            # Woken when that one has its verdict.
            later = self.clock.now() + _FALLBACK_LOOK
            return NextTransition(state.put_off(), tuple(steps), MemoryDelta(), rest_until=later)
        return NextTransition(state.started(), tuple(steps or [TimelineStep("gaby", "Started")]), delta, also=(status,))

    async def plan(self, run: InvestigationContext, state: Planning) -> NextTransition:
        memory = run.memory
        if (seen := await self.tickets.changed_view(run)) is not None:
            memory.ticket = seen
        if run.ticket.closed_at is not None:
            reason = "A person closed the ticket while it was looked into."
            return NextTransition(
                state.verdict_ready(reason),
                (TimelineStep("desk", "Closed", reason),),
                MemoryDelta(worth_investigating=False),
            )
        tools = await self.toolbox(run)
        with_model = await self.models.runner.has_model(plan.skill, run.workspace_id)
        delta = MemoryDelta(ticket=seen) if seen is not None else MemoryDelta()
        if with_model:
            if not memory.queries:
                return await self._search(run, state, self._first_queries(run), (), delta)
            delta = delta.model_copy(update=await self._prepared(run, tools))
        filled = await self.filled(run, tools)
        enter_calls(run)
        planned = await self.models.runner.run(plan.skill, filled.envelope, run.occasion)
        step = planned.value
        delta = delta.model_copy(update={"plans": 1, "envelope": filled.tokens, **_used(planned)})
        if not memory.internal and (step.internal or planned.source == OFFLINE):
            # Rules are shown all pages: they only write what they cite.
            delta = delta.model_copy(update={"internal": True})
            enter_passages(run, memory.passages, internal=True)
            if planned.source == OFFLINE and step.kind != "retrieve" and filled.withheld:
                step = PlannerStep(kind="retrieve", queries=memory.queries[-8:], why="Pages for colleagues were found.")
        if planned.source != OFFLINE:
            delta = delta.model_copy(update={"by_model": True})
        return await self._as_planned(run, state, tools, step, delta, planned.source)

    def _first_queries(self, run: InvestigationContext) -> tuple[str, ...]:
        """What the company's pages say of the ticket is looked up before a model is asked for anything."""
        ticket = run.memory.ticket
        newest = next((each.text for each in reversed(ticket.dialogue) if each.author == "requester"), "")
        texts = (ticket.title, newest or ticket.body)
        return tuple(dict.fromkeys(" ".join(text.split())[:_QUERY] for text in texts if text.strip())) or ("support",)

    async def _search(
        self,
        run: InvestigationContext,
        state: Planning,
        queries: tuple[str, ...],
        calls: tuple[ToolCall, ...],
        delta: MemoryDelta,
    ) -> NextTransition:
        if await self._is_degraded(run):
            reason = "Too much is waiting, so a ticket of low priority is looked into without the knowledge."
            skipped = delta.model_copy(update={"queries": (_NOT_SEARCHED,)})
            return NextTransition(
                state.retrieve((), calls), (TimelineStep("gaby", "Degraded", reason, "problem"),), skipped
            )
        step = TimelineStep("gaby", "Will search", run.redact_own("; ".join(queries)), "thought")
        return NextTransition(state.retrieve(queries, calls), (step,), delta)

    async def _prepared(self, run: InvestigationContext, tools: PlannerTools) -> dict[str, Any]:
        """What a model is told that rules do not need: which tools to look at first, and when to come to an end."""
        memory = run.memory
        fields: dict[str, Any] = {}
        if not memory.offered and len(tools.tools) > MOST_SHOWN_TOOLS:
            pages = [each.text for each in memory.passages if memory.internal or each.audience != "staff"]
            fields["offered"] = await asyncio.to_thread(
                offered_tools, tools.tools, memory.ticket, pages, self.models.runner.embed
            )
            memory.offered = list(fields["offered"])
        if not memory.must_conclude and (closing := budget.closing(memory, run.persona, run.cap)):
            fields["must_conclude"] = memory.must_conclude = closing
        return fields

    async def toolbox(self, run: InvestigationContext) -> PlannerTools:
        return self.toolboxes.tools_for(await self.tools.catalogue.snapshot(run.workspace_id))

    async def filled(self, run: InvestigationContext, tools: PlannerTools) -> BuiltEnvelope:
        memory = run.memory
        facts = await self.facts.about(
            run.workspace_id, memory.ticket.requester, memory.ticket.body, run.persona.bounds.facts
        )
        return fill(
            memory,
            tools,
            facts,
            run.persona.bounds,
            reader=requester_of(run.tools),
            ticket_id=run.ticket.external_id,
            now=self.clock.now(),
        )

    async def _as_planned(
        self,
        run: InvestigationContext,
        state: Planning,
        tools: PlannerTools,
        step: PlannerStep,
        delta: MemoryDelta,
        source: str,
    ) -> NextTransition:
        by_model = source != OFFLINE
        calls = await self._planned_calls(run, tools, step, by_model=by_model)
        if step.kind == "find_tools":
            return self._with_more_tools(run, state, tools, step, delta)
        if by_model and step.kind != "conclude":
            delta = delta.model_copy(update={"turns": (_turn(step, calls),)})
        if run.memory.offered and (new := {call.tool for call in calls} - {*run.memory.offered}):
            delta = delta.model_copy(update={"offered": (*delta.offered, *sorted(new))})
        if step.kind in {"retrieve", "call"} and step.queries:
            return await self._search(run, state, tuple(step.queries), calls, delta)
        if calls:
            timeline_step = TimelineStep(
                "gaby", "Plans", run.redact_own(step.why or "; ".join(call.why for call in calls)), "thought"
            )
            return NextTransition(state.propose(calls), (timeline_step,), delta)
        timeline_step = TimelineStep("gaby", "Has seen enough", run.redact_own(step.why), "thought")
        if step.conclusion is not None:
            delta = delta.model_copy(update={"conclusion": step.conclusion, "written_by": source})
        return NextTransition(state.verdict_ready(step.why), (timeline_step,), delta)

    async def _planned_calls(
        self, run: InvestigationContext, tools: PlannerTools, step: PlannerStep, *, by_model: bool
    ) -> tuple[ToolCall, ...]:
        if step.kind != "call":
            return ()
        consents = await self._consents(run, tools, [call.tool for call in step.calls])
        return tuple(
            ToolCall(
                id=self.ids.new(),
                tool=call.tool,
                arguments=call.arguments,
                why=call.why,
                consent=call.consent or consents.get(call.tool, ""),
                composed_by="model" if by_model else "rules",
            )
            for call in step.calls
        )

    def _with_more_tools(
        self, run: InvestigationContext, state: Planning, tools: PlannerTools, step: PlannerStep, delta: MemoryDelta
    ) -> NextTransition:
        need = " ".join(step.queries)
        hidden = [tool for tool in tools.tools if tool.name not in run.memory.offered]
        names = matching_tools(hidden, need, self.models.runner.embed)
        turn = TurnRecord(text=step.why, need=need, offered=names)
        timeline_step = TimelineStep(
            "gaby", "Looks for tools", run.redact_own(f"{need}: {', '.join(names) or 'none'}"), "thought"
        )
        return NextTransition(
            state.offer_tools(), (timeline_step,), delta.model_copy(update={"turns": (turn,), "offered": names})
        )

    async def retrieve(self, run: InvestigationContext, state: Retrieving) -> NextTransition:
        if not state.queries:
            return NextTransition(_behind(state), (TimelineStep("knowledge", "Not searched"),))
        searcher = self.knowledge.components.searcher
        whole = f"{run.memory.ticket.title}\n{run.memory.ticket.body}"
        most = run.persona.bounds.passages
        # Rules follow a runbook or none, and it may stand far behind pages that speak of the same thing.
        with_model = await self.models.runner.has_model(plan.skill, run.workspace_id)
        looked_at = most if with_model else max(most, _RUNBOOK_CANDIDATES)
        # Rules judge by themselves whether a page answers, and better than the search does.
        results = await searcher.search(
            run.workspace_id, whole, rewrites=state.queries, limit=looked_at, everything=not with_model
        )
        further = {hit.document_id for hit in results.hits[most:]}
        known = {each.citation for each in run.memory.passages}
        outsiders = await sources_of_customers(self.database, run.workspace_id)
        audiences = await audiences_of(self.database, run.workspace_id, {hit.document_id for hit in results.hits})
        hits = [
            PassageRecord(
                citation=hit.citation,
                document_id=hit.document_id,
                title=hit.title,
                text=hit.text,
                confidence=hit.confidence,
                trusted=hit.source not in outsiders,
                audience=audiences[hit.document_id],
                turn=len(run.memory.turns),
            )
            for hit in results.hits[:most]
        ]
        whole_pages = await self._with_whole_runbooks(run, hits, further)
        passages = tuple(each for each in whole_pages if each.citation not in known)
        enter_passages(run, passages, internal=run.memory.internal)
        summary = ", ".join(dict.fromkeys(each.title for each in passages)) or "Nothing that fits."
        step = TimelineStep("knowledge", f"Found {len(passages)} passages", summary, "search")
        return NextTransition(_behind(state), (step,), MemoryDelta(queries=state.queries, passages=passages))

    def observe(self, run: InvestigationContext, state: Observing) -> NextTransition:
        memory = run.memory
        noticed = detector.notice(memory.calls, memory.nudges, memory.withdrawn)
        delta = MemoryDelta(iterations=1, nudges=noticed.nudges, withdrawn=noticed.withdraw)
        steps = [TimelineStep("gaby", "Notices", word, "thought") for word in noticed.nudges]
        steps += [TimelineStep("gaby", "Does without", tool, "problem") for tool in noticed.withdraw]
        if noticed.enough is not None:
            return NextTransition(
                state.verdict_ready(noticed.enough), (*steps, TimelineStep("gaby", "Stops", noticed.enough)), delta
            )
        return NextTransition(state.observed(), tuple(steps), delta)

    async def _with_whole_runbooks(
        self, run: InvestigationContext, hits: Sequence[PassageRecord], further: AbstractSet[UUID]
    ) -> list[PassageRecord]:
        """Half a runbook is none, so of a page that is one all is read, in the place of what was found of it. Those of
        which the ticket names a symptom come first, and those among `further` pages last."""
        snapshot = await self.tools.catalogue.snapshot(run.workspace_id)
        names = frozenset(each for name in snapshot.tools for each in (name, short_name(name)))
        ticket = f"{run.memory.ticket.title}\n{run.memory.ticket.body}"
        document_ids = {hit.document_id for hit in hits}
        pages = await self.knowledge.components.runbook_pages.select(
            run.workspace_id, document_ids | further, ticket, names
        )
        whole = {
            page.document_id: PassageRecord(
                citation=page.citation,
                document_id=page.document_id,
                title=page.title,
                text=page.text,
                confidence=1.0,
                trusted=not page.written_by_customers,
                audience=page.audience,
                runbook=not page.written_by_customers,
                turn=len(run.memory.turns),
            )
            for page in pages
        }
        first = [each for each in whole.values() if each.document_id not in document_ids | further]
        last = [each for each in whole.values() if each.document_id in further - document_ids]
        ordered = (*first, *(whole.get(hit.document_id, hit) for hit in hits), *last)
        return list({each.citation: each for each in ordered}.values())

    async def _consents(self, run: InvestigationContext, tools: PlannerTools, called: Sequence[str]) -> dict[str, str]:
        """What runbooks want a person to agree to. It is looked up here, since a planner might not look."""
        access_by_tool = {tool.name: tool.access for tool in tools.tools}
        changes = {short_name(name) for name in called if access_by_tool.get(name) == "write"}
        if not changes:
            return {}
        known = [FoundPassage(each.citation, each.title, each.text, each.trusted) for each in run.memory.passages]
        pages, names = self.knowledge.components.runbook_pages, [tool.name for tool in tools.tools]
        return await consents_of_pages(pages, run.workspace_id, changes, names, known)

    async def _is_degraded(self, run: InvestigationContext) -> bool:
        if run.ticket.priority != "low":
            return False
        async with self.database.read(run.workspace_id) as session:
            depth = await self.queue.depth(session, run.workspace_id)
        return depth.waiting > self.degraded_above


def _investigating(run: InvestigationContext, urgency: str | None = None) -> SqlStatement:
    """What triage finds urgent is so for everybody who looks at the ticket, if somebody known says so."""
    priority = run.ticket.priority
    if urgency is not None and run.ticket.requester_verified and rank_of(urgency) < rank_of(priority):
        priority = urgency
    return set_investigating(run.workspace_id, run.ticket.id, priority)


def _used(result: SkillResult[Any]) -> dict[str, Any]:
    return {"tokens": result.usage.counted, "nano_usd": result.nano_usd or 0}


def _turn(step: PlannerStep, calls: Sequence[ToolCall]) -> TurnRecord:
    wanted = tuple((call.id, call.tool, dict(call.arguments)) for call in calls)
    return TurnRecord(text=step.why, queries=tuple(step.queries), internal=step.internal, calls=wanted)


def _behind(state: Retrieving) -> Planning | SafetyCheck:
    return state.retrieved_with_calls() if state.calls else state.retrieved()
