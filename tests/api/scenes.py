"""Valid requests for every route, and fresh things for them to be about."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

from sqlalchemy import select

from gaby.audit.models import AuditCheckpointRecord, AuditRowRecord
from gaby.identity import Role
from gaby.kernel.actors import Permission, system_actor
from gaby.kernel.ids import SYSTEM, ConnectorId, WorkspaceId
from gaby.mcp import read_definitions
from gaby.safety import Concern, Verdict
from gaby.tools import Call
from gaby.tools.setup import bundled
from tests.support.web import PASSWORD, Browser, World

_SEEN = read_definitions([{"name": "read_it", "description": "Reads.", "inputSchema": {"type": "object"}}])


@dataclass(frozen=True)
class Things:
    """The ids that stand in the paths, of things that exist in one workspace."""

    person_id: UUID
    group_id: UUID
    key_id: UUID
    sign_in_id: UUID
    row_id: UUID
    connector_id: UUID
    approval_id: UUID

    @property
    def ids(self) -> dict[str, UUID]:
        return dict(vars(self))


async def make_things(world: World, workspace_id: WorkspaceId, label: str, *, of: Browser | None = None) -> Things:
    """A person in a group, a key, another sign-in (of the person, or of the browser's owner), and a signed row."""
    person_id = await world.person(f"{label}@things.example", (workspace_id, Role.VIEWER))
    sign_in = await world.enter(of.person_id if of else person_id)
    listed = (await sign_in.get("/api/sign-ins")).json()
    actor, identity = system_actor("test", workspace_id), world.gaby.identity
    async with world.gaby.database.write(workspace_id) as session:
        group = await identity.groups.create(session, actor, name=label)
        await identity.groups.add_member(session, actor, group.id, person_id)
        key, _ = await identity.keys.create(session, actor, name=label, scopes=[Permission.PEOPLE_READ])
    row_id = await _first_row(world, workspace_id)
    current = next(UUID(each["id"]) for each in listed if each["current"])
    connector_id, approval_id = await _make_tools(world, workspace_id, label)
    return Things(person_id, group.id, key.id, current, row_id, connector_id, approval_id)


async def _make_tools(world: World, workspace_id: WorkspaceId, label: str) -> tuple[UUID, UUID]:
    """A connector with tools that can be accepted, stopped by a switch, in a stopped workspace; and a question."""
    actor, tools = system_actor("test", workspace_id), world.gaby.tools
    name = f"c{sha256(label.encode()).hexdigest()[:12]}"
    async with world.gaby.database.write(workspace_id) as session:
        row = await tools.connectors.add(session, actor, bundled(name, "time", {}))
        await tools.connectors.observe(session, actor, name, _SEEN)
        await tools.kill_switches.pull(session, actor, label, ConnectorId(row.id))
        await tools.kill_switches.pull(session, actor, label)
    async with world.gaby.database.write(SYSTEM) as session:
        await tools.kill_switches.pull(session, system_actor("test"), "a test")
    run = tools.run(actor)
    snapshot = await tools.catalogue.snapshot(workspace_id)
    call = Call("gaby.read_result", {"result_id": label}, world.gaby.ids.new())
    verdict = Verdict("ask", "consent", label, (Concern("consent", label),))
    async with world.gaby.database.write(workspace_id) as session:
        entry = snapshot.tool("gaby.read_result")
        asked = await tools.approvals.request(session, entry, call, run, verdict, None)
    return row.id, asked.id


async def _first_row(world: World, workspace_id: WorkspaceId) -> UUID:
    """A row that a checkpoint covers, so that it can be proven."""
    first = select(AuditRowRecord.id).where(AuditRowRecord.workspace_id == workspace_id, AuditRowRecord.seq == 0)
    signed = select(AuditCheckpointRecord.size).where(AuditCheckpointRecord.workspace_id == workspace_id).limit(1)
    async with world.gaby.database.read(workspace_id) as session:
        row_id, size = (await session.scalars(first)).one(), (await session.scalars(signed)).first()
    if size is None:
        await world.gaby.checkpointer.checkpoint()
    return row_id


def bodies(workspace_id: UUID, label: str) -> dict[str, dict[str, Any]]:
    """An acceptable body for each route that takes JSON. A new route needs an entry here."""
    return {
        "POST /api/connectors": {"name": f"n{sha256(label.encode()).hexdigest()[:12]}", "kind": "time"},
        "PATCH /api/connectors/{connector_id}": {"autonomy": "off"},
        "PUT /api/connectors/{connector_id}/credentials": {"settings": {"TIME_ZONE": "Europe/Paris"}},
        "PUT /api/connectors/{connector_id}/manifest": {"yaml": "manifest_version: 1.0.0\ntools: {}"},
        "POST /api/connectors/{connector_id}/accept": {"fingerprint": _SEEN.fingerprint},
        "PUT /api/connectors/{connector_id}/kill-switch": {"reason": f"{label} reason"},
        "PUT /api/kill-switch": {"reason": f"{label} reason"},
        "PUT /api/system/kill-switch": {"reason": f"{label} reason"},
        "POST /api/tools/explain": {"tool": "gaby.read_result", "arguments": {"result_id": f"{label}"}},
        "POST /api/approvals/{approval_id}/decision": {"decision": "approve", "reason": f"{label} reason"},
        "POST /api/session": {"email": "ada@acme.example", "password": PASSWORD},
        "POST /api/session/workspace": {"workspace_id": str(workspace_id)},
        "POST /api/session/password": {"current": PASSWORD, "new": f"{PASSWORD} {label}"},
        "POST /api/people": {"email": f"{label}@new.example", "role": "viewer"},
        "PATCH /api/people/{person_id}": {"role": "viewer"},
        "POST /api/groups": {"name": f"{label} group"},
        "POST /api/keys": {"name": f"{label} key", "scopes": ["people:read"], "expires_at": "2040-01-01T00:00:00Z"},
        "PATCH /api/workspace": {"name": f"{label} name"},
        "POST /api/workspaces": {"slug": f"{label}-slug", "name": f"{label} name"},
    }
