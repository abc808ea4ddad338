"""The API does what its description says, whatever it is sent."""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import load_all_checks

from gaby.identity import Role
from gaby.kernel.actors import Permission
from tests.kernel.web import served
from tests.support.app_client import World

# The library's own types are generic over what it does not say.
_schemathesis: Any = schemathesis
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
)
# Each try of these counts as a guess at a password.
SLOW = {"POST /api/session", "POST /api/session/password"}
# They are about a browser's own sign-in.
OWN = re.compile(r"/api/(session|sign-ins)")

Headers = Callable[[], dict[str, str]]
Statuses = dict[str, set[int]]


def try_everything(
    description: dict[str, Any], url: str, browser: Headers, program: Headers, examples: int
) -> Statuses:
    """The statuses that each operation gave. Good values come from a browser, bad ones from a program if it may."""
    load_all_checks()
    checks = _schemathesis.checks.CHECKS.get_by_names(list(CHECKS))
    modes = _schemathesis.GenerationMode
    seen: Statuses = {}
    for result in _schemathesis.openapi.from_dict(description).get_all_operations():
        operation = result.ok()
        statuses = seen[operation.label] = set[int]()
        try_operation(operation, modes.POSITIVE, url, browser(), checks, statuses, examples)
        if operation.body or list(operation.iter_parameters()):
            headers = browser() if OWN.search(operation.label) else program()
            try_operation(operation, modes.NEGATIVE, url, headers, checks, statuses, examples)
    return seen


def try_operation(
    operation: Any, mode: Any, url: str, headers: dict[str, str], checks: list[Any], seen: set[int], examples: int
) -> None:
    @settings(
        max_examples=min(3, examples) if operation.label in SLOW else examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(operation.as_strategy(generation_mode=mode))
    def attempt(case: Any) -> None:
        seen.add(case.call_and_validate(base_url=url, headers=headers, checks=checks).status_code)

    attempt()


# The stricter of the two: it refuses texts that SQLite would take.
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.slow
@pytest.mark.parametrize("examples", [3, pytest.param(30, marks=pytest.mark.exhaustive)])
@pytest.mark.promise("P3")
async def test_every_operation_keeps_to_its_description(world: World, examples: int) -> None:
    acme = await world.workspace("acme")
    ada = await world.person("ada@acme.example", (acme, Role.OWNER), manages_installation=True)
    key = await world.key(acme, *Permission)
    loop = asyncio.get_running_loop()

    def browser() -> dict[str, str]:
        # Anew for each operation, since some of them end the sign-in they are called with.
        entered = asyncio.run_coroutine_threadsafe(world.enter(ada), loop).result()
        cookies = entered.client.cookies.items()
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies), "X-CSRF-Token": entered.csrf}

    def program() -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"}

    description = world.app.openapi()
    async with served(world.app) as url:
        seen = await asyncio.to_thread(try_everything, description, url, browser, program, examples)
    assert len(seen) == sum(len(methods) for methods in description["paths"].values())
    # Otherwise it would only have shown that strangers are turned away.
    assert not {label for label, statuses in seen.items() if statuses <= {401, 403} and label not in SLOW}
    assert {200, 201, 404, 422} <= set[int]().union(*seen.values())


async def test_errors_are_described_once_and_referred_to(world: World) -> None:
    description = world.app.openapi()
    problems = description["components"]["responses"]
    referred = [
        response["$ref"].removeprefix("#/components/responses/")
        for path in description["paths"].values()
        for operation in path.values()
        for response in operation["responses"].values()
        if "$ref" in response
    ]
    assert set(referred) == set(problems)
    assert "Problem" in description["components"]["schemas"]
    assert json.dumps(description).count("Stable; match on this.") == 1
    assert world.app.openapi() is description
