"""The queue under load on Postgres: tickets in, claims out, beside bare Procrastinate jobs; one tenant beside another.

A claim here is what a worker does for a run that ends at once: claim it, write one edge. A bare job is fetched and
finished by Procrastinate, with the same payload and as many at once.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import procrastinate
import psycopg
from procrastinate.schema import SchemaManager
from sqlalchemy import func, select
from tests.support.postgres import start_postgres

from gaby.agent.loop import InvestigationLoop
from gaby.agent.models import Investigation
from gaby.agent.planning_step import PlanningStep
from gaby.agent.queue import ClaimedRun
from gaby.agent.run_context import InvestigationContext, NextTransition
from gaby.agent.states import Created
from gaby.agent.transitions import Ending, TimelineStep
from gaby.app import Gaby, build
from gaby.kernel.actors import system_actor
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.migrations import upgrade
from gaby.settings import load
from gaby.tickets.canonical_ticket import IncomingTicket

_AT_ONCE = 16
_BODY = "The till shows an error when we print the daily report, since this morning. " * 6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--tickets", type=int, default=10_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], help="how many at once, in turn")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        asyncio.run(_run_worker(options.worker))
        return 0
    if options.peer:
        asyncio.run(_peer_work(options.peer))
        return 0
    server = start_postgres()
    try:
        with tempfile.TemporaryDirectory() as folder:
            told = asyncio.run(_measure(server.url(), Path(folder), options.tickets, options.workers))
    finally:
        server.remove()
    print(json.dumps(told) if options.json else _shown(told))
    return 0 if told["lost"] == 0 else 1


def _shown(told: dict[str, Any]) -> str:
    lines = [f"{told['tickets']:,} tickets in: {told['intake_per_second']:,.0f} a second, {told['lost']} lost"]
    for count, rate in told["claims_per_second"].items():
        peer = told["procrastinate_per_second"][count]
        lines.append(
            f"{count} workers: {rate:,.0f} claims a second, {rate / peer:.2f} times bare Procrastinate ({peer:,.0f})"
        )
    lines.append(f"the other workspace's one ticket started after {told['other_started_after']} of the others")
    return "\n".join(lines)


async def _measure(url: str, folder: Path, tickets: int, workers: list[int]) -> dict[str, Any]:
    gaby = _gaby(url, folder)
    upgrade(gaby.database)
    peer_url = url.rpartition("/")[0] + "/peer"
    async with gaby.running(background=False):
        places = await _places(gaby, "crowded", "quiet")
        begun = time.perf_counter()
        await _take_in(gaby, places[0], tickets)
        intake = tickets / (time.perf_counter() - begun)
        await _take_in(gaby, places[1], 1)
        after = await _other_started(gaby, places[1])
        rates: dict[int, float] = {}
        peers: dict[int, float] = {}
        for count in workers:
            share = tickets // 4
            rates[count] = await _drain(gaby, url, count, share)
            peers[count] = await _drain_peer(peer_url, url, count, share)
        await _drain(gaby, url, max(workers), tickets)
        async with gaby.database.read(AllWorkspaces("the benchmark counts all")) as session:
            ended = select(func.count()).where(Investigation.wake_at.is_(None))
            done = (await session.scalars(ended)).one()
    return {
        "tickets": tickets,
        "intake_per_second": intake,
        "lost": tickets + 1 - done,
        "other_started_after": after,
        "claims_per_second": rates,
        "procrastinate_per_second": peers,
    }


def _gaby(url: str, folder: Path) -> Gaby:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    values = {"GABY_HOME": str(home), "GABY_DATABASE_URL": url, "GABY_WORKER_LEASE": "10m"}
    return build(load(values, env_file=None).settings)


async def _places(gaby: Gaby, *slugs: str) -> list[WorkspaceId]:
    async with gaby.database.write(SYSTEM) as session:
        made = [
            await gaby.identity.workspaces.create(session, system_actor("benchmark"), slug=slug, name=slug)
            for slug in slugs
        ]
    return [WorkspaceId(each.id) for each in made]


async def _take_in(gaby: Gaby, workspace_id: WorkspaceId, count: int) -> None:
    numbers = iter(range(count))
    actor = system_actor("benchmark", workspace_id)

    async def some() -> None:
        for number in numbers:
            async with gaby.database.write(workspace_id) as session:
                await gaby.tickets.add(session, actor, IncomingTicket(str(number), f"Till {number}", _BODY))

    # The desk itself is made by the first of them.
    async with gaby.database.write(workspace_id) as session:
        await gaby.tickets.desks.inbox(session, actor)
    await asyncio.gather(*(some() for _ in range(_AT_ONCE)))


async def _other_started(gaby: Gaby, quiet: WorkspaceId) -> int:
    """How many of the crowded workspace were claimed before the quiet one's ticket was. They are given back."""
    claimed: list[ClaimedRun] = []
    while len(claimed) < 1000 and (not claimed or claimed[-1].lease.workspace_id != quiet):
        claimed += await gaby.agent.queue.claim("benchmark", 1)
    for each in claimed:
        await gaby.agent.queue.give_back(each.lease)
    return len(claimed) - 1


