"""What belongs to another workspace looks exactly like what does not exist."""

from collections.abc import Awaitable, Callable
from itertools import product
from typing import Any

import httpx2
import pytest

from gaby.identity import Role
from gaby.kernel.actors import Permission
from tests.api.routes import Endpoint, endpoints
from tests.api.scenes import Things, bodies, make_things
from tests.support.app_client import World
from tests.support.database_dump import requested_rows

pytestmark = pytest.mark.promise("P4")

SAME = {"X-Request-ID": "same"}
Ask = Callable[[str, str, Any], Awaitable[httpx2.Response]]


def combinations(endpoint: Endpoint, mine: Things, theirs: Things) -> list[dict[str, object]]:
    """Every mix of own and foreign ids but the one that is all my own."""
    mixes = [dict(zip(endpoint.ids, mix, strict=True)) for mix in product(("own", "foreign"), repeat=len(endpoint.ids))]
    return [
        {name: (mine if whose == "own" else theirs).ids[name] for name, whose in mix.items()}
        for mix in mixes
        if "foreign" in mix.values()
    ]


def response_parts(answer: httpx2.Response) -> tuple[int, bytes, list[tuple[str, str]]]:
    return answer.status_code, answer.content, sorted(answer.headers.multi_items())


async def test_a_foreign_id_gets_the_answer_of_a_random_one(world: World) -> None:
    acme, globex = await world.workspace("acme"), await world.workspace("globex")
    ada = await world.member("ada@acme.example", acme, Role.OWNER)
    mine = await make_things(world, acme, "mine", of=ada)
    theirs = await make_things(world, globex, "theirs")
    key = await world.key(acme, *Role.OWNER.permissions)
    sample = bodies(acme, "x")
    # A desk that knocks is told the same whatever id it names.
    with_ids = [each for each in endpoints(world.app) if each.ids and each.name != "GET /api/webhooks/desks/{desk_id}"]
    assert len(with_ids) >= 8
    async with world.program(key, headers=SAME) as program:

        async def by_browser(method: str, path: str, body: Any) -> httpx2.Response:
            return await ada.send(method, path, body, headers=SAME)

        async def by_key(method: str, path: str, body: Any) -> httpx2.Response:
            return await program.request(method, path, json=body)

        asks: list[Ask] = [by_browser, by_key]
        await by_key("GET", "/api/people", None)  # Notes the key's use, which is written once a minute.
        before = await requested_rows(world.gaby)
        for endpoint in with_ids:
            body = sample.get(endpoint.name)
            for ids in combinations(endpoint, mine, theirs):
                random = {
                    name: world.gaby.ids.new() if value == theirs.ids[name] else value for name, value in ids.items()
                }
                for ask in asks:
                    foreign = await ask(endpoint.method, endpoint.at(**ids), body)
                    unknown = await ask(endpoint.method, endpoint.at(**random), body)
                    assert foreign.status_code in {401, 404}, (endpoint.name, foreign.text)
                    assert response_parts(foreign) == response_parts(unknown), endpoint.name
        for workspace_id in (globex, world.gaby.ids.new()):
            answer = await by_browser("POST", "/api/session/workspace", {"workspace_id": str(workspace_id)})
            assert answer.status_code == 404
        assert await requested_rows(world.gaby) == before


async def test_the_installations_own_log_is_nobodys_to_read(world: World) -> None:
    """Its workspace id is known to everybody: it is zero."""
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.OWNER)
    zero = "00000000-0000-0000-0000-000000000000"
    assert (await ada.send("POST", "/api/session/workspace", {"workspace_id": zero})).status_code == 404
    rows = (await ada.get("/api/audit/rows", params={"limit": 1000})).json()
    assert {each["event"] for each in rows} == {"person.joined"}
    root = await world.enter(await world.person("root@acme.example", manages_installation=True))
    assert (await root.get("/api/audit/rows")).status_code == 403
    async with world.program(await world.key(acme, *Permission)) as program:
        assert zero not in (await program.get("/api/audit/export")).text
