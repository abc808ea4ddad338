"""A sequence of requests to all routes: the same each time it is played, with good, foreign and hostile values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.api.routes import Endpoint
from tests.support.seeded_random import Dice

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_HOSTILE = ("0", "null", "..", "%00", "%ff", "a" * 300, "' OR 1=1 --", "{person_id}", "*", "00000000-0000-0000-0000-0")
_QUERIES: tuple[dict[str, str], ...] = (
    {},
    {"limit": "1"},
    {"limit": "500"},
    {"after": "-1"},
    {"limit": "x"},
    {"a": "b"},
)


@dataclass
class Step:
    endpoint: Endpoint
    path: str
    body: Any
    query: Mapping[str, str]
    request_id: str


@dataclass
class RequestSequence:
    """Chooses the next request. It learns ids from the answers, so that it finds its way to what exists."""

    endpoints: Sequence[Endpoint]
    dice: Dice
    bodies: Mapping[str, Any]
    foreign: Sequence[str] = ()
    known: list[str] = field(default_factory=list[str])
    steps: int = 0

    def next(self) -> Step:
        self.steps += 1
        endpoint = self.dice.pick(self.endpoints)
        path = endpoint.at(**{name: self._id() for name in endpoint.ids})
        query = dict(self.dice.pick(_QUERIES)) if endpoint.method == "GET" else {}
        if self.dice.pick((True, False, False)) and endpoint.method == "GET":
            query["after"] = self._id()
        return Step(endpoint, path, self._body(endpoint), query, f"step-{self.steps}")

    def learn(self, answer: httpx2.Response) -> None:
        self.known.extend(found for found in _UUID.findall(answer.text) if found not in self.known)

    def _id(self) -> str:
        pools = [pool for pool in (self.known, self.known, self.foreign, _HOSTILE) if pool]
        return self.dice.pick(self.dice.pick(pools))

    def _body(self, endpoint: Endpoint) -> Any:
        body = self.bodies.get(endpoint.name)
        if body is None or self.dice.pick((False, False, False, True)):
            return body
        changed = dict(body)
        for name, value in body.items():
            if isinstance(value, str) and "{step}" in value:
                changed[name] = value.replace("{step}", str(self.steps))
            elif name.endswith("_id"):
                changed[name] = self._id()
            elif name == "role":
                changed[name] = self.dice.pick(("viewer", "admin", "owner", "god"))
        return changed
