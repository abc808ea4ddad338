"""Whatever is sent to whichever route, the answer is a clean refusal, and nothing is written."""

import json
from collections.abc import AsyncIterator
from dataclasses import fields
from typing import Any

import httpx2
import pytest

from gaby.identity import Role
from tests.api.routes import Endpoint, endpoints
from tests.api.scenes import Things, bodies, make_things
from tests.support.app_client import Browser, World
from tests.support.database_dump import requested_rows

pytestmark = pytest.mark.promise("P3")

SECRET = "s3cret-Passw0rd-of-somebody"
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ABSURD = [
    "%00",
    "%ff",
    "%F0%9F%92%A9",
    "..%2f..%2fetc",
    "a" * 5000,
    "null",
    "-1",
    "1e999",
    "%7B%7B7*7%7D%7D",
    "0190c8d1-0000-7000-8000-00000000000",
    "0190c8d1-0000-7000-8000-000000000000%0a",
    "0190c8d1-0000-7000-8000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "%27%20OR%201=1%20--",
    "",
]


def check_problem(answer: httpx2.Response, context: object) -> None:
    assert 400 <= answer.status_code < 500, (context, answer.status_code, answer.text[:300])
    assert answer.headers["content-type"] == "application/problem+json", context
    problem = answer.json()
    assert {"code", "detail", "request_id", "status", "title", "type"} <= problem.keys(), context
    assert problem["status"] == answer.status_code
    assert problem["request_id"] == answer.headers["x-request-id"]
    for clue in ("Traceback", "sqlalchemy", "sqlite", "psycopg", ".py", SECRET):
        assert clue not in answer.text, context
    assert len(answer.content) < 20_000, context


async def owner_of_all(world: World) -> Browser:
    acme = await world.workspace("acme")
    return await world.enter(await world.person("ada@acme.example", (acme, Role.OWNER), manages_installation=True))


def with_bodies(world: World) -> list[Endpoint]:
    named = bodies(world.gaby.ids.new(), "x")
    return [each for each in endpoints(world.app) if each.name in named]


def hostile_bodies(good: dict[str, Any]) -> dict[str, bytes]:
    """Bodies that no route may take, most of them an acceptable one with one thing wrong."""
    whole = json.dumps(good | {"password": SECRET} if "password" in good else good)
    first = next(iter(good))
    found = {
        "nothing": b"",
        "null": b"null",
        "a list": b"[]",
        "a text": f'"{SECRET}"'.encode(),
        "a number": b"1" * 400,
        "too many digits": b"9" * 5000,
        "infinity": b"1e999",
        "not a number": b"NaN",
        "an empty object": b"{}",
        "half": whole.encode()[:-2],
        "two": whole.encode() * 2,
        "a NUL byte": whole.encode().replace(b'"', b'"\0', 1),
        "not UTF-8": whole.encode().replace(b'": "', b'": "\xff\xfe', 1) if '": "' in whole else b"\xff",
        "UTF-16": whole.encode("utf-16"),
        "deep": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        "deep lists": b"[" * 100_000 + b"]" * 100_000,
        "open brackets": b"[" * 100_000,
        "a name twice": f'{{"{first}": {json.dumps(good[first])}, {whole[1:]}'.encode(),
        "one name too many": json.dumps(good | {"is_admin": True, "workspace_id ": SECRET}).encode(),
        "a strange name": json.dumps(good | {"__proto__\n\x1b[2J": 1}).encode(),
        "comments": f"/* {SECRET} */ {whole}".encode(),
    }
    for name in good:
        for label, value in {
            "NUL": r'"a\u0000b"',
            "surrogate": r'"a\ud800b"',
            "swapped surrogates": r'"\udc00\ud800"',
            "object": f'{{"$ne": "{SECRET}"}}',
            "list": f'["{SECRET}"]',
            "number": "7",
            "huge number": "1" + "0" * 300,
            "float": "1e308",
            "true": "true",
            "endless": json.dumps("x" * 100_000),
        }.items():
            others = {key: each for key, each in good.items() if key != name}
            rest = json.dumps(others)[1:] if others else "}"
            comma = ", " if others else ""
            found[f"{name}: {label}"] = f'{{"{name}": {value}{comma}{rest}'.encode()
    # A number is a moment to those who ask for one, and arguments are whatever the tool takes.
    # Tickets may be long.
    fine = {"expires_at: number", "arguments: object", "body: endless"}
    # Amounts are numbers.
    fine |= {
        f"{name}: number"
        for name in (
            *("day_usd", "day_tokens", "input", "output", "cache_read", "cache_write"),
            *("iterations", "every_seconds"),
        )
    }
    return {label: body for label, body in found.items() if label not in fine}


async def test_no_body_is_too_hostile_to_be_refused(world: World) -> None:
    ada = await owner_of_all(world)
    things = (await make_things(world, await world.workspace("things"), "thing")).ids | {"person_id": ada.person_id}
    routes = with_bodies(world)
    before = await requested_rows(world.gaby)
    for endpoint in routes:
        good = bodies(world.gaby.ids.new(), "x")[endpoint.name]
        path = endpoint.at(**things)
        for label, body in hostile_bodies(good).items():
            headers = {"X-CSRF-Token": ada.csrf, **JSON}
            answer = await ada.client.request(endpoint.method, path, content=body, headers=headers)
            check_problem(answer, (endpoint.name, label))
    assert await requested_rows(world.gaby) == before


