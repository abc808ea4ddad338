"""What a scripted model answers, and how its answer arrives."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

from gaby.llm.providers.names import vendor_name

Stop = Literal["end", "tools", "length", "refusal"]


class Gate:
    """Holds the server back until the test lets it go on, one permit at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._permits = 0
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def release(self, permits: int = 1) -> None:
        with self._lock:
            self._permits += permits
            for loop, event in self._waiting:
                loop.call_soon_threadsafe(event.set)

    async def passed(self) -> None:
        event = asyncio.Event()
        entry = (asyncio.get_running_loop(), event)
        with self._lock:
            self._waiting.append(entry)
        try:
            while not self._take():
                await event.wait()
                event.clear()
        finally:
            with self._lock:
                self._waiting.remove(entry)

    def _take(self) -> bool:
        with self._lock:
            taken = self._permits > 0
            self._permits -= taken
            return taken


@dataclass(frozen=True)
class Call:
    name: str
    arguments: str = "{}"
    """As the model wrote them, which need not be JSON."""
    id: str | None = None


@dataclass(frozen=True)
class Reply:
    """An answer with status 200. The wire format is the vendor's, whatever the content."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: Stop | None = None
    """Unless said, what follows from the content."""
    model: str | None = None
    usage: Mapping[str, Any] | None = None
    """The vendor's own fields, said in place of the right ones."""
    thoughts: str = ""
    limited: bool = True
    """Whether it stops at the number of tokens that it may use."""
    held: Gate | None = None
    """Nothing is sent before one permit of it."""
    paced: Gate | None = None
    """Each event of a stream needs a permit."""
    hang_after: int | None = None
    """After so many events nothing more is sent, and the connection stays."""
    cut_after: int | None = None
    """After so many events it is over; -1 is before the last one. A whole answer is cut in its middle."""
    abrupt: bool = False
    """Whether the cut breaks the connection, or ends the response as if all were well."""
    pings: int = 0
    """How many signs of life come after the first event."""
    endless: bool = False
    """Whether nothing but signs of life follows, until the client is gone. In a whole answer these are spaces."""
    failure: str | None = None
    """In a stream: an error event of this type takes the place of the event where it would be cut, or comes first."""

    @property
    def stopped(self) -> Stop:
        return self.stop or ("tools" if self.calls else "end")


@dataclass(frozen=True)
class Status:
    """The vendor's error, with its usual body unless another is given."""

    status: int
    message: str = "Something is wrong."
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None


@dataclass(frozen=True)
class Body:
    """Any bytes as the body of a response."""

    body: bytes
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Garbage:
    """Bytes that are no HTTP at all. None of them means that the connection is closed at once."""

    data: bytes = b"\x00\xff not HTTP\r\n\r\n"


AnyReply = Reply | Status | Body | Garbage


def calls(*wanted: Call, text: str = "") -> Reply:
    return Reply(text, calls=wanted)


def call(name: str, arguments: Mapping[str, Any] | None = None, *, use_id: str | None = None) -> Call:
    """A call of a tool by our name of it, which the model knows by the vendor's."""
    return Call(vendor_name(name), json.dumps(arguments or {}), use_id)


def structured(data: object) -> Reply:
    return Reply(json.dumps(data))


def refusal(text: str = "I cannot help with that.") -> Reply:
    return Reply(text, stop="refusal")


def hang() -> Reply:
    """Says nothing, until the client is gone."""
    return Reply("too late", held=Gate())


def redirect(url: str, status: int = 307) -> Status:
    return Status(status, headers={"Location": url}, body=b"")


def html() -> Body:
    return Body(b"<!doctype html><title>Sign in</title><p>Please sign in to the network.", "text/html; charset=utf-8")
