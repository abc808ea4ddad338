"""`gaby worker`: carry investigations on, beside other workers on this and other machines."""

import asyncio
import signal

from gaby.app import Gaby, build
from gaby.cli.opening import read_settings
from gaby.cli.printing import echo
from gaby.kernel import log, tracing
from gaby.kernel.database.faults import SchemaOutdated
from gaby.migrations import inspect_schema


def worker() -> None:
    """Carry investigations on, beside other workers. Needs Postgres; SIGTERM lets the present moves finish."""
    settings = read_settings()
    log.configure(level=settings.log.level, style=settings.log.format)
    tracing.configure(settings.telemetry.endpoint)
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    gaby = build(settings)
    if inspect_schema(gaby.database) != "current":
        raise SchemaOutdated
    try:
        asyncio.run(_work(gaby))
    finally:
        tracing.shutdown()


async def _work(gaby: Gaby) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with gaby.work_for_others():
        echo(f"A worker with {gaby.runner.slots} slots; Ctrl-C ends it.", err=True)
        await stopped.wait()
        echo("Finishing the present moves ...", err=True)
