"""Nobody hands on more than they hold, by whatever route, and whoever loses a role loses it everywhere at once."""

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from gaby.identity import Role
from gaby.identity.models import Person
from gaby.kernel.actors import Permission
from gaby.kernel.clock import ManualClock
from gaby.kernel.ids import SYSTEM, PersonId, WorkspaceId
from tests.support.app_client import PASSWORD, Browser, World

pytestmark = pytest.mark.promise("P1", "P3")

VIEWER = sorted(Role.VIEWER.permissions)
ADMIN = sorted(Role.ADMIN.permissions)


async def make_key(maker: Browser, *scopes: Permission, **more: Any) -> dict[str, Any]:
    body = {"name": "x", "scopes": list(scopes), **more}
    answer = await maker.send("POST", "/api/keys", body)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def status_of(world: World, key: str, path: str = "/api/people") -> int:
    async with world.program(key) as program:
        return (await program.get(path)).status_code


def token_of(answer: httpx2.Response) -> str:
    assert answer.status_code == 201, answer.text
    return parse_qs(urlsplit(str(answer.json()["url"])).query)["token"][0]


async def join(world: World, token: str) -> int:
    async with world.client() as client:
        data = {"token": token, "name": "New", "password": PASSWORD}
        return (await client.post("/join", data=data)).status_code


async def set_role(world: World, owner: Browser, person_id: PersonId, role: Role) -> None:
    assert (await owner.send("PATCH", f"/api/people/{person_id}", {"role": role})).status_code == 200


async def suspend(world: World, person_id: PersonId) -> None:
    async with world.gaby.database.write(SYSTEM) as session:
        (await session.get_one(Person, person_id)).disabled_at = world.gaby.clock.now()


async def pair(world: World) -> tuple[WorkspaceId, Browser, Browser]:
    """An owner, and an admin who is about to lose what they have."""
    acme = await world.workspace("acme")
    owner = await world.member("olga@acme.example", acme, Role.OWNER)
    return acme, owner, await world.member("adam@acme.example", acme, Role.ADMIN)


@pytest.mark.parametrize(
    "scopes",
    [
        [Permission.PEOPLE_MANAGE],
        [Permission.PEOPLE_MANAGE, Permission.PEOPLE_READ],
        [Permission.PEOPLE_MANAGE, Permission.INSTALLATION_MANAGE],
        [Permission.PEOPLE_MANAGE, Permission.KEYS_MANAGE],
        [Permission.PEOPLE_MANAGE, *sorted(Role.CURATOR.permissions)],
        [scope for scope in ADMIN if scope is not Permission.AUDIT_READ],
    ],
)
async def test_a_key_gives_no_role_that_holds_more_than_its_scopes(world: World, scopes: list[Permission]) -> None:
    acme = await world.workspace("acme")
    friend = await world.person("friend@acme.example", (acme, Role.VIEWER))
    admin = await world.person("adam@acme.example", (acme, Role.ADMIN))
    async with world.program(await world.key(acme, *scopes)) as program:
        invited = await program.post("/api/people", json={"email": "eve@acme.example", "role": "admin"})
        raised = await program.patch(f"/api/people/{friend}", json={"role": "admin"})
        lowered = await program.patch(f"/api/people/{admin}", json={"role": "viewer"})
        removed = await program.delete(f"/api/people/{admin}")
        owner = await program.post("/api/people", json={"email": "eve@acme.example", "role": "owner"})
    assert [answer.status_code for answer in (invited, raised, lowered, removed, owner)] == [403] * 5
    assert {answer.json()["code"] for answer in (invited, raised, lowered, removed, owner)} == {"not_yours"}


async def test_a_key_that_holds_all_of_a_role_gives_and_takes_it(world: World) -> None:
    acme = await world.workspace("acme")
    friend = await world.person("friend@acme.example", (acme, Role.VIEWER))
    async with world.program(await world.key(acme, Permission.PEOPLE_MANAGE, *VIEWER)) as program:
        token = token_of(await program.post("/api/people", json={"email": "new@acme.example", "role": "viewer"}))
        assert (await program.delete(f"/api/people/{friend}")).status_code == 204
        assert (await program.patch(f"/api/people/{friend}", json={"role": "viewer"})).status_code == 404
    assert await join(world, token) == 200
    async with world.program(await world.key(acme, *ADMIN)) as program:
        other = await world.person("other@acme.example", (acme, Role.VIEWER))
        assert (await program.patch(f"/api/people/{other}", json={"role": "admin"})).status_code == 200
        # All of an admin's scopes are all of an owner's too, and still a key makes no owners.
        assert (await program.patch(f"/api/people/{other}", json={"role": "owner"})).status_code == 403


