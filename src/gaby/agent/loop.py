"""The loop: takes a run up, makes one transition after the other, and writes each before the next is planned.

`start` puts a run into the queue, `resume` takes up where its last edge left it, `step` makes one move, `state` tells.
"""

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select

from gaby.agent import budget
from gaby.agent.escalations import Escalations
from gaby.agent.ledger_entries import enter_calls, enter_memory
from gaby.agent.memory import CallRecord, pack
from gaby.agent.models import Investigation
from gaby.agent.persona import Personas
from gaby.agent.planning_step import PlanningStep
from gaby.agent.queue import MOST_FAILURES, ClaimedRun, RunQueue
from gaby.agent.retry_later import WAITED_TOO_LONG
from gaby.agent.run_context import InvestigationContext, NextTransition
from gaby.agent.run_loader import load
from gaby.agent.states import (
    Acting,
    Created,
    DoneState,
    Halted,
    Judging,
    Observing,
    Planning,
    Retrieving,
    SafetyCheck,
    State,
    WaitingApproval,
    WritingBack,
)
from gaby.agent.tool_step import ToolStep
from gaby.agent.transitions import Lease, LeaseLost, TimelineStep, Transition, TransitionWriter
from gaby.agent.verdict_step import VerdictStep
from gaby.agent.write_back_step import WriteBackStep
from gaby.audit import AuditLog, FenceBroken
from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import Database, ReadSession
from gaby.kernel.database.references import add_reference
from gaby.kernel.errors import NotFound
from gaby.kernel.failpoints import failpoint_async
from gaby.kernel.log import get_log
from gaby.kernel.metrics import Metrics
from gaby.llm.budget_ledger import BudgetSpent
from gaby.safety import Dictionary, Placeholders
from gaby.tickets.authority import Authority, authority_of, is_instruction
from gaby.tickets.intake import Intake
from gaby.tickets.models import Ticket
from gaby.tools import Run, Tools
from gaby.usage.budget_ledger import StoredBudgetLedger

INVESTIGATOR = "investigator"

_log = get_log(__name__)
_OWN_NAMES = "inbox-"
"""How the names begin that Gaby itself gives to tickets."""


@dataclass(frozen=True)
class LoopDependencies:
    database: Database
    clock: Clock
    vault: Vault
    audit: AuditLog
    metrics: Metrics
    tools: Tools
    budget_ledger: StoredBudgetLedger
    intake: Intake
    queue: RunQueue
    writer: TransitionWriter
    personas: Personas
    escalations: Escalations
    planning_step: PlanningStep
    tool_step: ToolStep
    judge: VerdictStep
    finisher: WriteBackStep


