"""What a ticket costs from intake to done, beside how many tickets are closed already.

The whole of Gaby works in one process: the sample company's back office, its handbook, and no model. The same tickets
are worked on in an empty database and beside the closed ones, so that only their number differs.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

from tests.agent.scenes import CHARGED_TWICE, LOCKED_OUT, Office, open_office
from tests.support.closed_tickets import add_closed_tickets
from tests.support.postgres import Postgres, start_postgres

from gaby.app import Gaby, build
from gaby.kernel.ids import TicketId
from gaby.migrations import upgrade
from gaby.settings import load

CLOSED = (0, 20_000, 100_000)
GROWTH = 1.05
_LEFT = (
    *("tickets", "ticket_messages", "investigations", "investigation_edges", "investigation_steps"),
    *("postings", "approvals", "llm_calls", "data_keys", "audit_rows"),
)
"""The tables in which a closed ticket leaves rows."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--tickets", type=int, default=24, help="tickets in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--closed", type=int, nargs="*", default=CLOSED)
    parser.add_argument("--engine", choices=("sqlite", "postgresql"), nargs="*", default=("sqlite", "postgresql"))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(asyncio.run(_measure(**json.loads(options.one)))))
        return 0
    told = {engine: _compare(engine, options) for engine in options.engine}
    print(json.dumps(told) if options.json else "\n".join(_shown(engine, told[engine]) for engine in told))
    return 0 if all(row["cpu_ratio"] <= GROWTH for rows in told.values() for row in rows) else 1


def _shown(engine: str, rows: list[dict[str, Any]]) -> str:
    lines = [
        f"  {row['closed']:>7,} closed: {row['per_second']:5.2f} tickets a second, {row['cpu_seconds']:.3f} seconds of "
        f"CPU a ticket, {row['cpu_ratio']:.2f} times the empty database's"
        for row in rows
    ]
    return "\n".join([f"{engine} (aim: at most {GROWTH} times the CPU)", *lines])


def _compare(engine: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Databases with different numbers of closed tickets take turns, so that a busy machine is busy for all of them."""
    found: dict[int, list[dict[str, float]]] = {closed: [] for closed in options.closed}
    for _ in range(options.rounds):
        for closed in options.closed:
            found[closed].append(_once(engine, closed, options.tickets))
    base = median(each["cpu_seconds"] for each in found[options.closed[0]])
    return [
        {
            "closed": closed,
            "per_second": median(each["per_second"] for each in rounds),
            "cpu_seconds": (cpu := median(each["cpu_seconds"] for each in rounds)),
            "cpu_ratio": round(cpu / base, 3),
        }
        for closed, rounds in found.items()
    ]


def _once(engine: str, closed: int, tickets: int) -> dict[str, float]:
    """In a process of its own, on a database of its own."""
    server: Postgres | None = start_postgres() if engine == "postgresql" else None
    try:
        with tempfile.TemporaryDirectory() as folder:
            given = {"url": server.url() if server else None, "folder": folder, "closed": closed, "tickets": tickets}
            command = [sys.executable, "-m", "benchmarks.tickets", "--one", json.dumps(given)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ})
            if done.returncode:
                sys.exit(done.stderr[-2000:])
            return json.loads(done.stdout.splitlines()[-1])
    finally:
        if server is not None:
            server.remove()


async def _measure(url: str | None, folder: str, closed: int, tickets: int) -> dict[str, float]:
    home = {"GABY_HOME": f"{folder}/home", "GABY_WORKER_MODE": "off"}
    gaby = build(load(home | ({"GABY_DATABASE_URL": url} if url else {}), env_file=None).settings)
    upgrade(gaby.database)
    async with gaby.running(background=False):
        office = await open_office(gaby, Path(folder) / "company")
        # What is loaded and learned once is no cost of a ticket. The second kind leaves an approval behind.
        last = await _process_tickets(gaby, office, 4)
        if closed:
            add_closed_tickets(gaby.database, gaby.appender, office.workspace_id, last, _LEFT, closed)
            await gaby.checkpointer.checkpoint()
        await _process_tickets(gaby, office, 2)
        began, cpu = time.perf_counter(), time.process_time()
        await _process_tickets(gaby, office, tickets)
        return {
            "per_second": tickets / (time.perf_counter() - began),
            "cpu_seconds": (time.process_time() - cpu) / tickets,
        }


async def _process_tickets(gaby: Gaby, office: Office, count: int) -> TicketId:
    """Tickets of two kinds by turns, the approvals that they ask for answered. The last one's id."""
    last = TicketId(uuid4())
    for number in range(count):
        ticket = (LOCKED_OUT, CHARGED_TWICE)[number % 2]
        last = await office.receive(replace(ticket, external_id=gaby.ids.new().hex))
    while True:
        await office.work()
        waiting = await office.waiting()
        if not waiting:
            return last
        for approval in waiting:
            await office.answer(approval, "approve")


if __name__ == "__main__":
    sys.exit(main())
