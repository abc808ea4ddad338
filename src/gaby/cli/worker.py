"""`gaby worker`: carry investigations on, beside other workers on this and other machines."""

import asyncio
import signal
import time
from itertools import chain, repeat

from gaby.app import Gaby, build, require_installation
from gaby.cli.output import echo
from gaby.cli.runtime import read_settings
from gaby.kernel import log, tracing
from gaby.kernel.errors import Unavailable
from gaby.settings import Settings

_PAUSES = chain((1.0, 2.0, 4.0, 8.0), repeat(15.0))


def worker() -> None:
    """Carry investigations on, beside other workers. Needs Postgres; SIGTERM lets the present moves finish."""
    settings = read_settings()
    log.configure(level=settings.log.level, style=settings.log.format)
    tracing.configure(settings.telemetry.endpoint)
    try:
        for pause in _PAUSES:
            try:
                asyncio.run(_work(_built(settings)))
            except Unavailable as error:
                # Machines are often started together, the database's the last.
                echo(f"{error.message} The next try is in {pause:g} s.", err=True)
                time.sleep(pause)
            else:
                return
    finally:
        tracing.shutdown()


def _built(settings: Settings) -> Gaby:
    require_installation(settings)
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    return build(settings)


async def _work(gaby: Gaby) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    try:
        async with gaby.work_for_others():
            echo(f"A worker with {gaby.runner.slots} slots; Ctrl-C ends it.", err=True)
            await stopped.wait()
            echo("Finishing the present moves ...", err=True)
    except Unavailable:
        if not stopped.is_set():
            raise
