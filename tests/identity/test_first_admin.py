"""The link for the first admin: a quarter of an hour, once, and never again."""

import asyncio
from datetime import timedelta

import httpx2
import pytest
from sqlalchemy import func, select

from gaby.app import build
from gaby.identity.errors import AlreadySetUp, LinkNotAccepted
from gaby.identity.models import Person
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.errors import GabyError
from gaby.kernel.ids import SYSTEM
from gaby.settings import Settings
from tests.support.app_client import PASSWORD, World
from tests.support.database_dump import everything_stored

pytestmark = pytest.mark.promise("P2")

ADA = {"email": "Ada@Acme.example", "name": "Ada Admin", "password": PASSWORD}


async def issue(world: World) -> str | None:
    async with world.gaby.database.write(SYSTEM) as session:
        return await world.gaby.identity.first_admin.issue(session)


async def new_link(world: World) -> str:
    token = await issue(world)
    assert token is not None
    return token


async def use(world: World, token: str, email: str = "ada@acme.example") -> Person:
    async with world.gaby.database.write(AllWorkspaces("a test enters")) as session:
        return await world.gaby.identity.first_admin.use(session, token, email=email, name="Ada", password=PASSWORD)


async def open_link(world: World, token: str) -> httpx2.Response:
    async with world.client() as client:
        return await client.get("/setup", params={"token": token})


async def people(world: World) -> int:
    async with world.gaby.database.read(SYSTEM) as session:
        return await session.scalar(select(func.count()).select_from(Person)) or 0


async def test_the_link_makes_an_admin_who_owns_the_first_workspace_and_is_signed_in(world: World) -> None:
    token = await new_link(world)
    assert token.encode() not in await everything_stored(world.gaby)
    async with world.client() as client:
        page = await client.get("/setup", params={"token": token})
        assert page.status_code == 200
        assert '<form method="post" action="/setup">' in page.text
        done = await client.post("/setup", data={"token": token, **ADA})
        assert done.status_code == 200
        assert "Welcome, Ada Admin" in done.text
        cookie = done.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        session = (await client.get("/api/session")).json()
    assert session["person"]["email"] == "ada@acme.example"
    assert [(each["slug"], each["role"]) for each in session["workspaces"]] == [("main", "owner")]
    assert "installation:manage" in session["permissions"]


async def test_the_link_works_once(world: World) -> None:
    token = await new_link(world)
    async with world.client() as client:
        await client.post("/setup", data={"token": token, **ADA})
    async with world.client() as thief:
        again = await thief.post("/setup", data={"token": token, **ADA, "email": "eve@acme.example"})
        page = await thief.get("/setup", params={"token": token})
        assert not thief.cookies
    for refused in (again, page):
        assert refused.status_code == 404
        assert "<form" not in refused.text
    assert await people(world) == 1
    assert await issue(world) is None


async def test_the_link_is_valid_for_a_quarter_of_an_hour(world: World, clock: ManualClock) -> None:
    token = await new_link(world)
    clock.advance(timedelta(minutes=14, seconds=59))
    assert (await open_link(world, token)).status_code == 200
    clock.advance(timedelta(seconds=1))
    late = await open_link(world, token)
    assert late.status_code == 404
    assert "<form" not in late.text
    with pytest.raises(LinkNotAccepted):
        await use(world, token)
    assert await people(world) == 0
    # Nobody came in time, so the next start may offer another.
    assert (await open_link(world, await new_link(world))).status_code == 200


async def test_a_new_link_replaces_the_one_before(world: World) -> None:
    old, new = await new_link(world), await new_link(world)
    assert old != new
    assert (await open_link(world, old)).status_code == 404
    assert (await open_link(world, new)).status_code == 200


