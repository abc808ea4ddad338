"""The investigation loop on pydantic-ai: the same planner, the same path to tools, the same judge; another engine.

pydantic-ai takes the turns: its model is Gaby's `plan` skill, its tools are Gaby's invoker, its deferred calls are
Gaby's approvals, its limit of requests is the budget of rounds. What it does not do, and Gaby's loop does: keep every
step on disk as it is taken, go on after a crash, hold a lease against other workers, and do a write once.
"""

import time
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic_ai import Agent, ApprovalRequired, DeferredToolRequests, DeferredToolResults, RunContext, ToolDenied
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_ai.usage import UsageLimits
from pydantic_core import SchemaValidator, core_schema

from gaby.agent import detector
from gaby.agent.envelope import PlannerTools, fill
from gaby.agent.memory import CallRecord, MemoryDelta, PassageRecord, TicketView
from gaby.agent.replies import PUBLIC
from gaby.agent.run_context import InvestigationContext
from gaby.agent.states import Judging
from gaby.evals.case_workspace import CaseWorkspace
from gaby.evals.drivers import DriverResult, answer_approvals, recount
from gaby.evals.fixtures import Fixture
from gaby.evals.played_run import PlayedCall, PlayedPosting, PlayedRun, PlayedStep
from gaby.kernel.errors import Conflict
from gaby.kernel.ids import ApprovalId, TicketId
from gaby.kernel.outcomes import CallOutcome
from gaby.mind import ProposedCall
from gaby.mind.tool_names import short_name
from gaby.skills import plan, triage
from gaby.skills.plan_turns import SEARCH
from gaby.tools import Asked, Denied, Done, Failed, RetryLater, Simulated, ToolCall, ToolOutcome, Unknown
from gaby.tools.disclosure import requester_of

_ANYTHING = SchemaValidator(schema=core_schema.any_schema())
"""The invoker checks the arguments, so that a misfit is recorded like every other denial."""


class Stopped(Exception):
    """A kill switch was pulled."""


class Enough(Exception):
    """It goes round in circles."""


@dataclass
class Work:
    """What one run holds in hand."""

    scene: CaseWorkspace
    run: InvestigationContext
    planned: dict[str, ProposedCall] = field(default_factory=dict[str, ProposedCall])
    approvals: dict[str, UUID] = field(default_factory=dict[str, UUID])
    asked: list[PlayedCall] = field(default_factory=list[PlayedCall])
    lines: list[PlayedStep] = field(default_factory=list[PlayedStep])

    def say(self, system: str, action: str, detail: str = "") -> None:
        self.lines.append(PlayedStep(system, action, self.run.redact_own(detail)))

    def record(self, tool: str, arguments: dict[str, Any], access: str, outcome: ToolOutcome, why: str) -> str:
        name, result, reason = _outcome_fields(outcome)
        memory = self.run.memory
        record = CallRecord(
            id=self.scene.gaby.ids.new(),
            number=len(memory.calls) + 1,
            tool=tool,
            arguments=arguments,
            access="read" if access == "read" else "write",
            outcome=name,
            result=result,
            reason=reason,
            why=why,
        )
        memory.add(MemoryDelta(calls=(record,)))
        self.say(tool, name, reason)
        return name


class GabyTools(AbstractToolset[Work]):
    """Every tool of the workspace through the one path, and the search of the knowledge."""

    @property
    def id(self) -> str:
        return "gaby"

    async def get_tools(self, ctx: RunContext[Work]) -> dict[str, ToolsetTool[Work]]:
        box = await _toolbox(ctx.deps)
        found = {each.name: (each.parameters, each.access == "write") for each in box.tools}
        found[SEARCH] = ({"type": "object", "properties": {"queries": {"type": "array"}}}, False)
        return {
            name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(name=name, parameters_json_schema=parameters, sequential=alone),
                max_retries=0,
                args_validator=_ANYTHING,
            )
            for name, (parameters, alone) in found.items()
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Work], tool: ToolsetTool[Work]
    ) -> str:
        work, call_id = ctx.deps, ctx.tool_call_id or ""
        if name == SEARCH:
            return await _search(work, tuple(tool_args["queries"]))
        access = "write" if tool.tool_def.sequential else "read"
        approval = work.approvals.get(call_id)
        planned = work.planned[call_id]
        call = ToolCall(
            name,
            tool_args,
            UUID(call_id),
            why=planned.why,
            consent=planned.consent,
            approval_id=ApprovalId(approval) if approval is not None else None,
        )
        outcome = await work.scene.gaby.tools.invoker.invoke(call, work.run.tools)
        if isinstance(outcome, Asked):
            work.approvals[call_id] = outcome.approval_id
            work.asked.append(PlayedCall(short_name(name), tool_args, "write", "asked"))
            work.say("approvals", f"Asks for consent: {name}")
            raise ApprovalRequired
        if isinstance(outcome, Denied) and outcome.verdict.rule.startswith("kill_switch"):
            raise Stopped(outcome.verdict.reason)
        return work.record(name, tool_args, access, outcome, call.why)


