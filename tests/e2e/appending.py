"""Appends audit rows from many tasks and says which were acknowledged, until somebody kills it."""

import asyncio
import sys

from gaby.app import build
from gaby.audit import AuditLog
from gaby.kernel import failpoints
from gaby.kernel.actors import system_actor
from gaby.kernel.errors import GabyError
from gaby.kernel.ids import SYSTEM
from gaby.settings import load

TASKS, ROWS = 16, 12


async def main() -> None:
    settings = load(env_file=None).settings
    failpoints.configure(settings.failpoints)
    gaby = build(settings)
    async with gaby.running():
        await asyncio.gather(*(_append(gaby.audit, number) for number in range(TASKS)))
    sys.stdout.write("finished\n")


async def _append(audit: AuditLog, number: int) -> None:
    for step in range(ROWS):
        try:
            row = await audit.append(SYSTEM, system_actor(f"task {number}"), "test.row", {"step": step})
        except GabyError:
            continue
        sys.stdout.write(f"{row.id}\n")
        sys.stdout.flush()


asyncio.run(main())
