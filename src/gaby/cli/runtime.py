"""How commands get at Gaby: settings read, logs on stderr, services built, work done in one event loop."""

import asyncio
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from getpass import getuser
from typing import TypeVar

from gaby.app import Gaby, build, prepare_installation, require_installation
from gaby.cli.output import echo, secho
from gaby.identity.models import Workspace
from gaby.kernel import failpoints, log
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import NotFound
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.settings import Settings, load

T = TypeVar("T")


def read_settings() -> Settings:
    loaded = load()
    for warning in loaded.warnings:
        secho(f"warning: {warning}", fg="yellow", err=True)
    failpoints.configure(loaded.settings.failpoints)
    return loaded.settings


def run(action: Callable[[Gaby], Awaitable[T]], settings: Settings | None = None, *, fresh: bool = True) -> T:
    """Do something with a Gaby whose database is up to date. Talk goes to stderr, so that stdout is only data.

    `fresh`: a home that is not there yet is made. What proves something would then prove it of nothing.
    """
    settings = settings or read_settings()
    log.configure(level="warning", style=settings.log.format, stream=sys.stderr)
    try:
        return asyncio.run(_run(action, settings, fresh=fresh))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _run(action: Callable[[Gaby], Awaitable[T]], settings: Settings, *, fresh: bool) -> T:
    _stop_at_once(asyncio.current_task())
    if not fresh:
        require_installation(settings)
    elif prepare_installation(settings):
        # Said, since a misspelt GABY_HOME would otherwise look like an installation that has lost everything.
        echo(f"This is a new installation, at {settings.home.absolute()}.", err=True)
    gaby = build(settings)
    async with gaby.running(background=False):
        return await action(gaby)


def _stop_at_once(task: "asyncio.Task[object] | None") -> None:
    """A Ctrl-C that comes just as the loop goes to sleep would be heeded only when something else wakes it up."""
    if task is not None and threading.current_thread() is threading.main_thread():
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)


def operator(workspace_id: WorkspaceId = SYSTEM) -> Actor:
    """Whoever sits at this machine's keyboard. They hold the keys and the database, so nothing is refused them."""
    try:
        name = getuser()
    except (KeyError, OSError):
        name = "unknown"
    return system_actor(f"command line, {name}", workspace_id)


async def choose_workspace(gaby: Gaby, session: ReadSession, slug: str | None) -> Workspace:
    """The named workspace, that of `GABY_WORKSPACE`, or the only one. A fresh installation gets its first one."""
    wanted = slug or gaby.settings.workspace
    if wanted is not None:
        workspace = await gaby.workspaces.find(session, wanted)
        if workspace is None:
            named_by = "" if slug else " GABY_WORKSPACE names it."
            raise NotFound(f"There is no workspace {wanted}.{named_by} `gaby workspace list` shows them.")
        return workspace
    everyone = await gaby.workspaces.all(session)
    if not everyone:
        return await _first_workspace(gaby, session)
    if len(everyone) != 1:
        slugs = ", ".join(each.slug for each in everyone[:5]) + (", ..." if len(everyone) > 5 else "")
        raise NotFound(f"There are several workspaces: {slugs}. Say which with --workspace or GABY_WORKSPACE.")
    return everyone[0]


async def _first_workspace(gaby: Gaby, session: ReadSession) -> Workspace:
    if isinstance(session, WriteSession):
        return await gaby.workspaces.main(session, operator())
    async with gaby.database.write(SYSTEM) as write:
        return await gaby.workspaces.main(write, operator())
