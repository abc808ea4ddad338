"""What a forked process does: set a place up, or carry on whatever is due and then tell what is there."""

import asyncio
import os
import signal
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from gaby.app import Gaby, build
from gaby.kernel import failpoints, log
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.clock import SystemClock
from gaby.kernel.ids import SYSTEM, ApprovalId, WorkspaceId
from gaby.settings import load
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.tools.approvals import ApprovalDecision
from tests.agent.chaos import bugs
from tests.agent.chaos.facts import gather_facts
from tests.agent.chaos.outside_desk import open_outside_desk
from tests.agent.chaos.places import add_places
from tests.agent.chaos.scenarios import SCENARIOS, advertising, furnish

_ROUNDS = 12
_MOST_TURNS = 60
"""So often may something be due before it must be going round in circles."""


class LaterClock(SystemClock):
    """Shows a later time, so that whatever a dead process held is free."""

    def __init__(self, by: timedelta) -> None:
        self._by = by
        self._skipped = 0.0

    def now(self) -> datetime:
        return super().now() + self._by

    def monotonic(self) -> float:
        return super().monotonic() + self._skipped

    def skip(self, seconds: float) -> None:
        self._skipped += seconds


def run(errand: Mapping[str, Any]) -> Any:
    log.configure(level="warning", style="json")
    if "desk" in errand:
        open_outside_desk(errand["desk"], Path(errand["folder"]))
    add_places()
    bugs.plant(errand.get("bug"))
    return asyncio.run(_run(errand))


async def _run(errand: Mapping[str, Any]) -> Any:
    given = {
        "GABY_DATABASE_URL": errand["url"],
        "GABY_HOME": errand["home"],
        "GABY_WORKER_MODE": "off",
        "GABY_LOG_LEVEL": "warning",
        **errand.get("settings", {}),
    }
    clock = LaterClock(timedelta(minutes=errand.get("later", 0)))
    gaby = build(load(given, env_file=None).settings, clock=clock)
    folder = Path(errand["folder"])
    async with gaby.running(background=False):
        if errand["do"] == "prepare":
            return await _prepare(gaby, errand, folder)
        if errand.get("later"):
            # Seen twice in the time of a lease, without a sign of life in between.
            await gaby.agent.queue.release_dead()
            clock.skip(gaby.agent.queue.lease.total_seconds())
            await gaby.agent.queue.release_dead()
        _arm(errand)
        actor = await _operator(gaby)
        if "receive" in errand:
            await _add(gaby, actor, SCENARIOS[errand["receive"]].ticket)
        for number in range(errand.get("advertising", 0)):
            await _add(gaby, actor, advertising(number))
        if errand.get("nudges"):
            await _nudge(gaby, actor)
        elif errand["do"] == "work":
            await _process_due(gaby, actor, answers_first=errand.get("answers_first", False))
        elif errand.get("answers_first"):
            await _agree(gaby, actor)
        failpoints.configure(None)
        return await gather_facts(gaby, actor.workspace_id, errand["place"], folder)


class _Forgetful(set[str]):
    """So that every hit of a place is recorded, and not only the first."""

    def __contains__(self, _: object) -> bool:
        return False


def _arm(errand: Mapping[str, Any]) -> None:
    told = errand.get("failpoints", "")
    if "trace" not in errand:
        failpoints.configure(told)
        if errand.get("stops"):
            _stop_instead_of_delays()
        return
    failpoints.configure(f"{told},record:{errand['trace']}")
    vars(failpoints)["_armed"][0].seen = _Forgetful()


def _stop_instead_of_delays() -> None:
    """The process stands still at the place until somebody wakes it up, however long that takes."""
    plan = vars(failpoints)["_armed"][0]
    hit = plan.hit

    def stopping(name: str) -> failpoints.FailpointAction | None:
        action = hit(name)
        if action is not None:
            os.kill(os.getpid(), signal.SIGSTOP)
        return action

    plan.hit = stopping


async def _prepare(gaby: Gaby, errand: Mapping[str, Any], folder: Path) -> None:
    async with gaby.database.write(SYSTEM) as session:
        made = await gaby.identity.workspaces.create(session, system_actor("test"), slug="chaos", name="Chaos")
    actor = system_actor("operator", WorkspaceId(made.id))
    await furnish(gaby, actor, errand["place"], folder, errand["door"])
    for name in errand["scenarios"]:
        await _add(gaby, actor, SCENARIOS[name].ticket)


async def _add(gaby: Gaby, actor: Actor, ticket: IncomingTicket) -> None:
    async with gaby.database.write(actor.workspace_id) as session:
        await gaby.tickets.add(session, actor, ticket)


async def _operator(gaby: Gaby) -> Actor:
    async with gaby.database.read(SYSTEM) as session:
        [place] = [each for each in await gaby.identity.workspaces.all(session) if each.slug == "chaos"]
    return system_actor("operator", WorkspaceId(place.id))


async def _process_due(gaby: Gaby, operator: Actor, *, answers_first: bool) -> None:
    """Everything that is due. An operator agrees to whatever waits."""
    if answers_first:
        await _agree(gaby, operator)
    for _ in range(_ROUNDS):
        await _everything_due(gaby)
        if not await _agree(gaby, operator):
            return


async def _nudge(gaby: Gaby, operator: Actor) -> None:
    """Everything that is due; then somebody wants whatever waits to be taken up at once, and answers nothing."""
    await _everything_due(gaby)
    async with gaby.database.write(operator.workspace_id) as session:
        for run in await gaby.agent.list(session, "open"):
            await gaby.agent.resume(session, operator, run.id)
    await _everything_due(gaby)


async def _everything_due(gaby: Gaby) -> None:
    turns = 0
    while await gaby.runner.run_one():
        turns += 1
        if turns > _MOST_TURNS:
            raise RuntimeError("the same is due again and again")


async def _agree(gaby: Gaby, operator: Actor) -> bool:
    async with gaby.database.read(operator.workspace_id) as session:
        waiting = await gaby.tools.approvals.list(session)
    for approval in waiting:
        async with gaby.database.write(operator.workspace_id) as session:
            await gaby.tools.decide_approval(session, operator, ApprovalId(approval.id), ApprovalDecision("approve"))
    return bool(waiting)
