"""Alive, ready, counted; and what every answer carries, also the bad ones."""

import json
import shutil
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gaby.app import build
from gaby.identity import Role
from gaby.kernel import failpoints
from gaby.kernel.database import open_database
from gaby.kernel.http.security import HEADERS
from gaby.migrations import upgrade
from gaby.settings import Settings, load
from tests.kernel.logs import captured
from tests.support.app_client import World
from tests.support.postgres import Postgres, start_postgres

pytestmark = pytest.mark.promise("O1")

READY: dict[str, Any] = {"status": "ok", "failing": [], "warnings": []}


@asynccontextmanager
async def started(environment: dict[str, str]) -> AsyncGenerator[World]:
    gaby = build(load(environment, env_file=None).settings, public_url="http://gaby.example")
    async with gaby.running():
        yield World(gaby)


async def unavailable(client: httpx2.AsyncClient) -> list[str]:
    answer = await client.get("/readyz")
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert answer.json()["status"] == "unavailable"
    # The process itself is well, and must not be restarted for this.
    assert (await client.get("/livez")).json() == {"status": "ok"}
    return answer.json()["failing"]


async def test_a_healthy_installation_is_alive_and_ready(world: World) -> None:
    async with world.client() as client:
        assert (await client.get("/livez")).json() == {"status": "ok"}
        ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, READY)


async def test_only_who_manages_the_installation_sees_the_checks(world: World) -> None:
    root = await world.enter(await world.person("root@acme.example", manages_installation=True))
    checks = (await root.get("/api/system/checks")).json()
    assert {each["name"]: each["health"] for each in checks} == {
        "database": "ok",
        "tables": "ok",
        "disk": "ok",
        "schedules": "ok",
        "tickets": "ok",
        "audit log": "ok",
        "books": "ok",
    }


@pytest.fixture
def own_postgres() -> Generator[Postgres]:
    """A server that only this test stops."""
    server = start_postgres()
    yield server
    server.remove()


@pytest.mark.slow
@pytest.mark.promise("O5")
async def test_a_lost_postgres_is_named_and_its_return_is_noticed(own_postgres: Postgres, tmp_path: Path) -> None:
    upgrade(open_database(own_postgres.url()))
    environment = {"GABY_DATABASE_URL": own_postgres.url(), "GABY_HOME": str(tmp_path)}
    with captured():
        async with started(environment) as world, world.client() as client:
            acme = await world.workspace("acme")
            ada = await world.member("ada@acme.example", acme, Role.OWNER)
            assert (await client.get("/readyz")).json() == READY
            own_postgres.stop()
            assert {"database", "tables"} <= set(await unavailable(client))
            for refused in (await ada.get("/api/people"), await ada.send("POST", "/api/groups", {"name": "x"})):
                assert (refused.status_code, refused.json()["code"]) == (503, "database_unavailable")
                assert int(refused.headers["retry-after"]) > 0
            own_postgres.start()
            assert (await client.get("/readyz")).json() == READY
            assert (await ada.send("POST", "/api/groups", {"name": "x"})).status_code == 201


class MovableFile:
    """A database file with its companions, which can be put aside and back."""

    def __init__(self, template: Path, folder: Path) -> None:
        self.path = folder / "gaby.db"
        self._aside = folder / "aside"
        self._aside.mkdir()
        shutil.copyfile(template, self.path)

    def replace(self, garbage: bytes) -> None:
        for file in self.path.parent.glob("gaby.db*"):
            file.rename(self._aside / file.name)
        self.path.write_bytes(garbage)

    def put_back(self) -> None:
        for file in self._aside.iterdir():
            file.rename(self.path.parent / file.name)


@pytest.mark.promise("O5")
async def test_a_replaced_file_is_named_and_its_return_is_noticed(migrated_file: Path, tmp_path: Path) -> None:
    file = MovableFile(migrated_file, tmp_path)
    environment = {"GABY_DATABASE_URL": f"sqlite:///{file.path}", "GABY_HOME": str(tmp_path / "home")}
    with captured():
        async with started(environment) as world, world.client() as client:
            assert (await client.get("/readyz")).json() == READY
            file.replace(b"This is no database. " * 1000)
            assert "tables" in await unavailable(client)
            file.path.unlink()
            assert "tables" in await unavailable(client)
            file.put_back()
            assert (await client.get("/readyz")).json() == READY


async def test_metrics_are_for_this_machine_alone(world: World) -> None:
    acme = await world.workspace("acme")
    await world.person("ada@acme.example", (acme, Role.OWNER))
    for address, headers, status in (
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("10.0.0.9", {}, 403),
        ("testclient", {}, 403),
        # Behind a proxy every visitor seems to come from this machine.
        ("127.0.0.1", {"X-Forwarded-For": "10.0.0.9"}, 403),
        ("127.0.0.1", {"Forwarded": "for=10.0.0.9"}, 403),
        ("10.0.0.9", {"X-Forwarded-For": "127.0.0.1"}, 403),
    ):
        async with world.client(address=address, headers=headers) as client:
            answer = await client.get("/metrics")
        assert answer.status_code == status, (address, headers)
        if status == 200:
            assert 'gaby_build_info{version="' in answer.text
            assert f'gaby_audit_rows_total{{workspace="{acme}"}} 1.0' in answer.text
            assert "ada@" not in answer.text


