"""Questions that Gaby asks a server over stdio by itself. Through the SDK each costs three times as much.

The SDK still shakes hands, lists the tools and listens; its questions and these have numbers of their own.
"""

import asyncio
import re
from typing import Any, cast

from mcp_types import CONNECTION_CLOSED, ErrorData
from pydantic import ValidationError
from pydantic_core import from_json

_FIRST = 1_000_000_000
"""The SDK counts from one and never comes so far."""

_ID = re.compile(rb'"id"\s{0,8}:\s{0,8}([0-9]{10,19})\b')
_EDGE = 300
"""Bytes at either end of a line in which its number is looked for, where the line as a whole cannot be read."""

Answer = dict[str, Any]


class UnreadableAnswer(Exception):
    """An answer came that is no JSON, or is nested more deeply than is read."""


class PendingRequests:
    """Numbers them, and hands each answer to whoever waits for it."""

    def __init__(self) -> None:
        self._waiting: dict[int, asyncio.Future[Answer | ErrorData]] = {}
        self._given_up: set[int] = set()
        self._last = _FIRST

    def new(self) -> tuple[int, asyncio.Future[Answer | ErrorData]]:
        self._last += 1
        waiting = self._waiting[self._last] = asyncio.get_running_loop().create_future()
        return self._last, waiting

    def give_up(self, number: int) -> None:
        """Its answer, should it still come, is of no interest."""
        if self._waiting.pop(number, None) is not None:
            self._given_up.add(number)

    def was_asked(self, number: object) -> bool:
        return isinstance(number, int) and _FIRST < number <= self._last

    def take(self, line: bytes) -> bool:
        """Whether the line was an answer that somebody waits for. All else is for others to judge."""
        if not self._waiting:
            return False
        try:
            message = from_json(line)
        except ValueError:
            return self._unreadable(line)
        if not isinstance(message, dict):
            return False
        fields = cast("dict[str, Any]", message)
        number, result = fields.get("id"), fields.get("result")
        if type(number) is not int or number not in self._waiting or fields.get("jsonrpc") != "2.0":
            return False
        if isinstance(result, dict) and "error" not in fields:
            return self.answer(number, cast("Answer", result))
        return "result" not in fields and self._refusal(number, fields.get("error"))

    def answer(self, number: int, answer: Answer | ErrorData) -> bool:
        """Whether it was the first answer, be it wanted or not."""
        waiting = self._waiting.pop(number, None)
        if waiting is None:
            known = number in self._given_up
            self._given_up.discard(number)
            return known
        # One that was cancelled is done already, and gives up in its next turn.
        if not waiting.done():
            waiting.set_result(answer)
        return True

    def _unreadable(self, line: bytes) -> bool:
        """Whoever waits for it is told at once, and does not wait until the time is up."""
        ids = {int(each) for each in _ID.findall(line[:_EDGE] + b" " + line[-_EDGE:])} & self._waiting.keys()
        if len(ids) != 1:
            return False
        waiting = self._waiting.pop(ids.pop())
        if not waiting.done():
            waiting.set_exception(UnreadableAnswer())
        return True

    def close(self) -> None:
        """No answer will come any more."""
        for number in tuple(self._waiting):
            self.answer(number, ErrorData(code=CONNECTION_CLOSED, message="Connection closed"))

    def _refusal(self, number: int, error: object) -> bool:
        try:
            return self.answer(number, ErrorData.model_validate(error))
        except ValidationError:
            return False
