"""Every route of the application, as the tests that must not forget one see them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from gaby.kernel.http.access import SignedIn

_ACTOR = get_args(SignedIn)[1].dependency


@dataclass(frozen=True, order=True)
class Endpoint:
    method: str
    path: str
    knows_the_actor: bool

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def ids(self) -> list[str]:
        return re.findall(r"\{(\w+)\}", self.path)

    def at(self, **values: object) -> str:
        return self.path.format(**values)


def endpoints(app: FastAPI) -> list[Endpoint]:
    return sorted(_traverse(app))


def _traverse(app: FastAPI) -> Iterator[Endpoint]:
    for route in iter_route_contexts(app.routes):
        dependant = getattr(route, "dependant", None)
        for method in (route.methods or set()) - {"HEAD"}:
            yield Endpoint(method, route.path or "", dependant is not None and _asks_who(dependant))


def _asks_who(dependant: Any) -> bool:
    return dependant.call is _ACTOR or any(_asks_who(inner) for inner in dependant.dependencies)