def _planner_model(work: Work) -> FunctionModel:
    """The planner as a model: what it is shown is Gaby's own memory, not the transcript."""

    async def respond(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        run, gaby = work.run, work.scene.gaby
        noticed = detector.notice(run.memory.calls, run.memory.nudges, run.memory.withdrawn)
        if noticed.enough is not None:
            raise Enough(noticed.enough)
        run.memory.add(MemoryDelta(nudges=noticed.nudges, withdrawn=noticed.withdraw))
        box = await _toolbox(work)
        reader, now = requester_of(run.tools), gaby.clock.now()
        filled = fill(run.memory, box, (), run.persona.bounds, reader=reader, ticket_id=run.ticket.external_id, now=now)
        planned = await gaby.models.runner.run(plan.skill, filled.envelope, run.occasion)
        usage, step = planned.usage, planned.value
        run.memory.add(MemoryDelta(tokens=usage.counted, nano_usd=planned.nano_usd or 0))
        work.say("gaby", step.kind, step.why)
        if step.kind == "retrieve":
            search = ProposedCall(tool=SEARCH, arguments={"queries": list(step.queries)})
            return ModelResponse(parts=[_part(work, search)])
        if step.kind == "call" and step.calls:
            run.memory.add(MemoryDelta(iterations=1))
            return ModelResponse(parts=[_part(work, each) for each in step.calls])
        if step.conclusion is not None:
            run.memory.add(MemoryDelta(conclusion=step.conclusion, written_by=planned.source))
        return ModelResponse(parts=[TextPart(step.why or "done")])

    return FunctionModel(respond, model_name="gaby-plan")


async def drive(scene: CaseWorkspace, fixture: Fixture, ticket_id: TicketId) -> PlayedRun:
    begin = time.perf_counter()
    work = await _taken_up(scene, ticket_id)
    if work is None:
        return PlayedRun(verdict="skipped")
    ending = await _triaged(work) or await _investigated(work, fixture)
    driver_result = await _judge_run(work, ending)
    return recount(scene, driver_result._replace(seconds=time.perf_counter() - begin))


async def _investigated(work: Work, fixture: Fixture) -> Judging | str:
    """Why it ends, or the word for an ending that nobody judges."""
    agent = Agent(_planner_model(work), deps_type=Work, output_type=[str, DeferredToolRequests], toolsets=[GabyTools()])
    limits = UsageLimits(request_limit=2 * work.run.persona.iterations)
    history: list[ModelMessage] | None = None
    answers: DeferredToolResults | None = None
    try:
        while True:
            given = None if history else work.run.memory.ticket.body or "-"
            result = await agent.run(
                given, deps=work, message_history=history, deferred_tool_results=answers, usage_limits=limits
            )
            if not isinstance(result.output, DeferredToolRequests):
                return Judging(because=result.output)
            await answer_approvals(work.scene, fixture.operator)
            history, answers = result.all_messages(), await _answers(work, result.output)
    except UsageLimitExceeded:
        return Judging(budget=f"The limit of {work.run.persona.iterations} rounds")
    except Enough as enough:
        return Judging(because=str(enough))
    except Stopped:
        return "failed"


async def _answers(work: Work, asked: DeferredToolRequests) -> DeferredToolResults:
    """What the operator said, from the table of approvals; a refusal is recorded like a denial."""
    async with work.scene.gaby.database.read(work.run.workspace_id) as session:
        rows = {row.id: row for row in await work.scene.gaby.tools.approvals.of_run(session, work.run.run_id)}
    results = DeferredToolResults()
    for part in asked.approvals:
        row = rows[work.approvals[part.tool_call_id]]
        if row.state == "approved":
            results.approvals[part.tool_call_id] = True
            continue
        reason = f"{row.decided_by or 'nobody'}: {row.answer or 'no answer in time'}"
        number = len(work.run.memory.calls) + 1
        refused = CallRecord(
            id=UUID(part.tool_call_id),
            number=number,
            tool=part.tool_name,
            arguments=part.args_as_dict(),
            access="write",
            outcome="denied",
            reason=reason,
        )
        work.run.memory.add(MemoryDelta(calls=(refused,)))
        results.approvals[part.tool_call_id] = ToolDenied(reason)
    return results


async def _judge_run(work: Work, ending: Judging | str) -> DriverResult:
    memory = work.run.memory
    if isinstance(ending, str):
        return DriverResult(memory, ending, tuple(work.asked), tuple(work.lines))
    move = await work.scene.gaby.agent.loop.dependencies.judge.judge(work.run, ending, escalates=False)
    memory.add(move.delta)
    verdict = memory.verdict or "failed"
    posted = (PlayedPosting(memory.reply, verdict not in PUBLIC),) if memory.reply else ()
    return DriverResult(memory, verdict, tuple(work.asked), tuple(work.lines), posted)


async def _taken_up(scene: CaseWorkspace, ticket_id: TicketId) -> Work | None:
    gaby = scene.gaby
    async with gaby.database.read(scene.actor.workspace_id) as session:
        investigation = await gaby.agent.latest_of(session, ticket_id)
        if investigation is None:
            return None
    claimed = await gaby.agent.queue.claim_one("peer", scene.actor.workspace_id, investigation.typed_id)
    if claimed is None:
        raise Conflict("Somebody else carries it on.")
    run = await gaby.agent.loop.resume(claimed)
    async with gaby.database.read(scene.actor.workspace_id) as session:
        ticket = await gaby.tickets.intake.get(session, ticket_id)
        written = await gaby.tickets.intake.written(session, ticket)
    messages = tuple(each.body for each in written.messages if each.author != "gaby")
    view = TicketView(
        title=written.title,
        body=written.body,
        requester=ticket.requester_email,
        verified=ticket.requester_verified,
        priority=ticket.priority,
        messages=messages,
    )
    run.memory.add(MemoryDelta(ticket=view))
    run.tools.ledger.read_external("the ticket", "\n\n".join((view.title, view.body, *messages)))
    return Work(scene, run)


async def _triaged(work: Work) -> Judging | None:
    view = work.run.memory.ticket
    given = triage.TriageInput(title=view.title[:500], body=view.body[:20_000])
    found = (await work.scene.gaby.models.runner.run(triage.skill, given, work.run.occasion)).value
    work.run.memory.add(MemoryDelta(intent=found.intent, worth_investigating=found.worth_investigating))
    work.say("gaby", f"Triage: {found.intent}", " ".join(found.reasons))
    return None if found.worth_investigating else Judging(because=found.reasons[-1])


async def _search(work: Work, queries: tuple[str, ...]) -> str:
    run, searcher = work.run, work.scene.gaby.knowledge.components.searcher
    whole = f"{run.memory.ticket.title}\n{run.memory.ticket.body}"
    results = await searcher.search(run.workspace_id, whole, rewrites=queries, limit=run.persona.bounds.passages)
    known = {each.citation for each in run.memory.passages}
    passages = tuple(
        PassageRecord(
            citation=hit.citation,
            document_id=hit.document_id,
            title=hit.title,
            text=hit.text,
            confidence=hit.confidence,
        )
        for hit in results.hits
        if hit.citation not in known
    )
    run.memory.add(MemoryDelta(queries=queries, passages=passages))
    return f"{len(passages)} passages"


def _part(work: Work, call: ProposedCall) -> ToolCallPart:
    """Its id is the idempotency key, so that the same call has one effect."""
    call_id = str(work.scene.gaby.ids.new())
    work.planned[call_id] = call
    return ToolCallPart(tool_name=call.tool, args=call.arguments, tool_call_id=call_id)


async def _toolbox(work: Work) -> PlannerTools:
    return PlannerTools(await work.scene.gaby.tools.catalogue.snapshot(work.run.workspace_id))


def _outcome_fields(outcome: ToolOutcome) -> tuple[CallOutcome, Any, str]:
    match outcome:
        case Done(structured=structured, text=text, shown=shown, spilled=spilled):
            return "done", shown if spilled is not None else structured if structured is not None else text, ""
        case Simulated(structured=structured, shown=shown, verdict=verdict):
            return "simulated", structured if structured is not None else shown, verdict.reason
        case Asked(verdict=verdict):
            return "asked", None, verdict.reason
        case Denied(verdict=verdict):
            return "denied", None, verdict.reason
        case Failed(message=message) | RetryLater(message=message):
            return "failed", None, message
        case Unknown(reason=reason):
            return "unknown", None, reason
