"""Invitations: a link lets somebody join, once, and tells nobody who else is known here."""

import asyncio
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from gaby.identity import Role
from gaby.kernel.clock import HeldClock
from tests.support.raw import everything_stored, row_counts
from tests.support.web import PASSWORD, Browser, World

pytestmark = pytest.mark.promise("P3")

BOB = "bob@acme.example"


async def invite(browser: Browser, email: str = BOB, role: Role = Role.VIEWER) -> str:
    answer = await browser.send("POST", "/api/people", {"email": email, "role": role})
    assert answer.status_code == 201, answer.text
    return token_of(answer)


def token_of(answer: httpx2.Response) -> str:
    return parse_qs(urlsplit(str(answer.json()["url"])).query)["token"][0]


async def join(world: World, token: str, password: str = PASSWORD, name: str = "Bob") -> httpx2.Response:
    async with world.client() as client:
        return await client.post("/join", data={"token": token, "name": name, "password": password})


async def roles(browser: Browser) -> dict[str, str]:
    return {each["email"]: each["role"] for each in (await browser.get("/api/people")).json()}


async def test_a_new_person_chooses_a_password_and_is_in(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    token = await invite(ada, "Bob@Acme.Example", Role.OPERATOR)
    assert token.encode() not in await everything_stored(world.gaby)
    async with world.client() as client:
        page = await client.get("/join", params={"token": token})
        assert page.status_code == 200
        assert BOB in page.text
        weak = await client.post("/join", data={"token": token, "name": "Bob <b>", "password": "short"})
        assert weak.status_code == 422
        assert 'value="Bob &lt;b&gt;"' in weak.text
        done = await client.post("/join", data={"token": token, "name": "Bob", "password": PASSWORD})
        assert done.status_code == 200
        assert (await client.get("/api/session")).json()["person"]["name"] == "Bob"
    assert await roles(ada) == {"ada@acme.example": "admin", BOB: "operator"}


async def test_an_invitation_works_once_and_for_three_days(world: World, clock: HeldClock) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    used, late = await invite(ada), await invite(ada, "carol@acme.example")
    clock.advance(timedelta(days=3) - timedelta(seconds=1))
    assert (await join(world, used)).status_code == 200
    assert (await join(world, used)).status_code == 404
    clock.advance(timedelta(seconds=1))
    for token in (used, late, "a" * 52):
        refused = await join(world, token)
        async with world.client() as client:
            page = await client.get("/join", params={"token": token})
        assert (refused.status_code, page.status_code) == (404, 404)
        assert refused.content == page.content
        assert "<form" not in page.text


async def test_of_two_at_once_one_joins(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    token = await invite(ada)
    answers = await asyncio.gather(*(join(world, token) for _ in range(3)))
    assert sorted(answer.status_code for answer in answers) == [200, 404, 404]


@pytest.mark.promise("P4")
async def test_somebody_known_elsewhere_gives_their_own_password_and_keeps_their_name(world: World) -> None:
    acme, globex = await world.workspace("acme"), await world.workspace("globex")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    await world.person(BOB, (globex, Role.OWNER))
    token = await invite(ada)
    wrong = await join(world, token, password="some other password")
    assert wrong.status_code == 401
    assert "<form" in wrong.text
    assert BOB not in await roles(ada)
    assert (await join(world, token, name="Mallory")).status_code == 200
    assert (await roles(ada))[BOB] == "viewer"
    bob = await world.sign_in(BOB)
    session = (await bob.get("/api/session")).json()
    assert session["person"]["name"] == "bob"
    assert {each["slug"]: each["role"] for each in session["workspaces"]} == {"acme": "viewer", "globex": "owner"}


@pytest.mark.promise("P4")
async def test_the_answer_does_not_tell_whether_the_address_is_known_elsewhere(world: World) -> None:
    acme, globex = await world.workspace("acme"), await world.workspace("globex")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    await world.person("known@else.example", (globex, Role.OWNER))
    answers: list[dict[str, str]] = []
    pages: list[str] = []
    for email in ("known@else.example", "never@else.example"):
        before = await row_counts(world.gaby)
        answer = await ada.send(
            "POST", "/api/people", {"email": email, "role": "viewer"}, headers={"X-Request-ID": "same"}
        )
        after = await row_counts(world.gaby)
        assert {name: after[name] - before[name] for name in after if after[name] != before[name]} == {
            "audit_rows": 1,
            "data_keys": 1,
            "invitations": 1,
        }
        token = token_of(answer)
        async with world.client() as client:
            page = await client.get("/join", params={"token": token})
        pages.append(page.text.replace(token, "TOKEN").replace(email, "EMAIL"))
        answers.append(answer.json() | {"url": answer.json()["url"].replace(token, "TOKEN")})
        assert answer.json()["email"] == email
        assert len(token) == 52
    assert answers[0] | {"email": ""} == answers[1] | {"email": ""}
    assert pages[0] == pages[1]


async def test_a_member_keeps_the_higher_role(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.OWNER)
    await world.person(BOB, (acme, Role.CURATOR))
    assert (await join(world, await invite(ada, role=Role.VIEWER))).status_code == 200
    assert (await roles(ada))[BOB] == "curator"
    assert (await join(world, await invite(ada, role=Role.ADMIN))).status_code == 200
    assert (await roles(ada))[BOB] == "admin"
    rows = (await ada.get("/api/audit/rows")).json()
    assert [each["payload"]["role"] for each in rows if each["event"] == "person.joined"] == [
        "owner",
        "curator",
        "curator",
        "admin",
    ]


@pytest.mark.promise("P1")
async def test_an_invitation_is_no_way_around_the_limit_on_guessing(world: World, clock: HeldClock) -> None:
    """Whoever invites has the link, and could try passwords of somebody in another workspace with it."""
    acme, globex = await world.workspace("acme"), await world.workspace("globex")
    mallory = await world.member("mallory@acme.example", acme, Role.ADMIN)
    await world.person(BOB, (globex, Role.OWNER))
    tokens = [await invite(mallory), await invite(mallory)]
    world.gaby.identity.throttle.failed(*[f"email:{BOB}"] * 8)
    for token in tokens:
        assert (await join(world, token, password="a guess like any other")).status_code == 401
    blocked = await join(world, tokens[0])
    assert blocked.status_code == 429
    assert 0 < int(blocked.headers["retry-after"]) <= 900
    async with world.client(address="10.0.0.9") as elsewhere:
        data = {"token": tokens[1], "name": "Bob", "password": PASSWORD}
        assert (await elsewhere.post("/join", data=data)).status_code == 429
    clock.advance(timedelta(minutes=15))
    assert (await join(world, tokens[0])).status_code == 200


async def test_nobody_invites_above_their_own_role(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    for role, status in ((Role.OWNER, 403), (Role.ADMIN, 201), (Role.VIEWER, 201)):
        answer = await ada.send("POST", "/api/people", {"email": BOB, "role": role})
        assert answer.status_code == status
