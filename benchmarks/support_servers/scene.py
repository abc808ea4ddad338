"""All of Gaby on a fresh database, with connectors that really run and may do everything."""

import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gaby.app import Gaby, build
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.ids import WorkspaceId
from gaby.migrations import upgrade
from gaby.safety import AccessRules, Scopes
from gaby.settings import load
from gaby.tools import Done, Run, ToolCall
from gaby.tools.catalogue import ToolEntry
from gaby.tools.connectors import NewConnector, PolicyChange
from gaby.tools.launches import CommandSpec
from gaby_connectors.sdk.manifest import Autonomy

EVERYTHING = Scopes(read=AccessRules(allow=("**",)), write=AccessRules(allow=("**",)))
_NO_LIMIT = 100_000


@dataclass(frozen=True)
class Scene:
    gaby: Gaby
    workspace_id: WorkspaceId

    @property
    def actor(self) -> Actor:
        return system_actor("agent", self.workspace_id)

    def run(self) -> Run:
        run = self.gaby.tools.run(self.actor)
        run.ledger.hear_operator("the operator's words", "Find out where the orders of ada@acme.example are.")
        return run

    async def read(self, run: Run, tool: str, arguments: Mapping[str, Any]) -> None:
        outcome = await self.gaby.tools.invoker.invoke(ToolCall(f"orders.{tool}", arguments, self.gaby.ids.new()), run)
        assert isinstance(outcome, Done), outcome
        assert not outcome.cached

    async def tool(self, name: str) -> ToolEntry:
        return (await self.gaby.tools.catalogue.snapshot(self.workspace_id)).tool(name)

    async def connect(self, name: str, program: str, autonomy: Autonomy = Autonomy.INVESTIGATE) -> None:
        tools, actor = self.gaby.tools, self.actor
        new = NewConnector(name, "command", CommandSpec(command=sys.executable, args=(program,)))
        async with self.gaby.database.write(self.workspace_id) as session:
            await tools.connectors.add(session, actor, new)
        shown = await tools.inspect(actor, name)
        async with self.gaby.database.write(self.workspace_id) as session:
            await tools.connectors.accept(session, actor, name, shown.fingerprint)
            change = PolicyChange(autonomy, EVERYTHING, reads_per_minute=_NO_LIMIT)
            await tools.connectors.limit(session, actor, name, change)


@asynccontextmanager
async def open_scene(folder: Path, orders: str | None = None) -> AsyncGenerator[Scene]:
    """With everything that runs in the background, as `gaby serve` has it."""
    settings = load({"GABY_HOME": str(folder)}, env_file=None).settings
    gaby = build(settings)
    upgrade(gaby.database)
    async with gaby.running():
        async with gaby.database.write(AllWorkspaces("a benchmark sets the scene")) as session:
            made = await gaby.identity.workspaces.create(session, system_actor("benchmark"), slug="acme", name="Acme")
        scene = Scene(gaby, WorkspaceId(made.id))
        if orders is not None:
            await scene.connect("orders", orders)
        yield scene