async def test_only_json_counts_as_json(world: World) -> None:
    ada = await owner_of_all(world)
    things = (await make_things(world, await world.workspace("things"), "thing")).ids | {"person_id": ada.person_id}
    before = await requested_rows(world.gaby)
    for endpoint in with_bodies(world):
        good = json.dumps(bodies(world.gaby.ids.new(), "x")[endpoint.name]).encode()
        for kind in ("text/plain", "application/xml", "multipart/form-data", "application/x-www-form-urlencoded", "%"):
            headers = {"X-CSRF-Token": ada.csrf, "Content-Type": kind}
            answer = await ada.client.request(endpoint.method, endpoint.at(**things), content=good, headers=headers)
            check_problem(answer, (endpoint.name, kind))
        latin = {"X-CSRF-Token": ada.csrf, "Content-Type": "application/json; charset=latin1"}
        answer = await ada.client.request(endpoint.method, endpoint.at(**things), content=good, headers=latin)
        assert answer.status_code == 400
    assert await requested_rows(world.gaby) == before


async def much(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b" " * 1_000_000


async def test_too_much_is_refused_on_every_route(world: World) -> None:
    ada = await owner_of_all(world)
    announced = b" " * 6_000_001
    before = await requested_rows(world.gaby)
    for endpoint in endpoints(world.app):
        path = endpoint.at(**dict.fromkeys(endpoint.ids, ada.person_id))
        for body in (announced, much(7)):
            headers = {"X-CSRF-Token": ada.csrf, **JSON}
            answer = await ada.client.request(endpoint.method, path, content=body, headers=headers)
            check_problem(answer, endpoint.name)
            assert answer.status_code == 413, endpoint.name
        many = [(f"X-{number}", "x") for number in range(101)]
        answer = await ada.client.request(endpoint.method, path, headers=many)
        check_problem(answer, endpoint.name)
        assert answer.status_code == 431
        answer = await ada.client.request(endpoint.method, path, headers={"Cookie": "a=" + "b" * 20_000})
        assert answer.status_code == 431
    assert await requested_rows(world.gaby) == before


async def test_no_id_is_too_absurd(world: World) -> None:
    ada = await owner_of_all(world)
    before = await requested_rows(world.gaby)
    for endpoint in endpoints(world.app):
        for name in endpoint.ids if endpoint.name != "GET /api/webhooks/desks/{desk_id}" else ():
            for absurd in ABSURD:
                path = endpoint.at(**{**dict.fromkeys(endpoint.ids, ada.person_id), name: absurd})
                body = {"role": "viewer"} if endpoint.method == "PATCH" else None
                answer = await ada.send(endpoint.method, path, body)
                check_problem(answer, (endpoint.name, absurd[:50]))
    assert await requested_rows(world.gaby) == before


async def test_no_query_is_too_absurd(world: World) -> None:
    ada = await owner_of_all(world)
    limits = ["0", "1001", "-1", "1e3", "%00", "", "9" * 400, "NaN", "true", "0x10"]
    afters = ["%00", "%ff", "x", "9" * 5000, "%F0%9F%92%A9", "1.5"]
    for path in ("/api/people", "/api/audit/rows"):
        for query in [*(f"limit={each}" for each in limits), *(f"after={each}" for each in afters)]:
            check_problem(await ada.get(f"{path}?{query}"), (path, query[:50]))


async def test_forms_are_refused_as_cleanly(world: World) -> None:
    before = await requested_rows(world.gaby)
    good = {"token": "a" * 52, "email": "ada@acme.example", "name": "Ada", "password": SECRET}
    encoded = b"&".join(f"{name}={value}".encode() for name, value in good.items())
    async with world.client() as client:
        for path in ("/setup", "/join"):
            for body, headers in (
                (b"", FORM),
                (b"%", FORM),
                (b"&" * 10_000, FORM),
                (b"&".join(b"a=b" for _ in range(5000)), FORM),
                (encoded.replace(b"name=", b"name=%00"), FORM),
                (encoded.replace(b"token=", b"token=" + b"x" * 5000), FORM),
                (json.dumps(good).encode(), JSON),
                (encoded, {"Content-Type": "multipart/form-data"}),
                (encoded, {"Content-Type": "multipart/form-data; boundary=x"}),
                (b"--x\r\n" * 3000, {"Content-Type": "multipart/form-data; boundary=x"}),
                (encoded, {"Content-Type": "text/plain"}),
            ):
                check_problem(await client.post(path, content=body, headers=headers), (path, headers, body[:40]))
            refused = await client.post(path, content=encoded, headers=FORM)
            assert refused.status_code == 404
            assert SECRET not in refused.text
    assert await requested_rows(world.gaby) == before


async def test_unknown_addresses_and_methods_are_problems_too(world: World) -> None:
    ada = await owner_of_all(world)
    for path in ("/nowhere", "/api", "/api/", "/api/people/", "/api/nothing", "/assets/", "/assets/../app.py", "/%00"):
        answer = await ada.get(path)
        check_problem(answer, path)
        assert answer.status_code == 404, path
    takes: dict[str, set[str]] = {}
    for endpoint in endpoints(world.app):
        takes.setdefault(endpoint.path, set()).add(endpoint.method)
    for path, methods in takes.items():
        address = path.format(**dict.fromkeys((field.name for field in fields(Things)), "x"))
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} - methods:
            answer = await ada.send(method, address)
            check_problem(answer, (method, path))
            assert answer.status_code == 405
            assert set(answer.headers["allow"].split(", ")) - {"HEAD"} == methods, path
