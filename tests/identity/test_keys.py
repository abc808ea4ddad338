"""API keys: shown once, kept as a hash, limited by scope and time, gone at once when revoked."""

import re
from datetime import timedelta

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gaby.identity import Role
from gaby.identity.errors import MalformedKey
from gaby.identity.secrets import KeyText, new_key, parse_key
from gaby.kernel.actors import Permission
from gaby.kernel.clock import ManualClock
from tests.support.app_client import World
from tests.support.database_dump import everything_stored

pytestmark = pytest.mark.promise("P1")

KEY = re.compile(r"gaby-[a-z2-7]{12}\.[a-z2-7]{52}")
SAME = {"X-Request-ID": "same"}


async def test_a_key_is_shown_once_and_kept_only_as_a_hash(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    made = await ada.send("POST", "/api/keys", {"name": "reports", "scopes": ["people:read"]})
    assert made.status_code == 201
    key = made.json()["text"]
    assert KEY.fullmatch(key)
    assert made.json()["key"]["prefix"] == key[5:17]

    listed = await ada.get("/api/keys")
    assert [each["name"] for each in listed.json()] == ["reports"]
    secret = key.partition(".")[2]
    log = await ada.get("/api/audit/rows")
    for place in (listed.text, log.text):
        assert secret not in place
    kept = await everything_stored(world.gaby)
    assert key[5:17].encode() in kept
    assert secret.encode() not in kept


async def test_a_key_does_what_its_scopes_say_and_no_more(world: World) -> None:
    acme = await world.workspace("acme")
    key = await world.key(acme, Permission.PEOPLE_READ)
    async with world.program(key) as program:
        assert (await program.get("/api/people")).status_code == 200
        assert (await program.get("/api/groups")).status_code == 200
        for path in ("/api/keys", "/api/workspace", "/api/audit/rows", "/api/audit/export", "/api/system/checks"):
            refused = await program.get(path)
            assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), path
        assert (await program.post("/api/groups", json={"name": "x"})).status_code == 403
        assert (await program.post("/api/workspaces", json={"slug": "x", "name": "x"})).status_code == 403
        # What is about a browser's own sign-in is not for programs.
        assert (await program.get("/api/session")).status_code == 401


async def test_a_change_by_key_needs_no_csrf_token(world: World) -> None:
    acme = await world.workspace("acme")
    async with world.program(await world.key(acme, Permission.PEOPLE_MANAGE)) as program:
        assert (await program.post("/api/groups", json={"name": "night shift"})).status_code == 201


async def test_nobody_gives_a_key_more_than_they_have(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.OWNER)
    beyond = await ada.send("POST", "/api/keys", {"name": "x", "scopes": ["people:read", "installation:manage"]})
    assert beyond.status_code == 403
    assert "installation:manage" in beyond.json()["detail"]
    async with world.program(await world.key(acme, Permission.KEYS_MANAGE)) as program:
        more = await program.post("/api/keys", json={"name": "x", "scopes": ["keys:manage", "audit:read"]})
        same = await program.post("/api/keys", json={"name": "x", "scopes": ["keys:manage"]})
    assert (more.status_code, same.status_code) == (403, 201)
    assert [each["scopes"] for each in (await ada.get("/api/keys")).json()] == [["keys:manage"]] * 2


async def test_a_key_expires(world: World, clock: ManualClock) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    body = {"name": "x", "scopes": ["people:read"]}
    past = await ada.send("POST", "/api/keys", body | {"expires_at": clock.now().isoformat()})
    assert past.status_code == 422
    naive = await ada.send("POST", "/api/keys", body | {"expires_at": "2031-01-01T00:00:00"})
    assert naive.status_code == 422
    expires_at = (clock.now() + timedelta(hours=1)).isoformat()
    made = await ada.send("POST", "/api/keys", body | {"expires_at": expires_at})
    async with world.program(made.json()["text"]) as program:
        clock.advance(timedelta(minutes=59, seconds=59))
        assert (await program.get("/api/people")).status_code == 200
        clock.advance(timedelta(seconds=1))
        assert (await program.get("/api/people")).status_code == 401


@pytest.mark.parametrize("expires_at", ["9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59.999999Z"])
async def test_a_key_for_the_end_of_time_is_no_failure(world: World, expires_at: str) -> None:
    acme = await world.workspace("acme")
    key = await world.key(acme, Permission.KEYS_MANAGE)
    async with world.program(key) as program:
        body = {"name": "x", "scopes": ["keys:manage"], "expires_at": expires_at}
        assert (await program.post("/api/keys", json=body)).status_code in {201, 422}
        assert (await program.get("/api/keys")).status_code == 200


