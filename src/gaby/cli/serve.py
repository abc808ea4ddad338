"""`gaby serve`: start Gaby."""

import asyncio
import os
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
import uvicorn

from gaby.api import create_app
from gaby.app import Gaby, build, configured_url, open_configured_database
from gaby.cli.output import echo, secho
from gaby.cli.runtime import read_settings
from gaby.kernel import log, tracing
from gaby.kernel.database.faults import SchemaOutdated
from gaby.kernel.errors import GabyError
from gaby.kernel.events import Event
from gaby.kernel.ids import SYSTEM
from gaby.llm.embeddings.download import are_present, download
from gaby.migrations import inspect_schema, upgrade
from gaby.settings import Settings

_DEMO_HOME = Path("var/demo")
_DRAIN_SECONDS = 10


class AddressTaken(GabyError):
    """Gaby cannot listen there. Choose another port with --port or `GABY_SERVER_PORT`."""

    exit_code = 3


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on, instead of GABY_SERVER_HOST.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = None,
    demo: Annotated[bool, typer.Option(help="With a sample company; data apart in var/demo.")] = False,
    speed: Annotated[float, typer.Option(min=0.1, max=1000, help="How fast the demo's tickets arrive.")] = 1.0,
) -> None:
    """Start Gaby. The first start makes the database and the keys, and prints a link for the first admin."""
    settings = _with_options(read_settings(), host, port, demo=demo)
    log.configure(level=settings.log.level, style=settings.log.format)
    tracing.configure(settings.telemetry.endpoint)
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    _prepare_tables(settings)
    if demo:
        _prepare_models(settings)
    listening = _listen_somewhere(settings) if demo and port is None else _listen(settings)
    bound = listening.getsockname()[1]
    public_url = configured_url(settings).replace(f":{settings.server.port}", f":{bound}")
    gaby = build(settings, public_url=public_url)
    try:
        asyncio.run(_serve(gaby, listening, speed=speed if demo else None))
    finally:
        tracing.shutdown()


async def _serve(gaby: Gaby, listening: socket.socket, *, speed: float | None) -> None:
    forget = _AdminLink(gaby)
    gaby.database.after_commit(forget.when_used)
    await forget.offer()
    echo(f"Gaby listens on {gaby.identity.public_url}", err=True)
    config = uvicorn.Config(
        create_app(gaby.api_dependencies()),
        log_config=None,
        access_log=False,
        server_header=False,
        forwarded_allow_ips=gaby.settings.server.trusted_proxies,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )
    server = _Server(config)
    shows = [asyncio.create_task(_show(gaby, server, speed), name="demo")] if speed is not None else []
    try:
        await server.serve(sockets=[listening])
    finally:
        for task in shows:
            task.cancel()
        await asyncio.gather(*shows, return_exceptions=True)


async def _show(gaby: Gaby, server: "_Server", speed: float) -> None:
    """Connect the sample company, then let tickets arrive."""
    from gaby.app.demo import TICKETS, prepare, send_tickets

    await server.ready.wait()
    try:
        actor = await prepare(gaby, lambda message: echo(f"  {message}", err=True))
        echo(_DEMO.format(count=len(TICKETS)), err=True)
        await send_tickets(gaby, actor, speed=speed)
    except GabyError as error:
        secho(f"gaby: the demo cannot go on: {error.message}", fg="red", err=True)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Stopping on request is success: uvicorn would raise the signal again, and the process would end by it."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)


_DEMO = """
  {count} tickets of a sample company arrive within a minute. Watch them being looked into, in another terminal here:
    export GABY_HOME=var/demo PATH="$PWD/.venv/bin:$PATH"
    gaby watch --all       every step of every investigation, as it happens
    gaby ticket list       the tickets and how each ended
    gaby approvals list    what waits for you: decide with `gaby approvals decide`
    gaby audit verify      does the log hold?
  Ctrl-C stops; `rm -r var/demo` forgets.
"""


class _AdminLink:
    """The one-time link: printed, and kept in a file for machines without a screen until it is used."""

    def __init__(self, gaby: Gaby) -> None:
        self._gaby = gaby
        self._file = gaby.settings.home / "admin-url.txt"

    async def offer(self) -> None:
        async with self._gaby.database.write(SYSTEM) as session:
            token = await self._gaby.identity.first_admin.issue(session)
        if token is None:
            self._file.unlink(missing_ok=True)
            return
        url = f"{self._gaby.identity.public_url}/setup?token={token}"
        self._file.unlink(missing_ok=True)
        with os.fdopen(os.open(self._file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(url + "\n")
        echo(f"\n  Create the first admin within 15 minutes (also in {self._file}):\n  {url}\n")

    async def when_used(self, event: Event) -> None:
        if event.name == "bootstrap.used":
            self._file.unlink(missing_ok=True)


def _with_options(settings: Settings, host: str | None, port: int | None, *, demo: bool) -> Settings:
    given = {name: value for name, value in {"host": host, "port": port}.items() if value is not None}
    changed = settings.model_copy(update={"server": settings.server.model_copy(update=given)})
    return (
        changed.model_copy(update={"home": _DEMO_HOME}) if demo and "home" not in settings.model_fields_set else changed
    )


def _prepare_tables(settings: Settings) -> None:
    database = open_configured_database(settings)
    if inspect_schema(database) == "current":
        return
    if not settings.database.auto_upgrade:
        raise SchemaOutdated
    upgrade(database)


def _prepare_models(settings: Settings) -> None:
    """Installed from a wheel, Gaby has no models yet, and a newcomer should need one command."""
    if not are_present(settings.models.folder):
        echo("Downloading the embedding models, about 50 MB ...", err=True)
        download(settings.models.folder)


def _listen_somewhere(settings: Settings) -> socket.socket:
    """The demo asks nothing of a newcomer, so a port in use is no reason to fail."""
    try:
        return _listen(settings)
    except AddressTaken:
        return _listen(settings.model_copy(update={"server": settings.server.model_copy(update={"port": 0})}))


def _listen(settings: Settings) -> socket.socket:
    host, port = settings.server.host, settings.server.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise AddressTaken(f"{AddressTaken().message} ({host} port {port}: {error})") from error
    return listening
