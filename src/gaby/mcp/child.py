"""A child process that talks in lines: in a process group of its own, bounded in memory, gone when told to go."""

import asyncio
import os
import signal
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

from gaby.mcp.output_tail import OutputTail

_STDIN, _STDOUT, _STDERR = 0, 1, 2

# A descendant that left the group may hold stdout open for ever after the child is gone.
_LAST_OUTPUT = 1.0
_REAP = 5.0


class LineTooLong(Exception):
    """The child sent more bytes without a line break than allowed."""


class ChildProcess(asyncio.SubprocessProtocol):
    """Lines are split where the bytes arrive, so that a message costs no task and no second buffer."""

    def __init__(
        self, tail: OutputTail, max_line: int, on_line: Callable[[bytes], bool], on_end: Callable[[], None]
    ) -> None:
        """`taken` says of a line, as soon as it is there, that nobody needs to read it any more."""
        self.tail = tail
        self.fault: LineTooLong | None = None
        self.ended = False
        self._max_line = max_line
        self._on_line = on_line
        self._on_end = on_end
        self._rest = bytearray()
        self._lines: deque[bytes] = deque()
        self._queued = 0
        self._reading_paused = False
        self._reader: asyncio.Future[None] | None = None
        self._writers: deque[asyncio.Future[None]] = deque()
        self._writing_paused = False
        self._exited = asyncio.Event()
        self._group_gone = False

    @classmethod
    async def start(
        cls, command: list[str], env: dict[str, str], cwd: Path | None, make: Callable[[], "ChildProcess"]
    ) -> "ChildProcess":
        """Raises `OSError` when the command cannot be run, `ValueError` when it holds a NUL."""
        loop = asyncio.get_running_loop()
        _, child = await loop.subprocess_exec(make, *command, env=env, cwd=cwd, start_new_session=True)
        return child

    @property
    def pid(self) -> int:
        return self._process.get_pid() or 0

    @property
    def returncode(self) -> int | None:
        return self._process.get_returncode()

    @property
    def can_write(self) -> bool:
        return not self.ended and not self._stdin.is_closing()

    @property
    def unwritten(self) -> int:
        return self._stdin.get_write_buffer_size()

    # Reading and writing.

    def take(self) -> bytes | None:
        """The next line if there is one already."""
        if not self._lines:
            return None
        line = self._lines.popleft()
        self._queued -= len(line)
        if self._reading_paused and self._queued < self._max_line // 2 and not self.ended:
            self._reading_paused = False
            self._stdout.resume_reading()
        return line

    async def wait(self) -> bool:
        """Until there is a line (true), or there will never be one again (false)."""
        while not self._lines:
            if self.ended:
                return False
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        return True

    def write(self, data: bytes) -> None:
        self._stdin.write(data)

    async def written(self) -> None:
        """Until the child has taken most of what was written."""
        while self._writing_paused and not self.ended:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._writers.append(waiter)
            await waiter

    # Ending.

    def hang_up(self) -> None:
        """Read no more from it."""
        self._lines.clear()
        self._end()

    async def stop(self, grace: float, farewell: float) -> None:
        """Close its stdin, then SIGTERM, then SIGKILL; the whole group is gone afterwards."""
        self._end()
        self._stdin.close()
        try:
            if farewell <= 0 or not await self._gone_within(min(farewell, grace)):
                self._signal(signal.SIGTERM)
                await self._gone_within(max(grace - farewell, 0.05))
        finally:
            # Also when the wait is cut short: no process outlives its connection.
            self._signal(signal.SIGKILL)
            self._process.close()
        await self._gone_within(_REAP)

    async def _gone_within(self, span: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(span):
                await self._exited.wait()
        return self._exited.is_set()

    def _signal(self, number: signal.Signals) -> None:
        # Never after the last member was killed: the number may then belong to somebody else.
        if not self._group_gone:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, number)

    # What the event loop tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._process = cast("asyncio.SubprocessTransport", transport)
        self._stdin = cast("asyncio.WriteTransport", self._process.get_pipe_transport(_STDIN))
        self._stdout = cast("asyncio.ReadTransport", self._process.get_pipe_transport(_STDOUT))
        # The child leads its group, whose number stays its own while any member lives.
        self._group = self.pid

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDERR:
            self.tail.add(data)
        elif not self.ended:
            self._split(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == _STDOUT:
            self._end()
        elif fd == _STDIN:
            self._wake_writers()

    def process_exited(self) -> None:
        self._exited.set()
        # Its own children may live on.
        self._signal(signal.SIGKILL)
        self._group_gone = True
        # Not at once: its last answer may still be in the pipe.
        asyncio.get_running_loop().call_later(_LAST_OUTPUT, self._end)

    def pause_writing(self) -> None:
        self._writing_paused = True

    def resume_writing(self) -> None:
        self._writing_paused = False
        self._wake_writers()

    def _split(self, data: bytes) -> None:
        first, newline, more = data.partition(b"\n")
        self._rest += first
        if len(self._rest) > self._max_line:
            self._too_long()
            return
        if not newline:
            return
        lines = [bytes(self._rest), *more.split(b"\n")]
        self._rest = bytearray(lines.pop())
        for line in lines:
            # Some servers send empty lines as a sign of life. No line overtakes another.
            if line and not line.isspace() and (self._lines or not self._on_line(line)):
                self._lines.append(line)
                self._queued += len(line)
        if self._queued > self._max_line and not self._reading_paused:
            self._reading_paused = True
            self._stdout.pause_reading()
        if self._lines:
            self._wake_reader()

    def _too_long(self) -> None:
        self.fault = LineTooLong()
        self.hang_up()

    def _end(self) -> None:
        if self.ended:
            return
        self.ended = True
        self._rest.clear()
        if not self._stdout.is_closing():
            # Nobody reads any more; what the child still writes fails, instead of filling our memory.
            self._stdout.close()
        self._wake_reader()
        self._wake_writers()
        self._on_end()

    def _wake_reader(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _wake_writers(self) -> None:
        while self._writers:
            waiter = self._writers.popleft()
            if not waiter.done():
                waiter.set_result(None)