@pytest.mark.parametrize("token", ["x", "a" * 52, "ä" * 200, "' OR 1=1 --"])
async def test_a_wrong_token_is_refused_whether_or_not_a_link_waits(world: World, token: str) -> None:
    before = await open_link(world, token)
    await new_link(world)
    after = await open_link(world, token)
    assert before.status_code == after.status_code == 404
    assert before.content == after.content
    assert "<form" not in after.text


async def test_no_link_is_issued_once_anybody_exists(world: World) -> None:
    waiting = await new_link(world)
    await world.person("ada@acme.example")
    assert await issue(world) is None
    with pytest.raises(AlreadySetUp):
        await use(world, waiting, "eve@acme.example")
    async with world.client() as client:
        refused = await client.post("/setup", data={"token": waiting, **ADA})
    assert refused.status_code == 409
    assert "<form" not in refused.text
    assert await people(world) == 1


async def test_of_two_at_once_exactly_one_becomes_admin(world: World) -> None:
    token = await new_link(world)
    emails = [f"person{number}@acme.example" for number in range(4)]
    async with world.client() as client:
        answers = await asyncio.gather(
            *(client.post("/setup", data={"token": token, **ADA, "email": email}) for email in emails)
        )
    assert sorted(answer.status_code for answer in answers) == [200, 404, 404, 404]
    assert await people(world) == 1


async def test_two_starts_at_once_leave_one_valid_link(world: World) -> None:
    found = await asyncio.gather(issue(world), issue(world), return_exceptions=True)
    tokens = [each for each in found if isinstance(each, str)]
    assert all(isinstance(each, GabyError) for each in found if not isinstance(each, str))
    valid = [token for token in tokens if (await open_link(world, token)).status_code == 200]
    assert len(valid) == 1


async def test_a_mistake_shows_the_form_again_with_what_was_typed_and_the_link_still_works(world: World) -> None:
    token = await new_link(world)
    typed = {"email": "ada@acme.example", "name": '"><script>alert(1)</script>', "password": "short"}
    async with world.client() as client:
        weak = await client.post("/setup", data={"token": token, **typed})
        assert weak.status_code == 422
        assert "at least 12 characters" in weak.text
        assert 'value="ada@acme.example"' in weak.text
        assert "<script>" not in weak.text
        assert "&lt;script&gt;" in weak.text
        assert "short</" not in weak.text
        assert 'value="short"' not in weak.text
        no_address = await client.post("/setup", data={"token": token, **ADA, "email": "nonsense"})
        assert no_address.status_code == 422
        assert 'value="Ada Admin"' in no_address.text
        assert not client.cookies
        assert (await client.post("/setup", data={"token": token, **ADA})).status_code == 200


async def test_markup_in_the_token_is_escaped(world: World) -> None:
    async with world.client() as client:
        page = await client.get("/setup", params={"token": '"><script>alert(1)</script>'})
    assert page.status_code == 404
    assert "<script>" not in page.text


async def test_a_name_is_one_line_and_never_empty(world: World) -> None:
    token = await new_link(world)
    async with world.client() as client:
        done = await client.post("/setup", data={"token": token, **ADA, "name": "Ada\n\x1b[2J"})
        assert done.status_code == 200
        name = (await client.get("/api/session")).json()["person"]["name"]
    assert name.isprintable()
    assert name.startswith("Ada")


async def test_the_cookie_is_secure_behind_https(settings: Settings) -> None:
    """The flag follows the public address, since a proxy speaks plain HTTP with us."""
    for scheme in ("https", "http"):
        gaby = build(settings, public_url=f"{scheme}://gaby.example")
        async with gaby.running(background=False):
            world = World(gaby)
            await world.person(f"{scheme}@acme.example")
            async with world.client() as client:
                sign_in = {"email": f"{scheme}@acme.example", "password": PASSWORD}
                answer = await client.post("/api/session", json=sign_in)
        assert answer.status_code == 201
        assert ("secure" in answer.headers["set-cookie"].lower()) == (scheme == "https")
        assert ("strict-transport-security" in answer.headers) == (scheme == "https")
