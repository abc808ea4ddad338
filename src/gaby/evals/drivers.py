"""Drivers: who carries an investigation from its ticket to its end. Gaby's own loop is one; peers are others."""

import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import NamedTuple

from gaby.agent.memory import WorkingMemory
from gaby.agent.models import Investigation
from gaby.agent.run_loader import load
from gaby.agent.states import WaitingApproval
from gaby.app import Gaby
from gaby.evals.case_workspace import CaseWorkspace
from gaby.evals.environment import EvalEnvironment
from gaby.evals.fixtures import Fixture, OperatorFile
from gaby.evals.played_run import PlayedCall, PlayedPosting, PlayedRun, PlayedStep
from gaby.kernel.actors import Actor
from gaby.kernel.errors import Conflict
from gaby.kernel.ids import ApprovalId, TicketId
from gaby.mind import shown
from gaby.mind.tool_names import short_name
from gaby.tools.approvals import ApprovalDecision
from gaby.tools.models import Approval

Driver = Callable[[CaseWorkspace, Fixture, TicketId], Awaitable[PlayedRun]]
_ROUNDS = 40
_SOURCE_CHARACTERS = 12_000
_NEVER = timedelta(days=2)
"""Longer than any approval waits."""


class DriverResult(NamedTuple):
    """What a driver itself knows of an ended run."""

    memory: WorkingMemory
    verdict: str
    asked: tuple[PlayedCall, ...] = ()
    timeline: tuple[PlayedStep, ...] = ()
    posted: tuple[PlayedPosting, ...] = ()
    seconds: float = 0.0


async def gabys_loop(scene: CaseWorkspace, fixture: Fixture, ticket_id: TicketId) -> PlayedRun:
    """The loop that is shipped, through the same doors that a worker uses."""
    begin = time.perf_counter()
    run = await investigate(scene.stage, scene.actor, ticket_id, lambda: answer_approvals(scene, fixture.operator))
    seconds = time.perf_counter() - begin
    memory = await _recall(scene, ticket_id, run)
    return recount(scene, memory._replace(seconds=seconds))


async def investigate(
    stage: EvalEnvironment, actor: Actor, ticket_id: TicketId, answer: Callable[[], Awaitable[bool]]
) -> Investigation | None:
    """Through the same queue and runner as a worker, until nothing is left to do or nobody answers what waits."""
    gaby = stage.gaby
    run = await _latest(gaby, actor, ticket_id)
    for _ in range(_ROUNDS):
        if run is None or run.wake_at is None:
            break
        claimed = await gaby.agent.queue.claim_one("evaluation", actor.workspace_id, run.typed_id)
        if claimed is None:
            raise Conflict(f"Somebody else carries the run {run.id} on.")
        await gaby.runner.carry_on(claimed)
        answered = await answer()
        run = await _latest(gaby, actor, ticket_id)
        if not answered and not _pass_time(stage, run):
            break
    return run


def _pass_time(stage: EvalEnvironment, run: Investigation | None) -> bool:
    """Whether it only waited for a limit, which has passed now."""
    if run is None or run.wake_at is None or run.state != "acting":
        return False
    stage.clock.advance(max(timedelta(0), run.wake_at - stage.clock.now()))
    return True


async def _latest(gaby: Gaby, actor: Actor, ticket_id: TicketId) -> Investigation | None:
    async with gaby.database.read(actor.workspace_id) as session:
        return await gaby.agent.latest_of(session, ticket_id)


async def answer_approvals(scene: CaseWorkspace, operator: OperatorFile) -> bool:
    """Whether there was something to answer. Where nobody ever does, time passes."""
    async with scene.gaby.database.read(scene.actor.workspace_id) as session:
        waiting: Sequence[Approval] = await scene.gaby.tools.approvals.list(session)
    for approval in waiting:
        decision = operator.on(approval.tool)
        if decision != "never":
            async with scene.gaby.database.write(scene.actor.workspace_id) as session:
                answer = ApprovalDecision(decision, operator.reason)
                await scene.gaby.tools.decide_approval(session, scene.actor, ApprovalId(approval.id), answer)
    if any(operator.on(approval.tool) == "never" for approval in waiting):
        scene.stage.clock.advance(_NEVER)
        await scene.gaby.tools.expire_approvals()
    return bool(waiting)


async def _recall(scene: CaseWorkspace, ticket_id: TicketId, run: Investigation | None) -> DriverResult:
    """From what is on disk, so that the judge sees what an operator would find."""
    gaby = scene.gaby
    async with gaby.database.read(scene.actor.workspace_id) as session:
        ticket = await gaby.tickets.intake.get(session, ticket_id)
        if run is None:
            return DriverResult(WorkingMemory(), ticket.status)
        loaded = await load(session, gaby.vault, run)
        asked = [
            PlayedCall(short_name(call.tool), dict(call.arguments), "write", "asked")
            async for edge in gaby.agent.replay(session, run)
            if isinstance(edge.state, WaitingApproval)
            for call in edge.state.calls
        ]
        steps = await gaby.agent.steps(session, run.id)
        written = await gaby.tickets.intake.written(session, ticket)
    return DriverResult(
        loaded.memory,
        run.verdict or run.state,
        tuple(asked),
        tuple(PlayedStep(each.system, each.action, each.detail, each.kind) for each in steps),
        tuple(PlayedPosting(each.body, each.private) for each in written.messages if each.author == "gaby"),
    )


def recount(scene: CaseWorkspace, result: DriverResult) -> PlayedRun:
    memory = result.memory
    sources = {each.citation: each.text for each in memory.passages}
    sources |= {
        call.citation: shown(call.result, _SOURCE_CHARACTERS)
        for call in memory.calls
        if call.outcome == "done" and call.result is not None
    }
    calls = tuple(
        PlayedCall(short_name(call.tool), call.arguments, call.access, call.outcome, call.reason)
        for call in memory.calls
    )
    return PlayedRun(
        verdict=result.verdict,
        reasons=tuple(memory.reasons),
        posted=result.posted,
        calls=calls,
        asked=result.asked,
        effects=scene.effects(),
        sources=sources,
        cited=memory.cited or "",
        timeline=result.timeline,
        iterations=memory.iterations,
        seconds=round(result.seconds, 3),
        tokens=memory.tokens,
        nano_usd=memory.nano_usd,
    )
