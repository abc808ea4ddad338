"""Invitations: a link lets somebody join, once, and tells nobody who else is known here."""

import asyncio
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from gaby.identity import Role
from gaby.identity.models import Person
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.ids import SYSTEM, PersonId
from tests.support.app_client import PASSWORD, Browser, World
from tests.support.database_dump import everything_stored, row_counts

pytestmark = pytest.mark.promise("P3")

BOB = "bob@acme.example"


async def invite(browser: Browser, email: str = BOB, role: Role = Role.VIEWER) -> str:
    answer = await browser.send("POST", "/api/people", {"email": email, "role": role})
    assert answer.status_code == 201, answer.text
    return token_of(answer)


def token_of(answer: httpx2.Response) -> str:
    return parse_qs(urlsplit(str(answer.json()["url"])).query)["token"][0]


async def join(world: World, token: str, password: str = PASSWORD, name: str = "Bob") -> httpx2.Response:
    """With a new account."""
    async with world.client() as client:
        return await client.post("/join", data={"token": token, "name": name, "password": password})


async def join_as(world: World, token: str, password: str = PASSWORD, workspace: str = "") -> httpx2.Response:
    """With an account that exists."""
    data = {"token": token, "account": "existing", "workspace": workspace, "password": password}
    async with world.client() as client:
        return await client.post("/join", data=data)


async def signs_in(world: World, email: str, password: str, workspace: str | None = None) -> httpx2.Response:
    async with world.client() as client:
        body = {"email": email, "password": password, "workspace": workspace}
        return await client.post("/api/session", json=body)


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


async def test_an_invitation_works_once_and_for_three_days(world: World, clock: ManualClock) -> None:
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
async def test_somebody_known_elsewhere_joins_with_the_account_they_prove_to_have(world: World) -> None:
    acme, globex = await world.workspace("acme"), await world.workspace("globex")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    await world.person(BOB, (globex, Role.OWNER))
    token = await invite(ada)
    wrong = await join_as(world, token, password="some other password")
    assert wrong.status_code == 401
    assert "<form" in wrong.text
    assert BOB not in await roles(ada)
    assert (await join_as(world, token)).status_code == 200
    assert (await roles(ada))[BOB] == "viewer"
    bob = await world.sign_in(BOB)
    session = (await bob.get("/api/session")).json()
    assert session["person"]["name"] == "bob"
    assert {each["slug"]: each["role"] for each in session["workspaces"]} == {"acme": "viewer", "globex": "owner"}


@pytest.mark.promise("P4")
async def test_an_account_made_by_one_workspaces_link_joins_another_by_naming_its_home(world: World) -> None:
    acme, globex = await world.workspace("acme"), await world.workspace("globex")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    gus = await world.member("gus@globex.example", globex, Role.ADMIN)
    assert (await join(world, await invite(ada))).status_code == 200
    token = await invite(gus)
    assert (await join_as(world, token)).status_code == 401
    assert (await join_as(world, token, workspace="globex")).status_code == 401
    assert (await join_as(world, token, workspace="acme")).status_code == 200
    session = (await signs_in(world, BOB, PASSWORD, "acme")).json()
    assert {each["slug"] for each in session["workspaces"]} == {"acme", "globex"}


@pytest.mark.promise("P4")
@pytest.mark.parametrize("known", ["nobody", "installation", "workspace", "suspended"])
async def test_joining_goes_the_same_way_whether_or_not_the_address_is_known_elsewhere(
    world: World, known: str
) -> None:
    """The inviter uses the link themselves, with a password of their own, to find out whether the address is taken."""
    acme, globex = await world.workspace("acme"), await world.workspace("globex")
    mallory = await world.member("mallory@acme.example", acme, Role.ADMIN)
    if known in {"installation", "suspended"}:
        person = await world.person(BOB, (globex, Role.OWNER))
        if known == "suspended":
            await suspend(world, person)
    elif known == "workspace":
        gus = await world.member("gus@globex.example", globex, Role.ADMIN)
        assert (await join(world, await invite(gus), password="what bob himself chose")).status_code == 200
    token = await invite(mallory)
    guess = await join_as(world, token, password="a guess of mallory")
    assert guess.status_code == 401
    before = await row_counts(world.gaby)
    done = await join(world, token, password="the choice of mallory", name="Bob")
    after = await row_counts(world.gaby)
    assert done.status_code == 200
    assert "Welcome, Bob" in done.text
    grown = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    assert grown == {
        "audit_rows": 3,
        "data_keys": 2,
        "known_devices": 1,
        "memberships": 1,
        "people": 1,
        "sign_ins": 1,
    }


