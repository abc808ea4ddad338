"""Signing in and out."""

from datetime import timedelta

import pytest

from gaby.identity import Role
from gaby.kernel.clock import ManualClock
from tests.support.app_client import PASSWORD, World

pytestmark = pytest.mark.promise("P1")


async def test_signing_in_gives_a_protected_cookie_and_says_who_you_are(world: World) -> None:
    acme = await world.workspace("acme")
    await world.person("ada@acme.example", (acme, Role.ADMIN))
    async with world.client() as client:
        answer = await client.post("/api/session", json={"email": "Ada@ACME.example", "password": PASSWORD})
    cookie = answer.headers["set-cookie"].lower()
    assert answer.status_code == 201
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert answer.json()["person"]["email"] == "ada@acme.example"
    assert answer.json()["workspace_id"] == str(acme)
    assert "audit:read" in answer.json()["permissions"]


async def test_a_wrong_password_and_an_unknown_person_look_alike(world: World) -> None:
    await world.person("ada@acme.example")
    headers = {"X-Request-ID": "same"}
    async with world.client(headers=headers) as client:
        wrong = await client.post("/api/session", json={"email": "ada@acme.example", "password": "no such password"})
        unknown = await client.post("/api/session", json={"email": "eve@acme.example", "password": "no such password"})
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.content == unknown.content


