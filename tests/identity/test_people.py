"""People, roles and groups of a workspace."""

import asyncio
from collections.abc import Awaitable
from uuid import uuid4

import httpx2
import pytest

from gaby.identity import Role
from gaby.identity.models import Person
from gaby.kernel.actors import Permission, system_actor
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.ids import WorkspaceId
from tests.support.app_client import Browser, World

pytestmark = pytest.mark.promise("P3")


def test_each_role_may_do_all_that_the_one_below_may() -> None:
    for lower, higher in zip(Role, list(Role)[1:], strict=False):
        assert lower.permissions <= higher.permissions
        assert higher.may_grant(lower)
        assert not lower.may_grant(higher)
    for role in Role:
        assert Permission.INSTALLATION_MANAGE not in role.permissions


async def test_the_last_owner_can_neither_leave_nor_be_demoted(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.OWNER)
    root = await world.enter(await world.person("root@acme.example", (acme, Role.ADMIN), manages_installation=True))
    for browser in (ada, root):
        demoted = await browser.send("PATCH", f"/api/people/{ada.person_id}", {"role": "admin"})
        removed = await browser.send("DELETE", f"/api/people/{ada.person_id}")
        assert (demoted.status_code, removed.status_code) == (409, 409)
        assert demoted.json()["code"] == removed.json()["code"] == "last_owner"
    # To stay an owner is no demotion.
    assert (await ada.send("PATCH", f"/api/people/{ada.person_id}", {"role": "owner"})).status_code == 200
    bob = await world.person("bob@acme.example", (acme, Role.OWNER))
    assert (await ada.send("DELETE", f"/api/people/{ada.person_id}")).status_code == 204
    assert (await ada.get("/api/people")).status_code == 403
    assert (await root.send("DELETE", f"/api/people/{bob}")).status_code == 409


async def together(*requests: Awaitable[httpx2.Response]) -> list[int]:
    return sorted(answer.status_code for answer in await asyncio.gather(*requests))


async def choose(world: World, slug: str, *browsers: Browser) -> WorkspaceId:
    """A workspace of its own for one round, owned by all of them."""
    workspace_id = await world.workspace(slug)
    async with world.gaby.database.write(AllWorkspaces("a test sets the scene")) as session:
        for browser in browsers:
            person = await session.get_one(Person, browser.person_id)
            join = world.gaby.identity.people.join
            await join(session, system_actor("test"), workspace_id, person, Role.OWNER)
    for browser in browsers:
        chosen = await browser.send("POST", "/api/session/workspace", {"workspace_id": str(workspace_id)})
        assert chosen.status_code == 200
    return workspace_id


async def test_owners_who_act_against_each_other_at_once_leave_one(world: World) -> None:
    ada = await world.enter(await world.person("ada@acme.example"))
    bob = await world.enter(await world.person("bob@acme.example"))

    def act(method: str, actor: Browser, other: Browser) -> Awaitable[httpx2.Response]:
        return actor.send(method, f"/api/people/{other.person_id}", {"role": "viewer"} if method == "PATCH" else None)

    for number, (one, other) in enumerate((("PATCH", "PATCH"), ("DELETE", "PATCH"), ("DELETE", "DELETE")) * 2):
        place = await choose(world, f"round-{number}", ada, bob)
        first, second = await together(act(one, ada, bob), act(other, bob, ada))
        assert first in {200, 204}
        # Too late: no owner any more, or not even a member, or the other is the last owner now.
        assert second in {403, 404, 409}
        async with world.gaby.database.read(place) as session:
            members = await world.gaby.identity.people.list(session)
        assert [member.role for member in members].count(Role.OWNER) == 1


async def test_changing_and_removing_the_same_at_once_is_no_failure(world: World) -> None:
    ada = await world.enter(await world.person("ada@acme.example"))
    bob = await world.enter(await world.person("bob@acme.example"))
    for number in range(3):
        await choose(world, f"round-{number}", ada, bob)
        person = f"/api/people/{bob.person_id}"
        group = "/api/groups/" + (await ada.send("POST", "/api/groups", {"name": "night shift"})).json()["id"]
        key = await ada.send("POST", "/api/keys", {"name": "x", "scopes": ["people:read"]})
        key_path = f"/api/keys/{key.json()['key']['id']}"
        sign_in = await world.enter(ada.person_id)
        own = next(each["id"] for each in (await sign_in.get("/api/sign-ins")).json() if each["current"])
        send = ada.send
        assert await together(send("DELETE", key_path), send("DELETE", key_path)) == [204, 404]
        ended = await together(*(send("DELETE", f"/api/sign-ins/{own}") for _ in range(2)))
        assert ended == [204, 404]
        added = await together(*(send("PUT", f"{group}/members/{bob.person_id}") for _ in range(2)))
        assert added[0] == 204
        assert added[1] in {204, 409}
        assert await together(send("DELETE", group), send("DELETE", group)) == [204, 404]
        assert await together(send("DELETE", person), send("DELETE", person)) == [204, 404]
        await choose(world, f"other-{number}", ada, bob)
        mixed = await together(send("DELETE", person), send("PATCH", person, {"role": "viewer"}))
        assert mixed in ([200, 204], [204, 404])
        assert await together(*(send("POST", "/api/groups", {"name": "same"}) for _ in range(2))) == [201, 409]


