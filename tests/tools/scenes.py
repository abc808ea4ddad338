"""A workspace with a connector that really runs, and a person or an agent who uses it."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import select

from gaby.app import Gaby
from gaby.audit.models import AuditRowRecord
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.ids import ApprovalId, WorkspaceId
from gaby.safety import AccessRules, Scopes
from gaby.tools import Run, ToolCall, ToolOutcome
from gaby.tools.approvals import ApprovalDecision, Decision
from gaby.tools.connectors import NewConnector, PolicyChange
from gaby.tools.launches import CommandSpec
from gaby.tools.models import Approval
from gaby_connectors.sdk.manifest import Autonomy, ConnectorManifest

EVERYTHING = Scopes(read=AccessRules(allow=("**",)), write=AccessRules(allow=("**",)))
SERVERS = Path(__file__).parent / "servers"


@dataclass
class Scene:
    gaby: Gaby
    workspace_id: WorkspaceId
    folder: Path

    @property
    def actor(self) -> Actor:
        return system_actor("agent", self.workspace_id)

    @property
    def effects(self) -> list[str]:
        file = self.folder / "effects"
        return file.read_text().splitlines() if file.exists() else []

    async def connect(
        self,
        name: str = "desk",
        server: str = "desk.py",
        *,
        autonomy: Autonomy = Autonomy.ACT,
        scopes: Scopes = EVERYTHING,
        manifest: ConnectorManifest | None = None,
    ) -> None:
        """Add a connector, look at its tools, accept them, and say what it may do."""
        tools, actor = self.gaby.tools, self.actor
        way = CommandSpec(command=sys.executable, args=(str(SERVERS / server),), env={"DESK_FOLDER": str(self.folder)})
        async with self.gaby.database.write(self.workspace_id) as session:
            await tools.connectors.add(session, actor, NewConnector(name, "command", way, manifest=manifest))
        await self.accept(name)
        await self.limit(name, PolicyChange(autonomy, scopes))

    async def accept(self, name: str = "desk") -> None:
        shown = await self.gaby.tools.inspect(self.actor, name)
        async with self.gaby.database.write(self.workspace_id) as session:
            await self.gaby.tools.connectors.accept(session, self.actor, name, shown.fingerprint)

    async def limit(self, name: str, change: PolicyChange) -> None:
        async with self.gaby.database.write(self.workspace_id) as session:
            await self.gaby.tools.connectors.limit(session, self.actor, name, change)

    def run(self, *, requester: str | None = None, words: str = "") -> Run:
        """A run for a requester's ticket, or for an operator who said something."""
        principals = None if requester is None else frozenset({requester})
        run = self.gaby.tools.run(self.actor, principals=principals, requester=requester or "")
        if requester is not None:
            run.ledger.learn_principal(requester)
        if words:
            run.ledger.hear_operator("the operator's words", words)
        return run

    def call(self, tool: str, **arguments: Any) -> ToolCall:
        return ToolCall(f"desk.{tool}", arguments, self.gaby.ids.new())

    async def invoke(self, run: Run, tool: str, **arguments: Any) -> ToolOutcome:
        return await self.gaby.tools.invoker.invoke(self.call(tool, **arguments), run)

    async def apply(self, run: Run, approval_id: ApprovalId) -> ToolOutcome:
        call = ToolCall("", {}, self.gaby.ids.new(), approval_id=approval_id)
        return await self.gaby.tools.invoker.invoke(call, run)

    async def decide(
        self, approval_id: ApprovalId, decision: Decision = "approve", *, by: Actor | None = None, **more: Any
    ) -> Approval:
        async with self.gaby.database.write(self.workspace_id) as session:
            answer = ApprovalDecision(decision, **more)
            return await self.gaby.tools.decide_approval(session, by or self.actor, approval_id, answer)

    async def audited(self) -> list[str]:
        """The events of this workspace's log, in order."""
        return [event for event, _ in await self.rows()]

    async def rows(self) -> list[tuple[str, dict[str, Any]]]:
        query = (
            select(AuditRowRecord).where(AuditRowRecord.workspace_id == self.workspace_id).order_by(AuditRowRecord.seq)
        )
        async with self.gaby.database.read(self.workspace_id) as session:
            return [(row.event, orjson.loads(row.payload)) for row in await session.scalars(query)]


async def open_scene(gaby: Gaby, folder: Path, slug: str = "acme") -> Scene:
    async with gaby.database.write(AllWorkspaces("a test sets the scene")) as session:
        made = await gaby.identity.workspaces.create(session, system_actor("test"), slug=slug, name=slug)
    return Scene(gaby, WorkspaceId(made.id), folder)
