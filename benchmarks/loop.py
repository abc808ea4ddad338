"""What one transition of an investigation costs, snapshot, timeline and audit together, beside LangGraph's."""

import argparse
import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from gaby.agent.loop import InvestigationLoop
from gaby.agent.memory import CallRecord, MemoryDelta, TicketView
from gaby.agent.planning_step import PlanningStep
from gaby.agent.run_context import InvestigationContext, NextTransition
from gaby.agent.states import Acting, Created, Halted, Observing, Planning, SafetyCheck
from gaby.agent.tool_step import ToolStep
from gaby.agent.transitions import Ending, TimelineStep
from gaby.agent.verdict_step import VerdictStep
from gaby.app import Gaby, build
from gaby.kernel.actors import system_actor
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.migrations import upgrade
from gaby.settings import load
from gaby.tickets.canonical_ticket import IncomingTicket

STEPS = 10
PEER = Path(".venv-peers/bin/python")
TICKET = {"title": "Locked out again", "body": "I changed my password this morning, and now I am locked out. " * 15}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--python", type=Path, default=PEER, help="of an environment with langgraph; `make peers`")
    parser.add_argument("--no-peer", action="store_true", help="leave LangGraph out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ours = asyncio.run(_ours(Path(folder), options.runs))
        peer = None if options.no_peer else _peer(options.python, Path(folder), options.runs)
    if peer is None:
        print(json.dumps({"gaby": ours}))
        return 0
    told: dict[str, Any] = {
        "gaby": ours,
        "langgraph": peer,
        "cpu_ratio": round(ours["cpu_ms"] / peer["cpu_ms"], 2),
        "bytes_ratio": round(ours["bytes"] / peer["bytes"], 2),
    }
    if options.json:
        print(json.dumps(told))
        return 0
    print(f"one transition, {options.runs} runs of {STEPS} steps")
    for name in ("gaby", "langgraph"):
        print(f"  {name:10} {told[name]['cpu_ms']:6.2f} ms of CPU, {told[name]['bytes']:8,.0f} bytes")
    print(
        f"  {told['cpu_ratio']} times the CPU (aim: at most 1.0), {told['bytes_ratio']} times the bytes (at most 0.5)"
    )
    return 0


def script() -> list[dict[str, Any]]:
    """Ten calls to tools, each with a result of some 600 characters."""
    return [
        {
            "tool": f"company.tool_{number}",
            "arguments": {"user_id": f"usr_{number:03}", "only_failed": True},
            "result": {
                "logins": [
                    {
                        "at": f"2030-01-02T0{n}:15:00Z",
                        "ok": False,
                        "reason": "bad_password",
                        "address": f"198.51.100.{n}",
                    }
                    for n in range(6)
                ]
            },
        }
        for number in range(STEPS)
    ]


class _Scripted:
    """Thinks and acts by the script, so that only what a transition costs is measured."""

    def __init__(self, calls: list[dict[str, Any]]) -> None:
        self._calls = calls

    async def begin(self, run: InvestigationContext, state: Created) -> NextTransition:
        view = TicketView(title=TICKET["title"], body=TICKET["body"], requester="nora@lanternfish.example")
        return NextTransition(
            state.started(), (TimelineStep("gaby", "Started", "about getting in"),), MemoryDelta(ticket=view)
        )

    async def plan(self, run: InvestigationContext, state: Planning) -> NextTransition:
        if run.edges >= STEPS - 1:
            return NextTransition(
                state.halted("the end"), (TimelineStep("gaby", "Done"),), ending=Ending(finished_at=run.created_at)
            )
        return NextTransition(
            state.propose(()), (TimelineStep("gaby", "Plans", "To see what is the case."),), self._delta(run)
        )

    async def check(self, run: InvestigationContext, state: SafetyCheck) -> NextTransition:
        return NextTransition(
            state.allowed(()), (TimelineStep("safety", "Allowed", "company.list_logins"),), self._delta(run)
        )

    async def act(self, run: InvestigationContext, state: Acting) -> NextTransition:
        return NextTransition(
            state.acted(), (TimelineStep("company", "list_logins", "user_id=usr_001", "read"),), self._delta(run)
        )

    def observe(self, run: InvestigationContext, state: Observing) -> NextTransition:
        return NextTransition(state.observed(), (TimelineStep("gaby", "Observes"),), self._delta(run))

    def hear_ticket(self, run: InvestigationContext) -> None:
        pass

    def _delta(self, run: InvestigationContext) -> MemoryDelta:
        call = self._calls[run.edges]
        record = CallRecord(
            id=UUID(int=run.edges),
            number=run.edges,
            tool=call["tool"],
            arguments=call["arguments"],
            access="read",
            outcome="done",
            result=call["result"],
        )
        return MemoryDelta(calls=(record,))


async def _ours(folder: Path, runs: int) -> dict[str, float]:
    settings = load({"GABY_HOME": str(folder / "home")}, env_file=None).settings
    gaby = build(settings)
    upgrade(gaby.database)
    async with gaby.running(background=False):
        async with gaby.database.write(SYSTEM) as session:
            made = await gaby.identity.workspaces.main(session, system_actor("benchmark"))
        workspace_id = WorkspaceId(made.id)
        loop = _scripted(gaby)
        for number in range(runs + 1):
            async with gaby.database.write(workspace_id) as session:
                ticket = IncomingTicket(str(number), TICKET["title"], TICKET["body"])
                await gaby.tickets.add(session, system_actor("benchmark", workspace_id), ticket)
        claimed = await gaby.agent.queue.claim("benchmark", runs + 1)
        waiting = [await loop.resume(each) for each in claimed]
        await loop.run(waiting[0])
        database = folder / "home" / "gaby.db"
        before = _size(database)
        begun = time.process_time()
        for run in waiting[1:]:
            assert isinstance(await loop.run(run), Halted)
        spent = time.process_time() - begun
        grown = _size(database) - before
    return {"cpu_ms": spent / (runs * STEPS) * 1000, "bytes": grown / (runs * STEPS)}


def _scripted(gaby: Gaby) -> InvestigationLoop:
    scripted = _Scripted(script())
    dependencies = gaby.agent.loop.dependencies
    return InvestigationLoop(
        replace(
            dependencies,
            planning_step=cast("PlanningStep", scripted),
            tool_step=cast("ToolStep", scripted),
            judge=cast("VerdictStep", scripted),
        )
    )


def _size(path: Path) -> int:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        (free,) = database.execute("PRAGMA freelist_count").fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    return (pages - free) * size


def _peer(python: Path, folder: Path, runs: int) -> dict[str, float]:
    told = folder / "script.json"
    told.write_text(json.dumps({"ticket": TICKET, "calls": script()}))
    command = [str(python), "benchmarks/peers/langgraph_loop.py", str(folder), str(runs), str(told)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"The peer could not be run; `make peers` sets it up.\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main())