@pytest.mark.promise("P4")
async def test_an_inviter_who_uses_the_link_themselves_gets_no_hold_on_the_address(world: World) -> None:
    acme, globex = await world.workspace("acme"), await world.workspace("globex")
    mallory = await world.member("mallory@acme.example", acme, Role.ADMIN)
    gus = await world.member("gus@globex.example", globex, Role.ADMIN)
    assert (await join(world, await invite(mallory), password="the choice of mallory")).status_code == 200
    # The real Bob is invited elsewhere, chooses his own password, and is alone there.
    assert (await join(world, await invite(gus), password="what bob himself chose")).status_code == 200
    assert (await signs_in(world, BOB, "what bob himself chose", "globex")).status_code == 201
    for workspace in ("globex", None, "", "no-such-place", "GLOBEX", " acme"):
        assert (await signs_in(world, BOB, "the choice of mallory", workspace)).status_code == 401, workspace
    squatted = (await signs_in(world, BOB, "the choice of mallory", "acme")).json()
    assert {each["slug"] for each in squatted["workspaces"]} == {"acme"}
    # Nor does an account that is made on the machine meet the squatter.
    async with world.gaby.database.write(AllWorkspaces("a test sets the scene")) as session:
        create = world.gaby.identity.people.create
        made = await create(session, system_actor("test"), email=BOB, name="Bob", password="made on the machine")
    assert str(made.id) != squatted["person"]["id"]


async def test_a_second_link_for_a_member_does_not_make_a_second_account(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    first, second, third = [await invite(ada) for _ in range(3)]
    assert (await join(world, first)).status_code == 200
    again = await join(world, second)
    assert again.status_code == 409
    assert "<form" in again.text
    assert (await join_as(world, second, workspace="acme")).status_code == 200
    await world.person("carol@acme.example", (acme, Role.VIEWER))
    assert (await join(world, await invite(ada, "carol@acme.example"))).status_code == 409
    answers = await asyncio.gather(join(world, third), join(world, await invite(ada)))
    assert [answer.status_code for answer in answers] == [409, 409]


async def suspend(world: World, person_id: PersonId) -> None:
    async with world.gaby.database.write(SYSTEM) as session:
        (await session.get_one(Person, person_id)).disabled_at = world.gaby.clock.now()


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
    assert (await join_as(world, await invite(ada, role=Role.VIEWER))).status_code == 200
    assert (await roles(ada))[BOB] == "curator"
    assert (await join_as(world, await invite(ada, role=Role.ADMIN))).status_code == 200
    assert (await roles(ada))[BOB] == "admin"
    rows = (await ada.get("/api/audit/rows")).json()
    assert [each["payload"]["role"] for each in rows if each["event"] == "person.joined"] == [
        "owner",
        "curator",
        "curator",
        "admin",
    ]


@pytest.mark.promise("P1")
async def test_an_invitation_is_no_way_around_the_limit_on_guessing(world: World, clock: ManualClock) -> None:
    """Whoever invites has the link, and could try passwords of somebody in another workspace with it."""
    acme, globex = await world.workspace("acme"), await world.workspace("globex")
    mallory = await world.member("mallory@acme.example", acme, Role.ADMIN)
    await world.person(BOB, (globex, Role.OWNER))
    tokens = [await invite(mallory), await invite(mallory)]
    for _ in range(4):
        assert (await signs_in(world, BOB, "a guess like any other")).status_code == 401
        for token in tokens:
            assert (await join_as(world, token, password="a guess like any other")).status_code in {401, 429}
    blocked = await join_as(world, tokens[0])
    assert blocked.status_code == 429
    assert 0 < int(blocked.headers["retry-after"]) <= 900
    assert (await signs_in(world, BOB, PASSWORD)).status_code == 429
    clock.advance(timedelta(minutes=15))
    assert (await join_as(world, tokens[0])).status_code == 200


async def test_nobody_invites_above_their_own_role(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    for role, status in ((Role.OWNER, 403), (Role.ADMIN, 201), (Role.VIEWER, 201)):
        answer = await ada.send("POST", "/api/people", {"email": BOB, "role": role})
        assert answer.status_code == status