@pytest.mark.parametrize("loss", ["removed", "suspended"])
async def test_the_key_of_somebody_who_is_gone_is_refused(world: World, loss: str) -> None:
    _, owner, adam = await pair(world)
    key = await make_key(adam, Permission.PEOPLE_READ, Permission.APPROVALS_DECIDE, Permission.KEYS_MANAGE)
    async with world.program(key["text"]) as program:
        child = (await program.post("/api/keys", json={"name": "c", "scopes": ["approvals:decide"]})).json()
        assert (await program.get("/api/people")).status_code == 200
    theirs = await make_key(owner, Permission.PEOPLE_READ)
    if loss == "removed":
        assert (await owner.send("DELETE", f"/api/people/{adam.person_id}")).status_code == 204
    else:
        await suspend(world, adam.person_id)
    for text in (key["text"], child["text"]):
        async with world.program(text) as program:
            assert (await program.get("/api/people")).status_code == 401
            assert (await program.get("/api/approvals")).status_code == 401
            refused = await program.post("/api/keys", json={"name": "x", "scopes": ["approvals:decide"]})
            assert (refused.status_code, refused.json()["code"]) == (401, "key_not_accepted")
    assert await status_of(world, theirs["text"]) == 200


async def test_the_key_of_somebody_who_is_demoted_is_cut_down_at_once_and_grows_back(world: World) -> None:
    _, owner, adam = await pair(world)
    key = (await make_key(adam, Permission.PEOPLE_READ, Permission.AUDIT_READ, Permission.KEYS_MANAGE))["text"]
    assert await status_of(world, key, "/api/audit/rows") == 200
    await set_role(world, owner, adam.person_id, Role.VIEWER)
    assert await status_of(world, key, "/api/audit/rows") == 403
    assert await status_of(world, key, "/api/keys") == 403
    assert await status_of(world, key, "/api/people") == 200
    await set_role(world, owner, adam.person_id, Role.ADMIN)
    assert await status_of(world, key, "/api/audit/rows") == 200


async def test_the_key_of_somebody_who_no_longer_manages_the_installation_manages_it_no_longer(world: World) -> None:
    acme = await world.workspace("acme")
    root = await world.enter(await world.person("root@acme.example", (acme, Role.ADMIN), manages_installation=True))
    key = (await make_key(root, Permission.INSTALLATION_MANAGE))["text"]
    assert await status_of(world, key, "/api/system/checks") == 200
    async with world.gaby.database.write(SYSTEM) as session:
        (await session.get_one(Person, root.person_id)).manages_installation = False
    assert await status_of(world, key, "/api/system/checks") == 403