async def test_nobody_gives_or_takes_above_their_own_role(world: World) -> None:
    acme = await world.workspace("acme")
    await world.person("olive@acme.example", (acme, Role.OWNER))
    owner = await world.person("owen@acme.example", (acme, Role.OWNER))
    admin = await world.member("ada@acme.example", acme, Role.ADMIN)
    viewer = await world.person("vic@acme.example", (acme, Role.VIEWER))
    up = await admin.send("PATCH", f"/api/people/{viewer}", {"role": "owner"})
    myself = await admin.send("PATCH", f"/api/people/{admin.person_id}", {"role": "owner"})
    down = await admin.send("PATCH", f"/api/people/{owner}", {"role": "viewer"})
    out = await admin.send("DELETE", f"/api/people/{owner}")
    assert [answer.json()["code"] for answer in (up, myself, down, out)] == ["not_yours"] * 4
    equal = await admin.send("PATCH", f"/api/people/{viewer}", {"role": "admin"})
    assert (equal.status_code, equal.json()["role"]) == (200, "admin")
    listed = {each["id"]: each["role"] for each in (await admin.get("/api/people")).json()}
    assert listed[str(owner)] == "owner"
    assert listed[str(admin.person_id)] == "admin"


async def test_somebody_who_was_removed_is_out_at_once_and_only_here(world: World) -> None:
    acme, globex = await world.workspace("acme"), await world.workspace("globex")
    ada = await world.member("ada@acme.example", acme, Role.OWNER)
    bob = await world.enter(await world.person("bob@acme.example", (acme, Role.ADMIN), (globex, Role.VIEWER)))
    group = (await ada.send("POST", "/api/groups", {"name": "night shift"})).json()["id"]
    await ada.send("PUT", f"/api/groups/{group}/members/{bob.person_id}")
    assert (await bob.get("/api/keys")).status_code == 200
    assert (await ada.send("DELETE", f"/api/people/{bob.person_id}")).status_code == 204
    assert (await bob.get("/api/keys")).status_code == 403
    assert (await bob.get("/api/workspace")).status_code == 403
    assert (await ada.get("/api/groups")).json()[0]["members"] == []
    session = (await bob.get("/api/session")).json()
    assert (session["workspace_id"], session["permissions"]) == (None, [])
    assert [each["slug"] for each in session["workspaces"]] == ["globex"]


async def test_groups_are_made_filled_emptied_and_removed(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    vic = await world.member("vic@acme.example", acme, Role.VIEWER)
    made = await ada.send("POST", "/api/groups", {"name": "night shift"})
    assert made.status_code == 201
    group = f"/api/groups/{made.json()['id']}"
    assert (await ada.send("POST", "/api/groups", {"name": "night shift"})).status_code == 409
    for _ in range(2):
        assert (await ada.send("PUT", f"{group}/members/{vic.person_id}")).status_code == 204
    assert (await vic.get("/api/groups")).json() == [made.json() | {"members": [str(vic.person_id)]}]
    assert (await ada.send("PUT", f"{group}/members/{uuid4()}")).status_code == 404
    assert (await vic.send("PUT", f"{group}/members/{vic.person_id}")).status_code == 403
    assert (await ada.send("DELETE", f"{group}/members/{vic.person_id}")).status_code == 204
    assert (await ada.send("DELETE", f"{group}/members/{vic.person_id}")).status_code == 404
    assert (await ada.send("DELETE", group)).status_code == 204
    assert (await ada.send("DELETE", group)).status_code == 404
    assert (await ada.get("/api/groups")).json() == []


@pytest.mark.promise("P4")
async def test_people_of_another_workspace_cannot_be_put_into_a_group(world: World) -> None:
    acme, globex = await world.workspace("acme"), await world.workspace("globex")
    ada = await world.member("ada@acme.example", acme, Role.ADMIN)
    stranger = await world.person("bob@globex.example", (globex, Role.VIEWER))
    group = (await ada.send("POST", "/api/groups", {"name": "night shift"})).json()["id"]
    assert (await ada.send("PUT", f"/api/groups/{group}/members/{stranger}")).status_code == 404


async def test_people_are_listed_page_by_page(world: World) -> None:
    acme = await world.workspace("acme")
    ada = await world.member("ada@acme.example", acme, Role.VIEWER)
    for number in range(3):
        await world.person(f"person{number}@acme.example", (acme, Role.VIEWER))
    everybody = [each["id"] for each in (await ada.get("/api/people")).json()]
    assert len(everybody) == 4
    found: list[str] = []
    while page := (await ada.get("/api/people", params={"limit": 3} | ({"after": found[-1]} if found else {}))).json():
        found += [each["id"] for each in page]
    assert found == everybody
    shown = await ada.get(f"/api/people/{everybody[0]}")
    assert shown.json()["email"] == "ada@acme.example"


async def test_only_who_manages_the_installation_makes_workspaces(world: World) -> None:
    acme = await world.workspace("acme")
    owner = await world.member("ada@acme.example", acme, Role.OWNER)
    root = await world.enter(await world.person("root@acme.example", manages_installation=True))
    body = {"slug": "globex", "name": "Globex"}
    assert (await owner.send("POST", "/api/workspaces", body)).status_code == 403
    made = await root.send("POST", "/api/workspaces", body)
    assert made.status_code == 201
    assert (await root.send("POST", "/api/workspaces", body)).status_code == 409
    mine = (await root.get("/api/session")).json()["workspaces"]
    assert [(each["slug"], each["role"]) for each in mine] == [("globex", "owner")]
    renamed = await owner.send("PATCH", "/api/workspace", {"name": "Acme & Sons"})
    assert renamed.json()["name"] == "Acme & Sons"
