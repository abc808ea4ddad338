"""A scene: the workspace of one case, its company changed as the fixture says, its connector and its policy."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from gaby.app import Gaby
from gaby.app.sample import COMPANY, connect_sample
from gaby.evals.environment import EvalEnvironment
from gaby.evals.errors import FixtureBroken
from gaby.evals.fixtures import Fixture, PolicyFile
from gaby.kernel.actors import Actor
from gaby.kernel.ids import ConnectorId, TicketId
from gaby.mcp import ServerDefinitions
from gaby.safety import AccessRules, Scopes
from gaby.tools.connectors import PolicyChange

_UNITS = {"minute": 1, "hour": 60, "day": 1440}


@dataclass(frozen=True)
class CaseWorkspace:
    stage: EvalEnvironment
    actor: Actor
    database: Path | None = None
    """The company's own database."""

    @property
    def gaby(self) -> Gaby:
        return self.stage.gaby

    async def receive(self, fixture: Fixture) -> TicketId:
        async with self.gaby.database.write(self.actor.workspace_id) as session:
            received = await self.gaby.tickets.add(session, self.actor, fixture.ticket.incoming(fixture.name))
            return received.ticket_id

    def effects(self) -> tuple[str, ...]:
        """What the company noted as changed."""
        if self.database is None:
            return ()
        with closing(sqlite3.connect(self.database)) as connection:
            try:
                return tuple(str(row[0]) for row in connection.execute("SELECT tool FROM effects ORDER BY at, key"))
            except sqlite3.OperationalError:
                # A fixture may have broken the company.
                return ()


@asynccontextmanager
async def set_scene(stage: EvalEnvironment, fixture: Fixture) -> AsyncGenerator[CaseWorkspace]:
    gaby = stage.gaby
    actor = await stage.workspace(fixture.name)
    folder = stage.home / "companies" / str(actor.workspace_id)
    database = await asyncio.to_thread(stage.copy_company, folder)
    await asyncio.to_thread(change_world, database, fixture, stage.clock.now())
    await connect_sample(gaby, actor, folder, now=stage.clock.now())
    await _limit(gaby, actor, fixture.policy)
    try:
        yield CaseWorkspace(stage, actor, database)
    finally:
        async with gaby.database.write(actor.workspace_id) as session:
            await gaby.tools.connectors.remove(session, actor, COMPANY)


def change_world(database: Path, fixture: Fixture, now: datetime) -> None:
    """`ago('2 hours')` and `ahead('3 days')` are moments as the company writes them."""
    if not fixture.world.strip():
        return

    def ago(span: str) -> str:
        return _stamp(now - _span(span))

    def ahead(span: str) -> str:
        return _stamp(now + _span(span))

    with closing(sqlite3.connect(database)) as connection, connection:
        connection.create_function("ago", 1, ago, deterministic=True)
        connection.create_function("ahead", 1, ahead, deterministic=True)
        try:
            connection.executescript(fixture.world)
        except sqlite3.Error as error:
            raise FixtureBroken(f"{fixture.name}/world.sql: {error}.") from None


def _stamp(moment: datetime) -> str:
    return moment.replace(microsecond=0).isoformat(timespec="seconds")


def _span(text: str) -> timedelta:
    number, _, unit = text.strip().partition(" ")
    return timedelta(minutes=float(number) * _UNITS[unit.removesuffix("s")])


async def _limit(gaby: Gaby, actor: Actor, policy: PolicyFile) -> None:
    scopes = None
    if policy.write is not None:
        scopes = Scopes(read=AccessRules(allow=("**",)), write=AccessRules(allow=policy.write))
    async with gaby.database.write(actor.workspace_id) as session:
        if policy.autonomy is not None or scopes is not None:
            await gaby.tools.connectors.limit(session, actor, COMPANY, PolicyChange(policy.autonomy, scopes))
        if policy.agent:
            await gaby.agent.personas.change(session, actor, policy.agent)
        if policy.stopped is not None:
            row = await gaby.tools.connectors.get(session, COMPANY)
            target = ConnectorId(row.id) if policy.stopped == "company" else None
            await gaby.tools.kill_switches.pull(session, actor, "The evaluation stops it.", target)
    if policy.quarantined:
        await _show_other_tools(gaby, actor)


async def _show_other_tools(gaby: Gaby, actor: Actor) -> None:
    """What was accepted is not what the connector shows, as after an update that nobody has looked at."""
    shown = await gaby.tools.inspect(actor, COMPANY)
    definitions = shown.model_dump(mode="json")
    definitions["tools"][0]["description"] = "What it said when it was accepted."
    before = ServerDefinitions.model_validate(definitions)
    async with gaby.database.write(actor.workspace_id) as session:
        await gaby.tools.connectors.observe(session, actor, COMPANY, before)
        await gaby.tools.connectors.accept(session, actor, COMPANY, before.fingerprint)
    await gaby.tools.inspect(actor, COMPANY)
