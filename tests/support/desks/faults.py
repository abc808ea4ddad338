"""What can go wrong with one answer of a scripted desk."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from tests.support.models.http_server import Exchange, Received

JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Trouble:
    """For the next request with this method whose path ends so."""

    method: str
    path_ends: str
    what: Literal["lose", "cut", "answer"] = "answer"
    """`lose` does what was asked and hangs up; `cut` does it and sends half of the answer; `answer` does nothing."""
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b"{}"

    def fits(self, received: Received) -> bool:
        return received.method == self.method and received.path.endswith(self.path_ends)


HTML = b"<!doctype html><title>Sign in</title><p>Please sign in to the network.</p>"


class Troubles:
    def __init__(self) -> None:
        self.coming: list[Trouble] = []

    def take(self, received: Received) -> Trouble | None:
        found = next((trouble for trouble in self.coming if trouble.fits(received)), None)
        if found:
            self.coming.remove(found)
        return found


async def answer_with(exchange: Exchange, trouble: Trouble | None, status: int, answer: Any, **headers: str) -> None:
    """The answer of a request that was done, unless something happens to it on its way."""
    body = b"" if answer is None else orjson.dumps(answer)
    if trouble and trouble.what == "lose":
        exchange.abort()
        return
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    await exchange.send(status, {**JSON, **named}, body, cut=bool(trouble and trouble.what == "cut"))