async def test_a_revoked_key_is_refused_at_once(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    made = (await ada.send("POST", "/api/keys", {"name": "x", "scopes": ["people:read"]})).json()
    async with world.program(made["text"]) as program:
        assert (await program.get("/api/people")).status_code == 200
        assert (await ada.send("DELETE", f"/api/keys/{made['key']['id']}")).status_code == 204
        assert (await program.get("/api/people")).status_code == 401
    assert (await ada.send("DELETE", f"/api/keys/{made['key']['id']}")).status_code == 404
    assert (await ada.get("/api/keys")).json()[0]["revoked_at"] is not None


async def test_the_last_use_is_noted_at_most_once_a_minute(world: World, clock: ManualClock) -> None:
    acme = await world.workspace("acme")
    key = await world.key(acme, Permission.KEYS_MANAGE)
    noted: list[str] = []
    async with world.program(key) as program:
        for _ in range(4):
            noted.append((await program.get("/api/keys")).json()[0]["last_used_at"])
            clock.advance(timedelta(seconds=30))
    assert len(set(noted)) == 2
    assert noted[0] == noted[1]
    assert noted[2] == noted[3]


async def test_every_key_that_is_not_accepted_gets_the_same_answer(world: World, clock: ManualClock) -> None:
    acme = await world.workspace("acme")
    good = await world.key(acme, Permission.PEOPLE_READ)
    prefix, _, secret = good.partition(".")
    last = "a" if secret[-1] != "a" else "b"
    refused = [
        f"Bearer {prefix}.{secret[:-1]}{last}",
        f"Bearer gaby-aaaaaaaaaaaa.{secret}",
        f"Bearer {prefix}",
        f"Bearer {good.upper()}",
        f"Bearer {good}x",
        "Bearer",
        "Bearer ",
        "",
        good,
        f"Basic {good}",
        f"Token {good}",
        "Bearer gaby-.",
        "Bearer \xff\xfe",
    ]
    answers: list[httpx2.Response] = []
    async with world.client(headers=SAME) as client:
        for value in refused:
            headers = {b"Authorization": value.encode("latin-1")}
            answers.append(await client.get("/api/people", headers=headers))
        for scheme in ("Bearer", "bearer", "BEARER"):
            accepted = await client.get("/api/people", headers={"Authorization": f"{scheme} {good}"})
            assert accepted.status_code == 200
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert {answer.headers["www-authenticate"] for answer in answers} == {"Bearer"}


@pytest.mark.promise("P4")
async def test_a_key_belongs_to_one_workspace(world: World) -> None:
    acme, globex = await world.workspace("acme"), await world.workspace("globex")
    await world.person("bob@globex.example", (globex, Role.OWNER))
    async with world.program(await world.key(acme, *Permission)) as program:
        assert (await program.get("/api/workspace")).json()["slug"] == "acme"
        assert (await program.get("/api/people")).json() == []


async def test_a_key_cannot_make_or_unmake_owners(world: World) -> None:
    acme = await world.workspace("acme")
    owner = await world.person("ada@acme.example", (acme, Role.OWNER))
    async with world.program(await world.key(acme, Permission.PEOPLE_MANAGE)) as program:
        unmade = await program.patch(f"/api/people/{owner}", json={"role": "viewer"})
        removed = await program.delete(f"/api/people/{owner}")
        made = await program.post("/api/people", json={"email": "eve@acme.example", "role": "owner"})
    assert [answer.json()["code"] for answer in (unmade, removed, made)] == ["not_yours"] * 3


_SECRET = st.text(alphabet="abcdefghijklmnopqrstuvwxyz234567", min_size=52, max_size=52)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz234567", min_size=12, max_size=12), _SECRET)
def test_what_is_printed_can_be_read(prefix: str, secret: str) -> None:
    key = KeyText(prefix, secret)
    assert parse_key(str(key)) == key


@given(st.binary(min_size=32, max_size=32))
def test_every_new_key_can_be_read(bits: bytes) -> None:
    key = new_key(lambda count: bits[:count])
    assert parse_key(str(key)) == key
    assert KEY.fullmatch(str(key))


@given(st.text(max_size=100) | st.from_regex(r"gaby-[a-z0-9]{10,14}\.[a-z0-9]{50,54}"))
def test_everything_else_is_refused_as_malformed(given_text: str) -> None:
    try:
        key = parse_key(given_text)
    except MalformedKey:
        return
    assert KEY.fullmatch(given_text)
    assert str(key) == given_text


_header = st.binary(max_size=200).map(lambda raw: raw.replace(b"\r", b"").replace(b"\n", b""))


async def test_no_authorization_header_whatever_is_a_failure(world: World) -> None:
    tried = [b"Bearer " + value for value in (b"\x00", b"\x80" * 100, b"gaby-" + b"a" * 12 + b"." + b"a" * 52)]

    @settings(max_examples=100, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.sampled_from([b"", b"Bearer ", b"bearer  gaby-", b"Basic "]), _header)
    def collect(start: bytes, rest: bytes) -> None:
        tried.append(start + rest)

    collect()
    async with world.client() as client:
        for value in tried:
            answer = await client.get("/api/people", headers={b"Authorization": value})
            assert answer.status_code == 401, value
            assert answer.json()["code"] == "key_not_accepted"