class InvestigationLoop:
    def __init__(self, dependencies: LoopDependencies) -> None:
        self.dependencies = dependencies

    async def resume(self, claimed: ClaimedRun) -> InvestigationContext:
        """Take a run up where its last edge left it. Whatever was done after that edge is found out from the log."""
        dependencies, lease = self.dependencies, claimed.lease
        async with dependencies.database.read(lease.workspace_id) as session:
            row, ticket = await _with_ticket(session, lease)
            loaded = await load(session, dependencies.vault, row)
            persona = await dependencies.personas.load(session)
            cap = (await dependencies.budget_ledger.limits_in(session)).run
            messages = await dependencies.intake.messages(session, ticket.id)
            instructed = is_instruction(ticket, messages) and await _is_first(session, row)
        if row.number is None:
            async with dependencies.database.write(lease.workspace_id) as session:
                await add_reference(session, Investigation, row.id)
        tools = self._tool_run(lease, ticket, authority_of(ticket, messages), instructed=instructed)
        tools.most_wait = max(0.0, persona.wait_seconds - loaded.memory.waited)
        if loaded.memory.placeholders is not None:
            tools.placeholders = Placeholders.from_json(loaded.memory.placeholders)
        run = InvestigationContext(
            lease=lease,
            state=loaded.state,
            memory=loaded.memory,
            edges=loaded.edges,
            sealing=loaded.sealing,
            tools=tools,
            persona=persona,
            cap=cap,
            ticket=ticket,
            created_at=row.created_at,
            taken_up_at=dependencies.clock.monotonic(),
            failures=claimed.failures,
            halt=row.halt,
            known_placeholders=len(tools.placeholders),
            instructed=instructed,
        )
        enter_memory(run)
        for call in loaded.memory.calls:
            await self._relearn(tools, call)
            if call.outcome in {"done", "unknown"} and call.access == "write":
                await dependencies.tools.invoker.remember_change(tools, call.tool, call.arguments)
        enter_calls(run)
        return run

    async def _relearn(self, tools: Run, call: CallRecord) -> None:
        """What it brought, in its words or in those of an error."""
        result = call.reason if call.result is None else call.result
        if call.outcome in {"done", "simulated", "failed", "unknown"} and call.rule != WAITED_TOO_LONG:
            invoker, vouches = self.dependencies.tools.invoker, call.outcome == "done"
            await invoker.relearn(tools, call.id, call.tool, call.arguments, result, vouches=vouches)

    def _tool_run(self, lease: Lease, ticket: Ticket, authority: Authority, *, instructed: bool) -> Run:
        """On behalf of the verified requester, of nobody, or of the operator who wrote the ticket as an instruction."""
        verified = authority.requester if authority.verified else None
        principals = None if instructed else frozenset({verified} if verified else ())
        run = self.dependencies.tools.run(
            Actor("agent", INVESTIGATOR, lease.workspace_id),
            run_id=lease.run_id,
            principals=principals,
            requester=ticket.requester_email or "",
            dictionary=Dictionary.of_people(names=(ticket.customer,), emails=(ticket.requester_email or "",)),
        )
        run.fence, run.ticket = lease.fence, _called(ticket)
        if verified and not instructed:
            run.ledger.learn_principal(verified)
        return run

    def state(self, run: InvestigationContext) -> State:
        return run.state

    async def run(self, run: InvestigationContext) -> State:
        """Move after move, until it ends or has to rest."""
        while await self.step(run):
            pass
        return run.state

    async def step(self, run: InvestigationContext) -> bool:
        """One move. Whether it can go on at once. `LeaseLost` when somebody else carries it on."""
        if isinstance(run.state, DoneState | Halted):
            return False
        await failpoint_async(f"loop.before.{run.state.name}")
        try:
            move = await self._next(run)
        except FenceBroken:
            raise LeaseLost from None
        except BudgetSpent as error:
            move = await self._out_of_budget(run, error.message)
        if move is None:
            # Nothing has changed, so nothing is written.
            await self.dependencies.queue.give_back(run.lease)
            return False
        if isinstance(move.state, Halted) and move.ending.finished_at is None:
            halted = await self.dependencies.finisher.halted(run, move.state.reason)
            move = replace(halted, steps=(*move.steps, *halted.steps))
        await failpoint_async(f"loop.thought.{run.state.name}")
        await self._write(run, move)
        await failpoint_async(f"loop.after.{run.state.name}")
        return move.rest_until is None and not isinstance(run.state, DoneState | Halted)

    async def _next(self, run: InvestigationContext) -> NextTransition | None:
        state = run.state
        if run.halt is not None:
            return await self.dependencies.finisher.halted(run, run.halt)
        if run.failures >= MOST_FAILURES:
            return await self._broken(run, f"It ended its process {run.failures} times, and never got any further.")
        if not isinstance(state, Created | Judging | WritingBack | DoneState | Halted | WaitingApproval):
            used = budget.spent(run.memory, run.persona, run.cap, working_for=self._worked(run))
            if used is not None:
                return await self._out_of_budget(run, used)
        return await self._move(run, state)

    async def _move(self, run: InvestigationContext, state: State) -> NextTransition | None:
        planning_step = self.dependencies.planning_step
        match state:
            case Created():
                return await planning_step.begin(run, state)
            case Planning():
                return await planning_step.plan(run, state)
            case Retrieving():
                return await planning_step.retrieve(run, state)
            case Observing():
                return planning_step.observe(run, state)
            case SafetyCheck() | WaitingApproval() | Acting():
                return await self._run_tool_step(run, state)
            case _:
                return await self._end(run, state)

    async def _run_tool_step(
        self, run: InvestigationContext, state: SafetyCheck | WaitingApproval | Acting
    ) -> NextTransition | None:
        tool_step = self.dependencies.tool_step
        match state:
            case SafetyCheck():
                return await tool_step.check(run, state)
            case WaitingApproval():
                return await tool_step.check_answers(run, state)
            case Acting():
                return await tool_step.act(run, state)

    async def _end(
        self, run: InvestigationContext, state: Judging | WritingBack | DoneState | Halted
    ) -> NextTransition | None:
        match state:
            case Judging():
                escalates = await self.dependencies.escalations.has_target(run.workspace_id)
                return await self.dependencies.judge.judge(run, state, escalates=escalates)
            case WritingBack():
                return await self.dependencies.finisher.write_back(run, state)
            case DoneState() | Halted():
                raise AssertionError("an ended run makes no move")

    async def fail(self, run: InvestigationContext, error: BaseException, trace: str) -> None:
        """Something broke that no other try would mend: it ends here, and the log holds all that is known."""
        if isinstance(run.state, DoneState | Halted):
            return
        _log.error("run.failed", run=str(run.run_id), state=run.state.name, exc_info=error)
        move = await self._broken(run, f"Something went wrong inside Gaby ({type(error).__name__}).")
        await self._write(run, replace(move, audit={**move.audit, "trace": run.redact_own(trace)}))

    async def put_down(self, run: InvestigationContext) -> None:
        """Others may go on with it at once."""
        await self.dependencies.queue.give_back(run.lease)

    async def _broken(self, run: InvestigationContext, what: str) -> NextTransition:
        """Somebody is told, as of any other end. Where not even that is possible, it stops at once."""
        state = run.state
        step = TimelineStep("gaby", "Broken", what, "problem")
        if isinstance(state, Judging) and state.broken is None:
            return NextTransition(state.failed(what), (step,), rest_until=self.dependencies.clock.now())
        if isinstance(state, Judging | WritingBack | DoneState | Halted):
            return await self.dependencies.finisher.halted(run, what)
        return NextTransition(state.broken(what), (step,), rest_until=self.dependencies.clock.now())

    async def _out_of_budget(self, run: InvestigationContext, what: str) -> NextTransition:
        state = run.state
        if isinstance(state, Judging | WritingBack | DoneState | Halted):
            return await self.dependencies.finisher.halted(run, what)
        return NextTransition(state.out_of_budget(what), (TimelineStep("gaby", "Out of budget", what, "problem"),))

    async def _write(self, run: InvestigationContext, move: NextTransition) -> None:
        dependencies = self.dependencies
        now = dependencies.clock.now()
        delta = move.delta
        more: dict[str, Any] = {"seconds": round(self._worked(run), 3)}
        if len(run.tools.placeholders) != run.known_placeholders:
            more["placeholders"] = run.tools.placeholders.to_json()
        delta = delta.model_copy(update=more)
        n = run.edges + 1
        ended = isinstance(move.state, DoneState | Halted)
        payload = {"run_id": str(run.run_id), "n": n, "from": run.state.name, "to": move.state.name, **move.audit}
        event = "investigation.done" if isinstance(move.state, DoneState) else "investigation.moved"
        draft = dependencies.audit.draft(run.tools.actor, event, payload)
        edge = Transition(
            lease=run.lease,
            n=n,
            state=move.state.name,
            packed=run.sealing.seal(pack(move.state, delta)),
            at=now,
            lease_until=None if ended or move.rest_until is not None else now + dependencies.queue.lease,
            wake_at=None if ended else move.rest_until or now,
            steps=move.steps or (TimelineStep("gaby", move.state.name, kind="quiet"),),
            drafts=(draft,),
            ending=move.ending,
            also=move.also,
        )
        written = await dependencies.writer.put(edge)
        dependencies.audit.appended((draft,))
        run.memory.add(delta)
        run.state, run.edges, run.halt = move.state, n, written.halt
        run.fresh, run.failures = False, 0
        run.known_placeholders = len(run.tools.placeholders)
        run.taken_up_at = dependencies.clock.monotonic()
        self._count(run, ended=ended)

    def _count(self, run: InvestigationContext, *, ended: bool) -> None:
        if not ended:
            return
        place, metrics = str(run.workspace_id), self.dependencies.metrics
        outcome = run.state.name
        metrics.investigations.labels(workspace=place, outcome=outcome).inc()
        metrics.investigation_seconds.labels(workspace=place, outcome=outcome).observe(run.memory.seconds)
        metrics.verdicts.labels(workspace=place, verdict=run.memory.verdict or "failed").inc()

    def _worked(self, run: InvestigationContext) -> float:
        return max(0.0, self.dependencies.clock.monotonic() - run.taken_up_at)


async def _is_first(session: ReadSession, run: Investigation) -> bool:
    """Whether nobody has looked into the ticket before. An instruction is carried out once."""
    earlier = select(Investigation.id).where(
        Investigation.workspace_id == session.workspace_id,
        Investigation.ticket_id == run.ticket_id,
        Investigation.id != run.id,
        Investigation.created_at <= run.created_at,
    )
    return (await session.scalars(earlier.limit(1))).one_or_none() is None


async def _with_ticket(session: ReadSession, lease: Lease) -> tuple[Investigation, Ticket]:
    of_ticket = (Ticket.workspace_id == Investigation.workspace_id) & (Ticket.id == Investigation.ticket_id)
    mine = (Investigation.workspace_id == lease.workspace_id, Investigation.id == lease.run_id)
    rows = await session.execute(select(Investigation, Ticket).join(Ticket, of_ticket).where(*mine))
    if (row := rows.one_or_none()) is None:
        raise NotFound
    return row[0], row[1]


def _called(ticket: Ticket) -> str:
    """What a person who is asked knows it by. Of the built-in desk nobody knows the long names."""
    return ticket.reference if ticket.reference and ticket.external_id.startswith(_OWN_NAMES) else ticket.external_id