async def test_with_a_token_metrics_are_for_whoever_has_it(settings: Settings) -> None:
    telemetry = load({"GABY_TELEMETRY_METRICS_TOKEN": "a token for scraping"}, env_file=None).settings.telemetry
    gaby = build(settings.model_copy(update={"telemetry": telemetry}))
    async with gaby.running(background=False):
        world = World(gaby)
        for address in ("127.0.0.1", "10.0.0.9"):
            async with world.client(address=address) as client:
                for given, status in (
                    ("Bearer a token for scraping", 200),
                    ("Bearer another token", 403),
                    ("a token for scraping", 403),
                    ("", 403),
                ):
                    answer = await client.get("/metrics", headers={"Authorization": given} if given else {})
                    assert answer.status_code == status, (address, given)
                    assert "a token for scraping" not in answer.text


@pytest.fixture(autouse=True)
def no_failpoints() -> Generator[None]:
    yield
    failpoints.configure(None)


async def every_kind_of_answer(world: World) -> dict[int, httpx2.Response]:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.OWNER)
    big = {"Content-Length": "7000000", "Content-Type": "application/json", "X-CSRF-Token": ada.csrf}
    many = [(f"X-{number}", "x") for number in range(101)]
    answers = [
        await ada.get("/api/people"),
        await ada.get("/livez"),
        await ada.get("/assets/entry.css"),
        await ada.get("/setup", params={"token": "x"}),
        await ada.send("POST", "/api/groups", {"name": "x"}),
        await ada.send("POST", "/api/groups", {"name": "x"}),
        await ada.send("DELETE", "/api/sign-ins"),
        await ada.send("POST", "/api/groups", {}),
        await ada.send("PUT", "/api/groups"),
        await ada.client.post("/api/groups", json={"name": "x"}),
        await ada.client.post("/api/groups", content=b"\0", headers=big | {"Content-Length": "1"}),
        await ada.client.post("/api/groups", content=b"x", headers=big),
        await ada.get("/livez", headers=many),
        await ada.get("/nowhere"),
        await ada.send("DELETE", "/api/session"),
        await ada.get("/api/people"),
    ]
    fresh = await world.enter(ada.person_id)
    failpoints.configure("audit.before_insert=error")
    answers.append(await fresh.send("POST", "/api/groups", {"name": "y"}))
    failpoints.configure(None)
    for answer in answers:
        check_headers(answer)
    return {answer.status_code: answer for answer in answers}


def check_headers(answer: httpx2.Response) -> None:
    for name, value in HEADERS.items():
        assert answer.headers[name] == value, (answer.request.url, name)
    assert answer.headers["x-request-id"]
    assert "server" not in answer.headers
    if answer.request.url.path.startswith("/api/"):
        assert answer.headers["cache-control"] == "no-store"


async def test_every_answer_has_the_strict_headers(world: World) -> None:
    with captured():
        answers = await every_kind_of_answer(world)
    assert set(answers) == {200, 201, 204, 400, 401, 403, 404, 405, 409, 413, 422, 431, 500}


async def test_the_request_id_is_echoed_and_is_in_the_log_with_the_workspace(world: World) -> None:
    with captured() as stream:
        acme = await world.workspace("acme")
        ada = await world.member("ada@acme.example", acme, Role.OWNER)
        asked = await ada.get("/api/people", headers={"X-Request-ID": "from-the-client"})
        own = await ada.get("/api/people")
        hostile = await ada.get("/api/people", headers={"X-Request-ID": "two words\tand more"})
        refused = await ada.get("/api/people/x?after=sesame", headers={"X-Request-ID": "refused-1"})
        failpoints.configure("audit.before_insert=error")
        failed = await ada.send("POST", "/api/groups", {"name": "y"}, headers={"X-Request-ID": "failed-1"})
        failpoints.configure(None)
    assert asked.headers["x-request-id"] == "from-the-client"
    assert len(own.headers["x-request-id"]) == len(hostile.headers["x-request-id"]) == 32
    assert refused.json()["request_id"] == "refused-1"
    assert failed.json()["request_id"] == "failed-1"
    assert "sesame" not in stream.getvalue()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    requests = {line["request_id"]: line for line in lines if line["event"] == "http.request"}
    for answer in (asked, own, hostile, refused, failed):
        line = requests[answer.headers["x-request-id"]]
        assert line["workspace_id"] == str(acme)
        assert line["payload"]["status"] == answer.status_code
    assert requests["refused-1"]["payload"]["route"] == "/api/people/{person_id}"
    (error,) = [line for line in lines if line["event"] == "http.failed"]
    assert (error["request_id"], error["workspace_id"]) == ("failed-1", str(acme))
    assert "FailpointError" in error["payload"]["stack"]
