"""Workspaces cannot see each other: nothing of one ever appears in what another is told, nor changes it."""

import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from gaby.app import build
from gaby.identity import Role
from gaby.kernel.clock import ManualClock
from gaby.kernel.ids import WorkspaceId
from gaby.settings import load
from tests.api.request_sequence import RequestSequence
from tests.api.routes import endpoints
from tests.api.scenes import Things, bodies, make_things
from tests.kernel.logs import captured
from tests.support.app_client import Browser, World
from tests.support.seeded_random import Dice

pytestmark = [pytest.mark.promise("P4"), pytest.mark.slow]

CANARY = "zanzibar"
ELSEWHERE = "10.0.0.9"


async def fill(world: World, workspace_id: WorkspaceId, label: str) -> Things:
    """Puts the label into every text that a workspace can hold, the way its people would."""
    things = await make_things(world, workspace_id, f"{label}-thing")
    owner_id = await world.person(f"{label}@{label}.example", (workspace_id, Role.OWNER))
    owner = await world.enter(owner_id, address=ELSEWHERE, user_agent=f"{label} browser")
    await act(world, owner, label, 0)
    return things


async def act(world: World, owner: Browser, label: str, number: int) -> None:
    """A busy owner, some of whose wishes are refused."""
    name = f"{label} {number}"
    strange = {"User-Agent": f"{label} agent", "Referer": f"http://{label}.example/", "Cookie": f"{label}={label}"}
    await owner.send("PATCH", "/api/workspace", {"name": name})
    for _ in range(2):
        await owner.send("POST", "/api/groups", {"name": name})
    await owner.send("POST", "/api/people", {"email": f"{label}{number}@{label}.example", "role": "admin"})
    made = await owner.send("POST", "/api/keys", {"name": name, "scopes": ["people:read"]})
    assert made.status_code == 201
    await owner.send("PATCH", "/api/people/nonsense", {"role": label})
    async with world.client(address=ELSEWHERE, headers=strange) as client:
        await client.get(f"/api/people/{label}", params={"after": label})
        await client.get("/join", params={"token": label})
        if number % 8 == 0:
            wrong = {"email": f"{label}@{label}.example", "password": f"{label} is not it"}
            await client.post("/api/session", json=wrong)


def request_sequence(world: World, acme: WorkspaceId, name: str) -> RequestSequence:
    # Passwords are slow to check, and are tried elsewhere.
    # A changed password ends the sequence, and a run that nobody works on is followed for ever.
    left_out = {"POST /api/session/password", "GET /api/runs/{run_id}/events"}
    routes = [each for each in endpoints(world.app) if each.name not in left_out]
    own = bodies(acme, "step{step}")
    own["POST /api/session"] = {"email": "ada@acme.example", "password": "no such password"}
    return RequestSequence(routes, Dice(name), own)


async def test_nothing_of_another_workspace_is_ever_told(world: World) -> None:
    with captured() as log:
        acme, other = await world.workspace("acme"), await world.workspace(f"{CANARY}-slug")
        theirs = await fill(world, other, CANARY)
        ada_id = await world.person("ada@acme.example", (acme, Role.OWNER))
        key = await world.key(acme, *Role.OWNER.permissions)
        sequence = request_sequence(world, acme, "canary")
        sequence.foreign = [*(str(each) for each in theirs.ids.values()), str(other)]
        ada, program = await world.enter(ada_id), world.program(key)
        statuses: set[int] = set()
        for number in range(300):
            step = sequence.next()
            if number % 2:
                send = program.request(step.endpoint.method, step.path, json=step.body, params=step.query)
            else:
                send = ada.send(step.endpoint.method, step.path, step.body, params=step.query)
            answer = await send
            sequence.learn(answer)
            statuses.add(answer.status_code)
            assert CANARY not in answer.text.lower(), step
            assert CANARY not in str(answer.headers).lower(), step
            if step.endpoint.name in {"DELETE /api/session", "DELETE /api/sign-ins/{sign_in_id}"}:
                ada = await world.enter(ada_id)
            if step.endpoint.name == "DELETE /api/keys/{key_id}":
                program = world.program(await world.key(acme, *Role.OWNER.permissions))
        assert {200, 201, 204, 404, 422} <= statuses
        assert not {status for status in statuses if status >= 500}
        await world.gaby.checkpointer.checkpoint()
        for path in ("/api/audit/export", "/api/audit/rows?limit=1000", "/metrics", "/readyz", "/api/openapi.json"):
            answer = await ada.get(path)
            assert answer.status_code == 200
            assert CANARY not in answer.text.lower(), path
    lines = log.getvalue()
    assert lines.count("http.request") > 300
    assert CANARY not in lines.lower()


