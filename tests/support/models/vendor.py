"""What the scripted vendors have in common: a checked question, an error in their words, a stream of events."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, cast

import orjson

from tests.support.models.billing import Bill, Block, count, shortened
from tests.support.models.http_server import Received
from tests.support.models.replies import Call, Reply, Status

Told = Literal["nothing", "begun", "all"]


class Problem(Exception):
    """The vendor refuses the request."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message


@dataclass(frozen=True)
class Asked:
    model: str
    stream: bool
    most_tokens: int
    blocks: Sequence[Block]
    reports_usage: bool = True
    """Whether a stream ends with what it costs."""


@dataclass(frozen=True)
class Sent:
    """One event, and what the client knows of the bill when it has it."""

    data: bytes
    told: Told = "nothing"


class Vendor(Protocol):
    name: str
    tells_at_first: bool
    """Whether the first event of a stream says what the prompt costs."""

    def check(self, received: Received, key: str, models: frozenset[str]) -> Asked:
        """Raises a `Problem` for whatever the real one would refuse."""
        ...

    def whole(self, asked: Asked, reply: Reply, bill: Bill) -> dict[str, Any]: ...

    def events(self, asked: Asked, reply: Reply, bill: Bill) -> list[Sent]: ...

    def problem(self, problem: Problem) -> dict[str, Any]: ...

    def status(self, status: Status) -> dict[str, Any]: ...

    def failure(self, kind: str) -> Sent: ...

    def ping(self) -> Sent: ...


def within(reply: Reply, most: int) -> Reply:
    """The reply as far as the tokens go that it may use."""
    if not reply.limited or output_tokens(reply) <= most:
        return reply
    text = shortened(reply.text, most)
    left = most - count(text)
    kept: list[Call] = []
    for each in reply.calls:
        if left <= 0:
            break
        kept.append(replace(each, arguments=shortened(each.arguments, left)))
        left -= count(each.arguments)
    return replace(reply, text=text, calls=tuple(kept), stop="length")


def output_tokens(reply: Reply) -> int:
    return count(reply.text) + count(reply.thoughts) + sum(count(each.arguments) for each in reply.calls)


def pieces(text: str) -> list[str]:
    size = max(12, len(text) // 100)
    return [text[start : start + size] for start in range(0, len(text), size)]


def dumped(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def items(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def demand(condition: object, message: str, kind: str = "invalid_request_error", status: int = 400) -> None:
    if not condition:
        raise Problem(status, kind, message)


def bearer(received: Received) -> str:
    return received.headers.get("authorization", "").removeprefix("Bearer ")
