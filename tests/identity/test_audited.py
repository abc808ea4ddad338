"""Every decision about people and keys is in the audit log, or it did not happen."""

from collections.abc import Awaitable, Callable, Generator
from typing import Any

import httpx2
import pytest
from sqlalchemy import select

from gaby.audit import snapshot
from gaby.audit.models import AuditRowRecord
from gaby.audit.verify import verify_lines
from gaby.identity import Role
from gaby.identity.networks import network_of
from gaby.kernel import failpoints
from gaby.kernel.actors import Permission
from gaby.kernel.crypto.errors import SubjectShredded
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.ids import SYSTEM, WorkspaceId
from tests.kernel.logs import captured
from tests.support.app_client import PASSWORD, Browser, World
from tests.support.database_dump import all_rows, requested_rows

pytestmark = pytest.mark.promise("A1")

Row = tuple[WorkspaceId, str, str, str]


async def log(world: World) -> list[Row]:
    """Which log, what, and who, in the order it was written."""
    query = select(AuditRowRecord).order_by(AuditRowRecord.id)
    async with world.gaby.database.read(AllWorkspaces("a test looks at every log")) as session:
        return [
            (WorkspaceId(row.workspace_id), row.event, row.actor_kind, row.actor_id)
            for row in await session.scalars(query)
            if not row.event.startswith("audit.")
        ]


async def all_but_attempts(world: World) -> dict[str, list[str]]:
    """An attempt at a password is counted before anything else, and stays counted whatever fails later."""
    return {table: rows for table, rows in (await requested_rows(world.gaby)).items() if table != "sign_in_limits"}


@pytest.fixture
def failing_audit() -> Generator[Callable[[bool], None]]:
    yield lambda fails: failpoints.configure("audit.before_insert=error" if fails else None)
    failpoints.configure(None)


async def scene(world: World) -> tuple[WorkspaceId, Browser, Browser]:
    acme = await world.workspace("acme")
    ada = await world.enter(await world.person("ada@acme.example", (acme, Role.OWNER), manages_installation=True))
    return acme, ada, await world.member("bob@acme.example", acme, Role.VIEWER)


async def test_each_action_leaves_its_row_in_the_right_log(world: World) -> None:
    acme, ada, bob = await scene(world)
    by_ada, seen = ("user", str(ada.person_id)), len(await log(world))

    async def expect(request: Awaitable[httpx2.Response], *rows: Row) -> Any:
        nonlocal seen
        answer = await request
        written = (await log(world))[seen:]
        seen += len(written)
        assert sorted(written) == sorted(rows), answer.text
        return answer.json() if answer.content[:1] in {b"{", b"["} else answer.text

    send = ada.send
    group = await expect(send("POST", "/api/groups", {"name": "night shift"}), (acme, "group.created", *by_ada))
    member = f"/api/groups/{group['id']}/members/{bob.person_id}"
    await expect(send("PUT", member), (acme, "group.member_added", *by_ada))
    await expect(send("PUT", member))
    await expect(send("DELETE", member), (acme, "group.member_removed", *by_ada))
    await expect(send("DELETE", f"/api/groups/{group['id']}"), (acme, "group.removed", *by_ada))
    await expect(send("PATCH", "/api/workspace", {"name": "Acme"}), (acme, "workspace.renamed", *by_ada))
    person = f"/api/people/{bob.person_id}"
    await expect(send("PATCH", person, {"role": "curator"}), (acme, "person.role_changed", *by_ada))
    await expect(send("DELETE", person), (acme, "person.removed", *by_ada))
    await expect(send("DELETE", person))

    key = await expect(
        send("POST", "/api/keys", {"name": "x", "scopes": ["people:manage"]}), (acme, "key.created", *by_ada)
    )
    async with world.program(key["text"]) as program:
        await expect(
            program.post("/api/groups", json={"name": "by key"}), (acme, "group.created", "key", key["key"]["id"])
        )
        await expect(program.get("/api/keys"))
    await expect(send("DELETE", f"/api/keys/{key['key']['id']}"), (acme, "key.revoked", *by_ada))

    invited = await expect(
        send("POST", "/api/people", {"email": "new@acme.example", "role": "viewer"}), (acme, "person.invited", *by_ada)
    )
    async with world.client() as client:
        data = {"token": invited["url"].partition("=")[2], "name": "New", "password": PASSWORD}
        before = seen
        await client.post("/join", data=data)
        new = (await client.get("/api/session")).json()["person"]["id"]
        seen = before + 3
        assert sorted((await log(world))[before:]) == sorted(
            [
                (SYSTEM, "person.created", "system", "invitation"),
                (acme, "person.joined", "system", "invitation"),
                (SYSTEM, "sign_in.started", "user", new),
            ]
        )
        wrong = {"email": "new@acme.example", "password": "not it at all"}
        await expect(client.post("/api/session", json=wrong), (SYSTEM, "sign_in.failed", "system", "sign-in"))

    made = await send("POST", "/api/workspaces", {"slug": "globex", "name": "Globex"})
    globex = WorkspaceId(made.json()["id"])
    assert [(str(place), *rest) for place, *rest in sorted((await log(world))[seen:])] == [
        (str(SYSTEM), "workspace.created", *by_ada),
        (str(globex), "person.joined", *by_ada),
    ]
    seen += 2
    change = {"current": PASSWORD, "new": "a wholly new passphrase"}
    await expect(
        send("POST", "/api/session/password", change),
        (SYSTEM, "person.password_changed", *by_ada),
        (SYSTEM, "sign_in.ended_others", *by_ada),
    )
    change["current"] = "no such password"
    await expect(send("POST", "/api/session/password", change), (SYSTEM, "sign_in.failed", "system", "sign-in"))
    await expect(send("DELETE", "/api/session"), (SYSTEM, "sign_in.ended", *by_ada))


