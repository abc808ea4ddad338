"""One call of a tool, from its arguments to its answer: checked, done once, made small enough, without secrets."""

import asyncio
import sys
import traceback
from collections.abc import Mapping
from typing import Any

import orjson
from mcp.types import CallToolResult, TextContent

from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.errors import ToolError, conflict, invalid, not_found
from gaby_connectors.sdk.ledger import FinishedCall, IdempotencyLedger, KeyConflict, Standing, UnfinishedCall, UnusedKey
from gaby_connectors.sdk.manifest import ERROR_META, ErrorKind, ToolErrorDetail
from gaby_connectors.sdk.scrub import Scrubber, secrets_in
from gaby_connectors.sdk.tool import Tool, WriteCall
from gaby_connectors.sdk.truncation import fit

_PASSING = (TimeoutError, ConnectionError, asyncio.IncompleteReadError)
_LONGEST_MESSAGE = 1_500


class CallHandler:
    """Everything that a running connector needs to answer calls."""

    def __init__(
        self, tools: Mapping[str, Tool], backend: Backend, ledger: IdempotencyLedger, scrubber: Scrubber
    ) -> None:
        self._tools = tools
        self._backend = backend
        self._ledger = ledger
        self._scrubber = scrubber
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}
        self._effects: set[asyncio.Task[Any]] = set()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        scrubber = self._scrubber.also(secrets_in(arguments))
        try:
            tool = self._tools.get(name)
            if tool is None:
                raise not_found(f"This connector has no tool {name[:64]!r}.")
            return _answer(await self._run(tool, arguments, scrubber))
        except ToolError as error:
            return _failure(error, scrubber)

    async def finished(self) -> None:
        """Waits for the effects that are under way, whether or not anybody still wants their answer."""
        if self._effects:
            await asyncio.wait(self._effects)

    async def _run(self, tool: Tool, arguments: Mapping[str, Any], scrubber: Scrubber) -> dict[str, Any]:
        given = dict(arguments)
        call = _write_call(tool, given)
        valid = tool.check(given)
        if not tool.writes:
            return await self._once(tool, valid, call, scrubber)
        if call.dry_run:
            if not tool.manifest.supports_dry_run:
                raise invalid(f"{tool.name} cannot show what it would do; it can only do it.")
            return await self._once(tool, valid, call, scrubber)
        # A caller who hangs up must not leave the effect half done, nor unremembered.
        effect = asyncio.create_task(self._effect(tool, valid, call, scrubber))
        self._effects.add(effect)
        effect.add_done_callback(self._effects.discard)
        return await asyncio.shield(effect)

    async def _effect(
        self, tool: Tool, valid: Mapping[str, Any], call: WriteCall, scrubber: Scrubber
    ) -> dict[str, Any]:
        key = call.idempotency_key
        if key is None:
            return await self._once(tool, valid, call, scrubber)
        lock, waiting = self._locks.get(key, (asyncio.Lock(), 0))
        self._locks[key] = (lock, waiting + 1)
        try:
            async with lock:
                return await self._remembered(key, tool, valid, call, scrubber)
        finally:
            lock, waiting = self._locks[key]
            if waiting == 1:
                del self._locks[key]
            else:
                self._locks[key] = (lock, waiting - 1)

    async def _remembered(
        self, key: str, tool: Tool, valid: Mapping[str, Any], call: WriteCall, scrubber: Scrubber
    ) -> dict[str, Any]:
        known = await self._standing(key, tool, valid)
        if known is not None:
            return known
        try:
            result = await self._once(tool, valid, call, scrubber)
        except ToolError as error:
            if error.outcome == "nothing":
                self._ledger.forget(key)
            raise
        self._ledger.finish(key, result)
        return result

    async def _standing(self, key: str, tool: Tool, valid: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer of an earlier call with this key, or nothing when it is to be done now."""
        standing: Standing = self._ledger.begin(key, tool.name, tool.canonical(valid))
        match standing:
            case UnusedKey():
                return None
            case FinishedCall(result):
                return result
            case KeyConflict(other):
                raise conflict(f"This idempotency key was used for another call of {other}. Use a new key.")
            case UnfinishedCall(started_at):
                return await self._unfinished(key, tool, started_at)

    async def _unfinished(self, key: str, tool: Tool, started_at: str) -> dict[str, Any] | None:
        if tool.repeatable:
            return None
        if tool.lookup is None:
            raise ToolError(
                ErrorKind.PERMANENT,
                f"The outcome of this call is unknown: it was begun at {started_at} and never finished. "
                "Look whether the effect is there before trying again with a new key.",
                outcome="unknown",
            )
        earlier = await tool.lookup(self._backend, key)
        if earlier is None:
            return None
        result = self._scrubber.value(earlier.model_dump(mode="json")) | {"dry_run": False}
        self._ledger.finish(key, result)
        return result

    async def _once(self, tool: Tool, valid: Mapping[str, Any], call: WriteCall, scrubber: Scrubber) -> dict[str, Any]:
        try:
            result = await tool.run(self._backend, valid, call)
        except ToolError:
            raise
        except Exception as error:
            raise self._explained(tool, error, scrubber) from error
        extra = {"dry_run": call.dry_run} if tool.writes else {}
        return fit(scrubber.value({**result, **extra}), tool.more)

    def _explained(self, tool: Tool, error: Exception, scrubber: Scrubber) -> ToolError:
        explained = self._backend.explain(error)
        if isinstance(explained, ToolError):
            return explained
        sys.stderr.write(scrubber.text("".join(traceback.format_exception(error))))
        passing = isinstance(error, _PASSING)
        kind = ErrorKind.TRANSIENT if passing else ErrorKind.PERMANENT
        # The text of a foreign error can hold anything; its kind is enough, and the log has the rest.
        return ToolError(kind, f"{tool.name} failed: {type(error).__name__}.", outcome="unknown")


def _write_call(tool: Tool, given: dict[str, Any]) -> WriteCall:
    """Takes the arguments that every write has out of the others."""
    if not tool.writes:
        return WriteCall()
    key = given.pop("idempotency_key", None)
    dry_run = given.pop("dry_run", False)
    if key is not None and not (isinstance(key, str) and 1 <= len(key) <= 200):
        raise invalid("Bad arguments: `idempotency_key` must be a text of 1 to 200 characters.")
    if not isinstance(dry_run, bool):
        raise invalid("Bad arguments: `dry_run` must be true or false.")
    return WriteCall(dry_run=dry_run, idempotency_key=key)


def _answer(result: dict[str, Any]) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=orjson.dumps(result).decode())], structured_content=result, is_error=False
    )


def _failure(error: ToolError, scrubber: Scrubber) -> CallToolResult:
    message = scrubber.text(error.message)[:_LONGEST_MESSAGE]
    detail = ToolErrorDetail(kind=error.kind, message=message, retry_after=error.retry_after)
    meta = detail.model_dump(mode="json", exclude_none=True)
    if error.outcome == "unknown":
        meta["outcome"] = "unknown"
    return CallToolResult(content=[TextContent(text=message)], is_error=True, _meta={ERROR_META: meta})