async def test_a_key_that_ends_makes_none_that_lasts(world: World, clock: ManualClock) -> None:
    _, _, adam = await pair(world)
    end = clock.now() + timedelta(hours=1)
    scopes = (Permission.KEYS_MANAGE, Permission.PEOPLE_READ)
    parent = await make_key(adam, *scopes, expires_at=end.isoformat())
    wanted = {"name": "child", "scopes": ["keys:manage", "people:read"]}
    async with world.program(parent["text"]) as program:
        later = (end + timedelta(microseconds=1)).isoformat()
        for expires_at in (later, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999+00:00"):
            refused = await program.post("/api/keys", json=wanted | {"expires_at": expires_at})
            assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        sooner = await program.post("/api/keys", json=wanted | {"expires_at": (end - timedelta(minutes=1)).isoformat()})
        untold = await program.post("/api/keys", json=wanted)
        null = await program.post("/api/keys", json=wanted | {"expires_at": None})
    assert [answer.status_code for answer in (sooner, untold, null)] == [201] * 3
    for answer in (untold, null):
        assert answer.json()["key"]["expires_at"] == parent["key"]["expires_at"]
    async with world.program(untold.json()["text"]) as program:
        grandchild = (await program.post("/api/keys", json=wanted)).json()
    assert grandchild["key"]["expires_at"] == parent["key"]["expires_at"]
    clock.advance(timedelta(hours=1))
    for made in (parent, untold.json(), grandchild):
        assert await status_of(world, made["text"]) == 401


async def test_a_key_makes_none_with_wider_scopes_than_it_has_now(world: World) -> None:
    _, owner, adam = await pair(world)
    key = (await make_key(adam, Permission.KEYS_MANAGE, Permission.PEOPLE_READ))["text"]
    async with world.program(key) as program:
        for scopes in (["audit:read"], ["people:read", "people:manage"], [str(scope) for scope in Permission]):
            assert (await program.post("/api/keys", json={"name": "x", "scopes": scopes})).status_code == 403
        child = (await program.post("/api/keys", json={"name": "x", "scopes": ["people:read"]})).json()
    assert await status_of(world, child["text"]) == 200
    assert await status_of(world, child["text"], "/api/keys") == 403
    assert await status_of(world, key, "/api/keys") == 200
    assert (await owner.get("/api/keys")).status_code == 200


async def test_a_revoked_key_takes_what_it_made_with_it(world: World) -> None:
    _, owner, adam = await pair(world)
    parent = await make_key(adam, Permission.KEYS_MANAGE, Permission.PEOPLE_READ)
    second = await make_key(adam, Permission.PEOPLE_READ)
    body = {"name": "x", "scopes": ["keys:manage", "people:read"]}
    async with world.program(parent["text"]) as program:
        child = (await program.post("/api/keys", json=body)).json()
    async with world.program(child["text"]) as program:
        grandchild = (await program.post("/api/keys", json=body)).json()
    assert await status_of(world, grandchild["text"]) == 200
    assert (await owner.send("DELETE", f"/api/keys/{parent['key']['id']}")).status_code == 204
    for made in (parent, child, grandchild):
        assert await status_of(world, made["text"]) == 401
    assert await status_of(world, second["text"]) == 200
    revoked = [row for row in (await owner.get("/api/audit/rows")).json() if row["event"] == "key.revoked"]
    assert len(revoked) == 3


@pytest.mark.parametrize("loss", ["removed", "demoted", "suspended"])
async def test_the_invitation_of_somebody_who_lost_their_role_lets_nobody_in(world: World, loss: str) -> None:
    """An admin who sees it coming makes a link for themselves."""
    _, owner, adam = await pair(world)
    body = {"email": "adam.two@acme.example", "role": "admin"}
    token = token_of(await adam.send("POST", "/api/people", body))
    kept = token_of(await owner.send("POST", "/api/people", {"email": "new@acme.example", "role": "admin"}))
    if loss == "removed":
        assert (await owner.send("DELETE", f"/api/people/{adam.person_id}")).status_code == 204
    elif loss == "demoted":
        await set_role(world, owner, adam.person_id, Role.CURATOR)
    else:
        await suspend(world, adam.person_id)
    assert await join(world, token) == 404
    assert await join(world, kept) == 200


async def test_the_invitation_of_a_revoked_key_lets_nobody_in(world: World) -> None:
    _, owner, adam = await pair(world)
    key = await make_key(adam, *Role.ADMIN.permissions)
    async with world.program(key["text"]) as program:
        token, other = [
            token_of(await program.post("/api/people", json={"email": email, "role": "admin"}))
            for email in ("eve@acme.example", "new@acme.example")
        ]
    assert await join(world, other) == 200
    assert (await owner.send("DELETE", f"/api/keys/{key['key']['id']}")).status_code == 204
    assert await join(world, token) == 404


@pytest.mark.parametrize("loss", ["removed", "demoted"])
async def test_a_second_link_does_not_bring_back_what_was_taken(world: World, loss: str) -> None:
    _, owner, adam = await pair(world)
    spare = token_of(await owner.send("POST", "/api/people", {"email": "adam@acme.example", "role": "admin"}))
    if loss == "removed":
        assert (await owner.send("DELETE", f"/api/people/{adam.person_id}")).status_code == 204
    else:
        await set_role(world, owner, adam.person_id, Role.VIEWER)
    async with world.client() as client:
        data = {"token": spare, "account": "existing", "password": PASSWORD}
        assert (await client.post("/join", data=data)).status_code == 404
    assert await join(world, spare) == 404
    # A link that is made afterwards is meant.
    fresh = token_of(await owner.send("POST", "/api/people", {"email": "adam@acme.example", "role": "admin"}))
    async with world.client() as client:
        data = {"token": fresh, "account": "existing", "password": PASSWORD}
        assert (await client.post("/join", data=data)).status_code == 200


async def test_groups_give_no_permission(world: World) -> None:
    acme = await world.workspace("acme")
    vera = await world.member("vera@acme.example", acme, Role.VIEWER)
    async with world.program(await world.key(acme, Permission.PEOPLE_MANAGE)) as program:
        for name in ("admin", "owner", "installation:manage"):
            group = (await program.post("/api/groups", json={"name": name})).json()["id"]
            assert (await program.put(f"/api/groups/{group}/members/{vera.person_id}")).status_code == 204
    assert set((await vera.get("/api/session")).json()["permissions"]) == set(VIEWER)