MASTER = base64.b64encode(bytes(range(32))).decode()


@asynccontextmanager
async def installation(url: str, home: Path, signing_key: str, clock: ManualClock, dice: Dice) -> AsyncGenerator[World]:
    environment = {
        "GABY_DATABASE_URL": url,
        "GABY_HOME": str(home),
        "GABY_CRYPTO_MASTER_KEY": MASTER,
        "GABY_AUDIT_SIGNING_KEY": signing_key,
        "GABY_WORKER_MODE": "off",
    }
    gaby = build(load(environment, env_file=None).settings, clock=clock, random=dice, public_url="http://gaby.example")
    # Checkpoints are taken at the same steps of both, and not whenever the background comes to it.
    async with gaby.running(background=False):
        yield World(gaby)


Told = tuple[int, bytes, list[tuple[str, str]]]


async def play_requests(world: World, clock: ManualClock, dice: Dice, *, busy: bool) -> list[Told]:
    """All that Ada of Acme was told. Every step of hers has a moment and a stream of randomness of its own, so that
    the neighbours, when there are any, change neither."""
    dice.turn_to("scene")
    acme = await world.workspace("acme")
    ada_id = await world.person("ada@acme.example", (acme, Role.OWNER))
    ada = await world.enter(ada_id)
    mine = await make_things(world, acme, "mine", of=ada)
    other = await world.workspace("globex")
    clock.advance(timedelta(seconds=1))
    dice.turn_to("neighbours")
    owner = await world.enter(await world.person("bob@globex.example", (other, Role.OWNER))) if busy else None
    sequence = request_sequence(world, acme, "twins")
    # What all share: whether the installation is well, and how much it did.
    sequence.endpoints = [each for each in sequence.endpoints if each.path not in {"/metrics", "/readyz"}]
    sequence.known = [str(each) for each in mine.ids.values()]
    told: list[Told] = []
    for number in range(150):
        if owner is not None and number % 3 == 0:
            dice.turn_to(f"neighbours {number}")
            await act(world, owner, "bob", number)
        clock.advance(timedelta(seconds=1))
        dice.turn_to(f"step {number}")
        if number % 25 == 24:
            await world.gaby.checkpointer.checkpoint()
        step = sequence.next()
        headers = {"X-Request-ID": step.request_id}
        answer = await ada.send(step.endpoint.method, step.path, step.body, params=step.query, headers=headers)
        sequence.learn(answer)
        told.append((answer.status_code, answer.content, answer.headers.multi_items()))
        if answer.status_code == 401 or step.endpoint.name == "DELETE /api/session":
            ada = await world.enter(ada_id)
    return told


async def test_a_busy_neighbour_changes_no_byte_of_what_one_is_told(
    database_url: str, second_url: str, tmp_path: Path
) -> None:
    key = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    told: list[list[Told]] = []
    for url, busy in ((database_url, False), (second_url, True)):
        clock, dice = ManualClock(datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)), Dice("start")
        async with installation(url, tmp_path / f"home-{busy}", key, clock, dice) as world:
            told.append(await play_requests(world, clock, dice, busy=busy))
    quiet, disturbed = told
    for number, (one, other) in enumerate(zip(quiet, disturbed, strict=True)):
        assert one == other, number
    assert {200, 201, 204, 404, 422} <= {status for status, _, _ in quiet}