@pytest.mark.promise("A2")
async def test_what_cannot_be_recorded_does_not_happen(world: World, failing_audit: Callable[[bool], None]) -> None:
    _, ada, bob = await scene(world)
    group = (await ada.send("POST", "/api/groups", {"name": "night shift"})).json()["id"]
    key = (await ada.send("POST", "/api/keys", {"name": "x", "scopes": ["people:read"]})).json()["key"]["id"]
    invited = (await ada.send("POST", "/api/people", {"email": "new@acme.example", "role": "viewer"})).json()
    changes: list[tuple[str, str, Any]] = [
        ("POST", "/api/groups", {"name": "day shift"}),
        ("PUT", f"/api/groups/{group}/members/{bob.person_id}", None),
        ("DELETE", f"/api/groups/{group}/members/{bob.person_id}", None),
        ("PATCH", "/api/workspace", {"name": "Acme"}),
        ("PATCH", f"/api/people/{bob.person_id}", {"role": "admin"}),
        ("POST", "/api/people", {"email": "third@acme.example", "role": "viewer"}),
        ("POST", "/api/keys", {"name": "y", "scopes": ["people:read"]}),
        ("DELETE", f"/api/keys/{key}", None),
        ("DELETE", f"/api/groups/{group}", None),
        ("DELETE", f"/api/people/{bob.person_id}", None),
        ("POST", "/api/workspaces", {"slug": "globex", "name": "Globex"}),
        ("POST", "/api/session/password", {"current": PASSWORD, "new": "a wholly new passphrase"}),
        ("DELETE", "/api/sign-ins", None),
        ("DELETE", "/api/session", None),
    ]
    with captured():
        for method, path, body in changes:
            before = await all_but_attempts(world)
            failing_audit(True)
            refused = await ada.send(method, path, body)
            assert refused.status_code >= 500, path
            assert refused.headers["content-type"] == "application/problem+json"
            assert "set-cookie" not in refused.headers
            failing_audit(False)
            assert await all_but_attempts(world) == before, path
            done = await ada.send(method, path, body)
            assert done.is_success, (path, done.text)
            assert await all_but_attempts(world) != before
        async with world.client() as client:
            data = {"token": invited["url"].partition("=")[2], "name": "New", "password": PASSWORD}
            before = await all_but_attempts(world)
            failing_audit(True)
            joined = await client.post("/join", data=data)
            signed_in = await client.post("/api/session", json={"email": "bob@acme.example", "password": PASSWORD})
            failing_audit(False)
            assert (joined.status_code >= 500, signed_in.status_code >= 500) == (True, True)
            assert not client.cookies
            assert await all_but_attempts(world) == before
            assert (await client.post("/join", data=data)).status_code == 200


@pytest.mark.promise("A6")
async def test_addresses_are_sealed_in_the_log_and_can_be_forgotten(world: World) -> None:
    acme, ada, _ = await scene(world)
    email = "quentin.forgetme@acme.example"
    invited = (await ada.send("POST", "/api/people", {"email": email, "role": "viewer"})).json()
    async with world.client() as client:
        data = {"token": invited["url"].partition("=")[2], "name": "Quentin", "password": PASSWORD}
        assert (await client.post("/join", data=data)).status_code == 200
        person = (await client.get("/api/session")).json()["person"]["id"]
    await world.gaby.checkpointer.checkpoint()
    stored = await all_rows(world.gaby)
    listed = (await ada.get("/api/audit/rows", params={"limit": 1000})).json()
    export = (await ada.get("/api/audit/export")).content
    for place in (str(stored["audit_rows"]), str(listed), export.decode()):
        assert "quentin" not in place.lower()
        assert "forgetme" not in place.lower()

    subject = f"person:{person}"
    (sealed,) = [
        row["payload"]["email"]["sealed"] for row in listed if row["payload"].get("email", {}).get("subject") == subject
    ]
    vault, database = world.gaby.vault, world.gaby.database
    async with database.read(acme) as session:
        assert await vault.open(session, subject, sealed, "audit") == email
    async with database.write(acme) as session:
        assert await vault.shred(session, subject)
    async with database.read(acme) as session:
        with pytest.raises(SubjectShredded):
            await vault.open(session, subject, sealed, "audit")

    after = (await ada.get("/api/audit/export")).content
    report = verify_lines(after.splitlines(keepends=True))
    assert report.ok, report.findings
    assert after == export
    assert report.rows == len(listed)


async def test_reading_leaves_no_rows(world: World) -> None:
    acme, ada, bob = await scene(world)
    before = await log(world)
    async with world.program(await world.key(acme, *Permission)) as program:
        before = await log(world)
        for path in ("/api/people", "/api/groups", "/api/keys", "/api/workspace", "/api/audit/rows", "/livez"):
            for client in (ada.client, bob.client, program):
                await client.get(path)
    assert await log(world) == before


@pytest.mark.promise("A6")
@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:1:2::3", "2001:db8:1::/48"),
        ("fe80::1%eth0", "fe80::/48"),
        ("testclient", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_network_tells_where_from_and_not_who(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.promise("A6")
async def test_a_failed_sign_in_is_recorded_with_its_network_and_not_its_address(world: World) -> None:
    async with world.client() as client:
        await client.post("/api/session", json={"email": "eve@acme.example", "password": "guess"})
    with snapshot(world.gaby.database) as source:
        payloads = [row.payload for row in source.rows(SYSTEM) if row.event == "sign_in.failed"]
    assert payloads == ['{"network":"127.0.0.0/24"}']
