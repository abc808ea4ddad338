"""Rules about the process: how fast it starts, what it survives, and how it ends."""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, ClassVar

from mcp.client.stdio import get_default_environment

from gaby_connectors.contract.rule import CheckResult, ProcessRule, RuleBase, failed, passed, result_of
from gaby_connectors.contract.target import StdioTarget, UnsolicitedOutput

STOP_SECONDS = 10.0
_PATIENCE = 30.0
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "gaby-contract", "version": "1.0.0"},
}


class Process:
    """A server that is talked to line by line, without a client that would hide what it does."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("the process must be started with pipes")
        self._process = process
        self._input, self._output = process.stdin, process.stdout
        self._number = 0

    async def say(self, text: str) -> None:
        self._input.write(text.encode() + b"\n")
        await self._input.drain()

    async def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer to a request. Raises `EOFError` when the server is gone and `TimeoutError` when it is silent."""
        self._number += 1
        await self.say(json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params or {}}))
        return await asyncio.wait_for(self._answer(self._number), _PATIENCE)

    async def greet(self) -> dict[str, Any]:
        answer = await self.ask("initialize", _HELLO)
        await self.say(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        return answer

    def hang_up(self) -> None:
        self._input.close()

    def terminate(self) -> None:
        self._process.terminate()

    async def ends_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._process.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _answer(self, number: int) -> dict[str, Any]:
        while line := await self._output.readline():
            try:
                message: dict[str, Any] = json.loads(line)
            except ValueError:
                continue
            if message.get("id") == number and "method" not in message:
                return message
        raise EOFError


@asynccontextmanager
async def started(target: StdioTarget) -> AsyncGenerator[Process]:
    process = await asyncio.create_subprocess_exec(
        *target.command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=get_default_environment() | dict(target.env),
        limit=16 * 1024 * 1024,
        start_new_session=True,
    )
    try:
        yield Process(process)
    finally:
        # It may have ended by itself, without anybody having noticed yet.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        if process.stdin is not None:
            process.stdin.close()
        await process.communicate()


class StartsQuickly(RuleBase):
    id: ClassVar[str] = "initialize"
    title: ClassVar[str] = "Starts and answers `initialize` in time"
    fix: ClassVar[str] = (
        "Import and connect later, on first use; run the command by hand to see what it says on stderr."
    )

    def __init__(self, within: float) -> None:
        self._within = within

    async def check(self, target: StdioTarget) -> CheckResult:
        """Tried up to three times, since a busy machine says nothing about the server."""
        fastest = float("inf")
        for _ in range(3):
            begun = time.monotonic()
            try:
                async with started(target) as process:
                    answer = await process.greet()
                    fastest = min(fastest, time.monotonic() - begun)
            except (OSError, EOFError, TimeoutError) as error:
                return failed(f"it does not start: {type(error).__name__} {error}".strip())
            if "result" not in answer:
                return failed(f"initialize is answered with an error: {answer.get('error')}")
            if fastest <= self._within:
                return passed(f"{fastest:.1f} s")
        return failed(f"{fastest:.1f} s, which is more than {self._within:g} s")


class SurvivesGarbage(ProcessRule):
    id: ClassVar[str] = "survives_garbage"
    title: ClassVar[str] = "Survives lines that are no JSON and methods that it does not know"
    fix: ClassVar[str] = "Skip what cannot be read, answer unknown methods with error -32601, and go on."

    async def check(self, target: StdioTarget, heard: UnsolicitedOutput, secrets: Sequence[str]) -> CheckResult:
        async with started(target) as process:
            try:
                await process.greet()
                for garbage in ("this is no JSON", "{", '{"jsonrpc": "2.0", "id": {}, "method": 7}', "[]", '"text"'):
                    await process.say(garbage)
                unknown = await process.ask("gaby/no_such_method")
                tools = await process.ask("tools/list")
            except (OSError, EOFError, TimeoutError) as error:
                return failed(f"it is gone afterwards ({type(error).__name__})")
        problems = [] if "error" in unknown else ["an unknown method is answered with a result"]
        problems += [] if "result" in tools else ["tools/list fails afterwards"]
        return result_of(problems, "still answers")


class Stops(ProcessRule):
    id: ClassVar[str] = "stops"
    title: ClassVar[str] = "Ends in time when its input closes, and on SIGTERM"
    fix: ClassVar[str] = "End when stdin is closed, and do not ignore SIGTERM; finish what is under way within 8 s."

    def __init__(self, within: float = STOP_SECONDS) -> None:
        self._within = within

    async def check(self, target: StdioTarget, heard: UnsolicitedOutput, secrets: Sequence[str]) -> CheckResult:
        try:
            seen = await asyncio.gather(self._ends(target, Process.hang_up), self._ends(target, Process.terminate))
        except (OSError, EOFError, TimeoutError) as error:
            return failed(f"it does not start a second time ({type(error).__name__})")
        ways = ("its input closed", "SIGTERM")
        late = [
            f"it still runs {self._within:g} s after {how}" for how, ended in zip(ways, seen, strict=True) if not ended
        ]
        return result_of(late, "both")

    async def _ends(self, target: StdioTarget, how: Callable[[Process], None]) -> bool:
        async with started(target) as process:
            await process.greet()
            how(process)
            return await process.ends_within(self._within)


class CleanStdout(ProcessRule):
    id: ClassVar[str] = "clean_stdout"
    title: ClassVar[str] = "Nothing but JSON-RPC on stdout"
    fix: ClassVar[str] = "Print and log to stderr; stdout belongs to the protocol."

    async def check(self, target: StdioTarget, heard: UnsolicitedOutput, secrets: Sequence[str]) -> CheckResult:
        return result_of([f"{len(heard.stray)} lines are no JSON-RPC"] if heard.stray else [], "nothing else")
