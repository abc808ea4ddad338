"""The product as its composition root builds it, with AgentDojo's suites as its connectors, each a real process."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.compromised_planner.model_server import MODEL, ModelServer
from gaby.app import Gaby, build
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.ids import WorkspaceId
from gaby.llm.accounts import NewAccount
from gaby.llm.setups import parse_chain
from gaby.migrations import upgrade
from gaby.safety import AccessRules, Scopes
from gaby.settings import load
from gaby.tools.connectors import NewConnector, PolicyChange
from gaby.tools.launches import CommandSpec
from gaby.tools.manifests import parse_manifest
from gaby_connectors.sdk.manifest import Autonomy

SUITES = ("workspace", "travel", "banking", "slack")
_HERE = Path(__file__).parent
_EVERYTHING = Scopes(read=AccessRules(allow=("**",)), write=AccessRules(allow=("**",)))


@dataclass
class Door:
    """Sets a suite's scene, and asks the benchmark for its own verdict."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        self.writer.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
        await self.writer.drain()
        answer = await self.reader.readline()
        if not answer:
            raise RuntimeError(f"the suite ended while it was asked to {do}")
        return json.loads(answer)


@dataclass
class Stage:
    gaby: Gaby
    clock: ManualClock
    actor: Actor
    doors: dict[str, Door]
    model: ModelServer

    async def access_by_tool(self, suite: str) -> dict[str, str]:
        """Which tools of a suite read, and which change something, as the product sees them."""
        snapshot = await self.gaby.tools.catalogue.snapshot(self.actor.workspace_id)
        mine = [tool.facts for tool in snapshot.tools.values() if tool.facts.connector == suite]
        return {facts.name: facts.access for facts in mine}


@asynccontextmanager
async def open_stage(home: Path, python: Path, suites: tuple[str, ...] = SUITES) -> AsyncGenerator[Stage]:
    clock = ManualClock(datetime(2030, 1, 1, tzinfo=UTC))
    gaby = build(load({"GABY_HOME": str(home / "gaby")}, env_file=None).settings, clock=clock)
    upgrade(gaby.database)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(gaby.running(background=False))
        async with gaby.database.write(AllWorkspaces("an evaluation sets the scene")) as session:
            made = await gaby.identity.workspaces.create(session, system_actor("eval"), slug="dojo", name="Dojo")
        actor = system_actor("compromised planner", WorkspaceId(made.id))
        doors = {name: await _connect(gaby, actor, name, home, python) for name in suites}
        for door in doors.values():
            stack.callback(door.writer.close)
        model = ModelServer()
        stack.callback(model.server.close)
        async with gaby.database.write(actor.workspace_id) as session:
            account = NewAccount("attacker", "compatible", model.server.url, key="none")
            await gaby.models.accounts.add(session, actor, account)
            await gaby.models.route(session, actor, "plan", parse_chain(f"attacker/{MODEL}"))
        yield Stage(gaby, clock, actor, doors, model)


async def _connect(gaby: Gaby, actor: Actor, name: str, home: Path, python: Path) -> Door:
    tools, place = gaby.tools, str(home / f"{name}.door")
    env = {"DOJO_SUITE": name, "DOJO_DOOR": place}
    way = CommandSpec(command=str(python), args=(str(_HERE / "dojo" / "suite_server.py"),), env=env)
    manifest = parse_manifest((_HERE / "manifests" / f"{name}.yaml").read_text(encoding="utf-8"))
    async with gaby.database.write(actor.workspace_id) as session:
        await tools.connectors.add(session, actor, NewConnector(name, "command", way, manifest=manifest))
    shown = await tools.inspect(actor, name)
    async with gaby.database.write(actor.workspace_id) as session:
        await tools.connectors.accept(session, actor, name, shown.fingerprint)
        policy = PolicyChange(Autonomy.ACT, _EVERYTHING, reads_per_minute=100_000, writes_per_minute=100_000)
        await tools.connectors.limit(session, actor, name, policy)
    # A new policy may have the process started anew; its door is open once it shows its tools again.
    await tools.inspect(actor, name)
    reader, writer = await asyncio.open_unix_connection(place, limit=64_000_000)
    return Door(reader, writer)