async def test_a_change_by_cookie_needs_the_csrf_token(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.browser("ada@acme.example", acme, Role.ADMIN)
    without = await ada.client.post("/api/groups", json={"name": "night shift"})
    wrong = await ada.client.post("/api/groups", json={"name": "night shift"}, headers={"X-CSRF-Token": "guess"})
    right = await ada.send("POST", "/api/groups", {"name": "night shift"})
    assert (without.status_code, wrong.status_code, right.status_code) == (403, 403, 201)
    assert without.json()["code"] == "token_missing"


_OTHER_SITES = [
    {"Origin": "https://evil.example"},
    {"Origin": "http://gaby.example.evil.example"},
    {"Origin": "http://gaby.example:8080"},
    {"Origin": "null"},
    {"Origin": "", "Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize("headers", _OTHER_SITES)
@pytest.mark.parametrize("path", ["/api/session", "/join", "/setup"])
async def test_no_other_site_signs_somebody_in(world: World, path: str, headers: dict[str, str]) -> None:
    fields = {"token": "a" * 43, "email": "ada@acme.example", "name": "Ada", "password": PASSWORD}
    async with world.client(headers=headers) as client:
        is_form = not path.startswith("/api")
        answer = await (client.post(path, data=fields) if is_form else client.post(path, json=fields))
    assert (answer.status_code, answer.json()["code"]) == (403, "sent_by_another_site")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://gaby.example", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "HTTPS://Gaby.example:443"},
        {"Origin": "http://127.0.0.1:8321", "Host": "inside:9000"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ],
)
async def test_ones_own_site_and_programs_sign_in(world: World, headers: dict[str, str]) -> None:
    await world.person("ada@acme.example")
    public = world.gaby.identity.public_url
    sent = {name: public if "127.0.0.1" in value else value for name, value in headers.items()}
    async with world.client(headers=sent) as client:
        answer = await client.post("/api/session", json={"email": "ada@acme.example", "password": PASSWORD})
    assert answer.status_code == 201


async def test_a_session_ends_when_idle_and_when_old(world: World, clock: ManualClock) -> None:
    acme = await world.workspace("acme")
    ada = await world.browser("ada@acme.example", acme, Role.ADMIN)
    for _ in range(20):
        clock.advance(timedelta(hours=11))
        assert (await ada.get("/api/session")).status_code == 200
    clock.advance(timedelta(hours=12))
    assert (await ada.get("/api/session")).status_code == 401

    ada = await world.sign_in("ada@acme.example")
    for _ in range(30):
        clock.advance(timedelta(hours=11))
        assert (await ada.get("/api/session")).status_code == 200
    clock.advance(timedelta(hours=7))
    assert (await ada.get("/api/session")).json()["code"] == "sign_in_ended"


async def test_other_sign_ins_can_be_listed_and_ended(world: World) -> None:
    acme = await world.workspace("acme")
    laptop = await world.browser("ada@acme.example", acme, Role.VIEWER)
    phone = await world.sign_in("ada@acme.example")
    tablet = await world.sign_in("ada@acme.example")
    listed = (await laptop.get("/api/sign-ins")).json()
    assert [each["current"] for each in listed].count(True) == 1
    assert len(listed) == 3

    mine = (await phone.get("/api/sign-ins")).json()
    phone_id = next(each["id"] for each in mine if each["current"])
    assert (await laptop.send("DELETE", f"/api/sign-ins/{phone_id}")).status_code == 204
    assert (await phone.get("/api/session")).status_code == 401
    assert (await laptop.send("DELETE", "/api/sign-ins")).json() == {"ended": 1}
    assert (await tablet.get("/api/session")).status_code == 401
    assert (await laptop.get("/api/session")).status_code == 200


async def test_another_persons_sign_in_cannot_be_ended(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.browser("ada@acme.example", acme, Role.OWNER)
    bob = await world.browser("bob@acme.example", acme, Role.VIEWER)
    ada_id = (await ada.get("/api/sign-ins")).json()[0]["id"]
    assert (await bob.send("DELETE", f"/api/sign-ins/{ada_id}")).status_code == 404
    assert (await ada.get("/api/session")).status_code == 200


async def test_signing_out_ends_the_cookie(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.browser("ada@acme.example", acme, Role.VIEWER)
    token = ada.client.cookies["gaby_session"]
    assert (await ada.send("DELETE", "/api/session")).status_code == 204
    async with world.client(cookies={"gaby_session": token}) as thief:
        assert (await thief.get("/api/session")).status_code == 401


async def test_changing_the_password_ends_all_other_sign_ins(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.browser("ada@acme.example", acme, Role.VIEWER)
    elsewhere = await world.sign_in("ada@acme.example")
    new = "a wholly new passphrase"
    wrong = await ada.send("POST", "/api/session/password", {"current": "not it at all", "new": new})
    right = await ada.send("POST", "/api/session/password", {"current": PASSWORD, "new": new})
    assert (wrong.status_code, right.status_code) == (401, 204)
    assert (await elsewhere.get("/api/session")).status_code == 401
    assert (await ada.get("/api/session")).status_code == 200
    await world.sign_in("ada@acme.example", new)


async def test_guessing_is_slowed_down_and_forgiven_later(world: World, clock: ManualClock) -> None:
    await world.person("ada@acme.example")
    async with world.client() as client:
        for _ in range(10):
            await client.post("/api/session", json={"email": "ada@acme.example", "password": "guess"})
        blocked = await client.post("/api/session", json={"email": "ada@acme.example", "password": PASSWORD})
        clock.advance(timedelta(minutes=16))
        allowed = await client.post("/api/session", json={"email": "ada@acme.example", "password": PASSWORD})
    assert blocked.status_code == 429
    assert 0 < int(blocked.headers["retry-after"]) <= 900
    assert allowed.status_code == 201


@pytest.mark.promise("P4")
async def test_one_person_can_change_between_their_workspaces_and_no_others(world: World) -> None:
    acme, globex, initech = [await world.workspace(slug) for slug in ("acme", "globex", "initech")]
    await world.person("ada@acme.example", (acme, Role.VIEWER), (globex, Role.ADMIN))
    ada = await world.sign_in("ada@acme.example")
    assert (await ada.get("/api/workspace")).json()["slug"] == "acme"
    assert (await ada.get("/api/keys")).status_code == 403

    assert (await ada.send("POST", "/api/session/workspace", {"workspace_id": str(globex)})).status_code == 200
    assert (await ada.get("/api/workspace")).json()["slug"] == "globex"
    assert (await ada.get("/api/keys")).status_code == 200
    assert (await ada.send("POST", "/api/session/workspace", {"workspace_id": str(initech)})).status_code == 404
    assert (await ada.get("/api/workspace")).json()["slug"] == "globex"