class _Ends:
    """Every run ends at its first edge, so that only claiming and writing are measured."""

    async def begin(self, run: InvestigationContext, state: Created) -> NextTransition:
        ending = Ending(verdict="skipped", finished_at=run.created_at)
        return NextTransition(state.halted("measured"), (TimelineStep("gaby", "Halted"),), ending=ending)

    def hear_ticket(self, run: InvestigationContext) -> None:
        pass


async def _run_worker(told: str) -> None:
    """One worker process: claims until its share is done, and says how many it did."""
    given = json.loads(told)
    gaby = _gaby(given["url"], Path(given["folder"]))
    async with gaby.running(background=False):
        dependencies = gaby.agent.loop.dependencies
        loop = InvestigationLoop(replace(dependencies, planning_step=cast("PlanningStep", _Ends())))
        done = 0
        print("ready", flush=True)
        sys.stdin.readline()
        while done < given["share"]:
            claimed = await gaby.agent.queue.claim(f"worker {given['number']}", min(_AT_ONCE, given["share"] - done))
            if not claimed:
                break
            runs = await asyncio.gather(*(loop.resume(each) for each in claimed))
            await asyncio.gather(*(loop.run(each) for each in runs))
            done += len(claimed)


async def _drain(gaby: Gaby, url: str, workers: int, count: int) -> float:
    folder = str(gaby.settings.home.parent)
    given = [
        json.dumps({"url": url, "folder": folder, "share": count // workers, "number": number})
        for number in range(workers)
    ]
    return await asyncio.to_thread(_timed, [["--worker", each] for each in given], count // workers * workers)


def _timed(arguments: list[list[str]], count: int) -> float:
    """Processes that are ready begin together; the rate is of all of them."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.queue", *each], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for each in arguments
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
    begun = time.perf_counter()
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in started:
        assert process.wait(600) == 0
    return count / (time.perf_counter() - begun)


def _peer_app(url: str) -> procrastinate.App:
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, max_size=_AT_ONCE))

    async def nothing(ticket: str, body: str) -> None:
        pass

    app.task(name="nothing")(nothing)
    return app


async def _drain_peer(peer_url: str, url: str, workers: int, count: int) -> float:
    await asyncio.to_thread(_peer_database, url, peer_url)
    app = _peer_app(peer_url)
    async with app.open_async():
        for first in range(0, count, 500):
            jobs: list[dict[str, Any]] = [
                {"ticket": str(first + n), "body": _BODY} for n in range(min(500, count - first))
            ]
            await app.configure_task("nothing").batch_defer_async(*jobs)
    return await asyncio.to_thread(_timed, [["--peer", peer_url]] * workers, count)


def _peer_database(url: str, peer_url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS peer WITH (FORCE)")
        connection.execute("CREATE DATABASE peer")
    with psycopg.connect(peer_url) as connection:
        connection.execute(SchemaManager.get_schema().encode())


async def _peer_work(url: str) -> None:
    app = _peer_app(url)
    async with app.open_async():
        print("ready", flush=True)
        sys.stdin.readline()
        await app.run_worker_async(
            concurrency=_AT_ONCE, wait=False, install_signal_handlers=False, delete_jobs="always"
        )


if __name__ == "__main__":
    sys.exit(main())
