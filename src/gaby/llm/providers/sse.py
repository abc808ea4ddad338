"""Server-sent events out of bytes, as far as they come."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

import httpx2

from gaby.llm.errors import AnswerUnreadable

_LONGEST_EVENT = 8_000_000


@dataclass(frozen=True)
class ServerSentEvent:
    """One event, or a comment, which only says that somebody is still there."""

    name: str
    data: str


ALIVE = ServerSentEvent("", "")


async def events(response: httpx2.Response) -> AsyncGenerator[ServerSentEvent]:
    """Only events that were ended by an empty line. What a broken stream left unfinished is not one."""
    decoder = SseDecoder()
    async with aclosing(response.aiter_bytes()) as chunks:
        async for chunk in chunks:
            for event in decoder.feed(chunk):
                yield event


class SseDecoder:
    """Splits at line ends only, whatever else Unicode regards as one: JSON may contain it."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._searched = 0
        self._name = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        self._rest += chunk
        events: list[ServerSentEvent] = []
        while (end := self._rest.find(b"\n", self._searched)) >= 0:
            line = bytes(self._rest[:end])
            del self._rest[: end + 1]
            self._searched = 0
            events += self._line(line.removesuffix(b"\r"))
        self._searched = len(self._rest)
        if self._searched + self._size > _LONGEST_EVENT:
            raise AnswerUnreadable("The provider sent an event that is too long to be part of an answer.")
        return events

    def _line(self, line: bytes) -> list[ServerSentEvent]:
        if not line:
            return self._ended()
        if line.startswith(b":"):
            return [ALIVE]
        field, _, value = line.partition(b":")
        text = _text(value.removeprefix(b" "))
        if field == b"event":
            self._name = text
        elif field == b"data":
            self._data.append(text)
            self._size += len(value)
        return []

    def _ended(self) -> list[ServerSentEvent]:
        event = ServerSentEvent(self._name, "\n".join(self._data))
        had_data = bool(self._data)
        self._name, self._data, self._size = "", [], 0
        return [event] if had_data else []


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise AnswerUnreadable("The provider's answer is not valid UTF-8.") from None
