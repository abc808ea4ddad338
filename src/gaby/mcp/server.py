"""The keeper of one server: starts it on first use, starts it again when it fails, and gives up when that is no use."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from gaby.kernel.clock import Clock
from gaby.kernel.errors import GabyError
from gaby.kernel.ids import Random
from gaby.kernel.log import get_log
from gaby.mcp.definitions import ServerDefinitions
from gaby.mcp.errors import (
    ConnectorError,
    ConnectorShutDown,
    ConnectorStartFailed,
    ConnectorStartTimedOut,
    ConnectorTimedOut,
    ConnectorUnavailable,
)
from gaby.mcp.failures import RestartBackoff
from gaby.mcp.launch import HttpLaunch, Launch, ServerKey
from gaby.mcp.limits import HostLimits
from gaby.mcp.listeners import Listeners
from gaby.mcp.results import ConnectionLost
from gaby.mcp.states import ServerLifecycle, ServerState, StateChange

if TYPE_CHECKING:
    from gaby.mcp.connection import ServerConnection

_log = get_log(__name__)

_BETWEEN_REFRESHES = 0.2


class ServerStatus(NamedTuple):
    """What an operator sees of a server."""

    key: ServerKey
    state: ServerState
    since: datetime
    reason: str
    in_flight: int
    recent_failures: int
    pid: int | None
    bad_lines: int
    fingerprint: str | None
    """Of the tools as they were last seen."""
    history: Sequence[StateChange]


class ServerSupervisor:
    """One task, the owner, holds the connection; calls come from any task."""

    def __init__(
        self, key: ServerKey, launch: Launch, clock: Clock, random: Random, limits: HostLimits, listeners: Listeners
    ) -> None:
        self.key = key
        self.launch = launch
        self.limits = limits
        self.definitions: ServerDefinitions | None = None
        self._clock = clock
        self._listeners = listeners
        self._life = ServerLifecycle(clock, limits.kept_moves, lambda move: listeners.moved(key, move))
        self._owner: asyncio.Task[None] | None = None
        self._link: ServerConnection | None = None
        self._last_link: ServerConnection | None = None
        self._attempt: asyncio.Future[ServerConnection | GabyError] | None = None
        self._waiting = 0
        self._failures = RestartBackoff(key.connector, clock, random, limits)
        self._used_at = clock.monotonic()
        self._pinged_at = clock.monotonic()
        self._refusing = False
        self._stopping = False

    @property
    def state(self) -> ServerState:
        return self._life.state

    def status(self) -> ServerStatus:
        link, history = self._last_link, self._life.history
        stdio = link.stdio if link else None
        return ServerStatus(
            self.key,
            self._life.state,
            self._life.since,
            history[-1].reason if history else "",
            link.in_flight if link else 0,
            self._failures.recent,
            stdio.pid if stdio and self.live_link() else None,
            stdio.bad_lines if stdio else 0,
            self.definitions.fingerprint if self.definitions else None,
            history,
        )

    def logs(self) -> str:
        stdio = self._last_link.stdio if self._last_link else None
        return stdio.tail.text() if stdio else ""

    # Use.

    async def link(self) -> "ServerConnection":
        """The live connection; starts the server when there is none. Raises when there can be none now."""
        while True:
            if self._refusing:
                raise ConnectorShutDown(connector=self.key.connector)
            if (link := self.live_link()) is not None:
                return link
            self._wake()
            if self._attempt is None:
                self._attempt = asyncio.get_running_loop().create_future()
            self._waiting += 1
            try:
                # Shielded, so that one who gives up does not take the others with him.
                outcome = await asyncio.shield(self._attempt)
            finally:
                self._waiting -= 1
            if isinstance(outcome, GabyError):
                # A copy for each who waited: an exception carries the trace of who raised it.
                raise copy(outcome)

    def live_link(self) -> "ServerConnection | None":
        """The connection if there is one now, for those who need not wait."""
        link = self._link
        return link if link is not None and link.usable and not self._refusing else None

    def begin(self, link: "ServerConnection") -> None:
        """A call is under way. Whoever says so says `finish` afterwards, whatever happens."""
        link.in_flight += 1
        link.quiet.clear()
        if self._link is link and self._life.state is ServerState.READY:
            self._life.move(ServerState.BUSY)

    def finish(self, link: "ServerConnection") -> None:
        link.in_flight -= 1
        self._used_at = self._clock.monotonic()
        if link.in_flight == 0:
            link.quiet.set()
            if self._link is link and not link.ended and self._life.state is ServerState.BUSY:
                self._life.move(ServerState.READY)

    # Care.

    async def check(self) -> None:
        """Ping it if it is due, and stop it if nobody uses it."""
        link, now = self._link, self._clock.monotonic()
        if link is None or not link.usable:
            return
        if link.in_flight == 0 and now - self._used_at >= self.limits.idle_stop:
            link.end(None)
            # Not for the owner to leave: a use in the meantime makes it stay.
            await link.closed.wait()
        elif isinstance(self.launch, HttpLaunch) and now - self._pinged_at >= self.limits.ping_every:
            self._pinged_at = now
            try:
                await link.ping()
            except ConnectionLost as lost:
                link.end(lost.cause)
            except ConnectorError as error:
                link.end(error)

    def refuse(self) -> None:
        """Take no new calls from now on."""
        self._refusing = True

    async def stop(self, reason: str) -> None:
        """Let the calls under way finish for a while, then end the process. For good."""
        self.refuse()
        if self._stopping:
            await self._settled()
            return
        self._stopping = True
        link = self._link
        if link is not None:
            loop = asyncio.get_running_loop()
            ends_at = loop.time() + self.limits.drain
            with suppress(TimeoutError):
                async with asyncio.timeout_at(ends_at):
                    await link.quiet.wait()
            link.end(None, grace=ends_at - loop.time())
        elif self._owner is not None:
            # Starting, or waiting to start again: there is nothing to finish.
            self._owner.cancel()
        await self._settled()
        self._life.move(ServerState.SHUTDOWN, reason)
        self._answer(ConnectorShutDown(connector=self.key.connector))

    async def _settled(self) -> None:
        if self._owner is not None:
            await asyncio.wait([self._owner])

    # The owner.

    def _wake(self) -> None:
        if self._owner is not None and not self._owner.done():
            return
        if self._life.state is ServerState.DEGRADED:
            self._failures.another_try()
            self._life.move(ServerState.RESTARTING, "used again after a pause")
        else:
            self._life.move(ServerState.LAUNCHING, "used")
        self._owner = asyncio.create_task(self._own(), name=f"connector {self.key.connector}")
        self._owner.add_done_callback(self._left)

    def _left(self, owner: asyncio.Task[None]) -> None:
        """Whatever ended the owner, nobody waits for what will not come."""
        if not owner.cancelled() and (error := owner.exception()) is not None:
            _log.error("connector.owner_failed", connector=self.key.connector, exc_info=error)
        # A use may have brought a new owner already.
        if owner is self._owner:
            kind = ConnectorShutDown if self._stopping else ConnectorUnavailable
            self._answer(kind(connector=self.key.connector))

    async def _own(self) -> None:
        while True:
            failure = await self._live()
            if self._stopping:
                return
            if failure is None:
                self._life.move(ServerState.CONFIGURED, "nobody used it")
                if not self._waiting:
                    return
                self._life.move(ServerState.LAUNCHING, "used")
            elif self._failures.hopeless(failure):
                self._failures.give_up()
                self._life.move(ServerState.DEGRADED, failure.message)
                self._answer(self._failures.why())
                return
            else:
                self._life.move(ServerState.RESTARTING, failure.message)
                await asyncio.sleep(self._failures.pause())

    async def _live(self) -> ConnectorError | None:
        """From the start of the server to its end: why it failed, or nothing when it was asked to end."""
        # Loading the SDK takes a second and 40 MB, which those do not pay who have no connectors. In a thread, so that
        # others can work in the meantime.
        await asyncio.to_thread(import_module, "gaby.mcp.handshake")
        from gaby.mcp.connection import ServerConnection
        from gaby.mcp.handshake import open_link

        link = self._last_link = ServerConnection(self.key.connector, self.launch, self.limits)
        try:
            async with open_link(link, self.launch, self.limits):
                await self._learned(link)
                self._link = link
                self._used_at = self._pinged_at = self._clock.monotonic()
                self._life.move(ServerState.READY, "handshake done")
                self._answer(link)
                await self._serve(link)
                # Now, and not after the process was brought to its end, which takes its time.
                self._link = None
                self._note(link.failure)
        except ConnectorError as error:
            self._note(error)
            self._answer(error)
            return error
        finally:
            self._link = None
        self._note(link.failure)
        return link.failure

    async def _serve(self, link: "ServerConnection") -> None:
        while not link.ended:
            await link.stirred.wait()
            link.stirred.clear()
            if link.tools_changed and not link.ended:
                await self._refresh(link)
                # A server that tells of a change at every listing is listened to now and then.
                await asyncio.sleep(_BETWEEN_REFRESHES)

    async def _refresh(self, link: "ServerConnection") -> None:
        try:
            async with asyncio.timeout(self.limits.start_timeout):
                await link.list_tools()
                await self._learned(link)
        except TimeoutError:
            link.end(ConnectorTimedOut(f"{self.key.connector} did not list its tools.", connector=self.key.connector))
        except ConnectionLost as lost:
            link.end(lost.cause)
        except ConnectorError as error:
            link.end(error)

    async def _learned(self, link: "ServerConnection") -> None:
        """Nobody uses the tools before those who watch over them have seen them."""
        if link.definitions is None:
            return
        self.definitions = link.definitions
        try:
            await self._listeners.learned(self.key, link.definitions)
        except ConnectorError:
            raise
        except GabyError as error:
            message = f"The tools of {self.key.connector} could not be checked: {error.message}"
            raise ConnectorStartFailed(message, connector=self.key.connector) from error

    def _note(self, failure: ConnectorError | None) -> None:
        if failure is None or self._stopping or self._life.state in (ServerState.CRASHED, ServerState.TIMEOUT):
            return
        self._failures.note(failure)
        slow = isinstance(failure, ConnectorTimedOut | ConnectorStartTimedOut)
        self._life.move(ServerState.TIMEOUT if slow else ServerState.CRASHED, failure.message)

    def _answer(self, outcome: "ServerConnection | GabyError") -> None:
        attempt, self._attempt = self._attempt, None
        if attempt is not None and not attempt.done():
            attempt.set_result(outcome)
