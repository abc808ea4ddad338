"""Everything about tools, built from what is below: connectors, approvals, kill switches, and the one path."""

import asyncio
import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from gaby.audit import AuditLog
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import AllWorkspaces, Database, WriteSession
from gaby.kernel.errors import Invalid
from gaby.kernel.events import Event
from gaby.kernel.ids import ApprovalId, ConnectorId, IdFactory, Random, RunId, WorkspaceId
from gaby.kernel.metrics import Metrics
from gaby.mcp import ConnectorUnknown, McpHost, ServerDefinitions, ServerKey, SpillFolder
from gaby.safety import Dictionary, Placeholders, Profile, Redactor, canonical_identity, tag_from
from gaby.tools import builtin
from gaby.tools.approvals import ApprovalDecision, Approvals
from gaby.tools.cache import ResultCache
from gaby.tools.catalogue import Catalogue, ToolEntry
from gaby.tools.connectors import Connectors, DefaultRates
from gaby.tools.gather import misfits_of
from gaby.tools.invoke import Invoker, InvokerDependencies
from gaby.tools.kill_switches import KillSwitches
from gaby.tools.launches import Launcher
from gaby.tools.messages import MessageDecider, message_entries
from gaby.tools.models import Approval, ConnectorRecord
from gaby.tools.rates import RateLimiter
from gaby.tools.redacted_view import hidden_values, placeholders_kept
from gaby.tools.runs import Run


@dataclass(frozen=True)
class ToolSettings:
    profile: Profile
    approval_ttl: timedelta
    sitting: timedelta
    folder: Path
    inside: str = ""
    """Places inside the network that workspaces may point connectors at."""
    reads_per_minute: int = 300
    writes_per_minute: int = 30
    """Of connectors that are added without limits of their own."""


@dataclass(frozen=True)
class Tools:
    database: Database
    ids: IdFactory
    random: Random
    metrics: Metrics
    settings: ToolSettings
    host: McpHost
    catalogue: Catalogue
    launcher: Launcher
    connectors: Connectors
    approvals: Approvals
    kill_switches: KillSwitches
    invoker: Invoker
    messages: MessageDecider

    def run(
        self,
        actor: Actor,
        *,
        run_id: RunId | None = None,
        dictionary: Dictionary | None = None,
        principals: frozenset[str] | None = None,
        requester: str = "",
    ) -> Run:
        """A new run, with nothing learned yet. Without principals an operator acts for themselves."""
        people = dictionary or Dictionary()
        return Run(
            id=run_id or RunId(self.ids.new()),
            actor=actor,
            redactor=Redactor(self.settings.profile, people),
            people=people,
            placeholders=Placeholders(tag_from(self.random(8))),
            principals=None if principals is None else frozenset(map(canonical_identity, principals)),
            requester=requester,
        )

    async def inspect(self, actor: Actor, name: str) -> ServerDefinitions:
        """Start the connector if need be and note what it shows of itself."""
        workspace_id = actor.workspace_id
        snapshot = await self.catalogue.snapshot(workspace_id)
        key = ServerKey(workspace_id, name)
        await self.launcher.ready(key, snapshot.epoch)
        shown = await self.host.definitions(key)
        async with self.database.write(workspace_id) as session:
            await self.connectors.observe(session, actor, name, shown)
        return shown

    async def inspect_by_id(self, actor: Actor, connector_id: ConnectorId) -> ConnectorRecord:
        async with self.database.read(actor.workspace_id) as session:
            name = (await self.connectors.by_id(session, connector_id)).name
        await self.inspect(actor, name)
        async with self.database.read(actor.workspace_id) as session:
            return await self.connectors.by_id(session, connector_id)

    def log_of(self, row: ConnectorRecord) -> str:
        """Nothing when this process never started it."""
        try:
            return self.host.logs(ServerKey(WorkspaceId(row.workspace_id), row.name))
        except ConnectorUnknown:
            return ""

    def kept_log(self, row: ConnectorRecord) -> str:
        """What the server process that ran it last has kept."""
        file = self._log_file(ServerKey(WorkspaceId(row.workspace_id), row.name))
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    async def keep_logs(self) -> None:
        """Other processes, such as a command in a terminal, read the logs from here."""
        for status in self.host.statuses():
            if text := self.host.logs(status.key):
                file = self._log_file(status.key)
                await asyncio.to_thread(_write, file, text)

    def _log_file(self, key: ServerKey) -> Path:
        return self.settings.folder / str(key.workspace_id) / f"{key.connector}.log"

    async def decide_approval(
        self, session: WriteSession, actor: Actor, approval_id: ApprovalId, answer: ApprovalDecision
    ) -> Approval:
        if answer.arguments is None or answer.decision != "approve":
            decided = await self.approvals.decide(session, actor, approval_id, answer)
            for other in await self.approvals.of_step(session, decided) if answer.whole_step else ():
                await self.approvals.decide(session, actor, other.typed_id, answer)
            return decided
        asked = await self.approvals.get(session, approval_id)
        entry = await self._entry(actor.workspace_id, asked)
        if misfits := list(misfits_of(entry, answer.arguments)):
            raise Invalid("These arguments do not fit the tool: " + "; ".join(misfits))
        if kept := placeholders_kept(answer.arguments, asked.shown):
            raise Invalid(
                f"{kept} stands for a value that was left out. Write the value in its place, or leave it out; "
                "`gaby approvals show` shows the text with its values."
            )
        # Whom the question did not name, the answer does not name either.
        sealed = await self.approvals.call_of(session, asked)
        people = Dictionary()
        people.learn_values(hidden_values(sealed.arguments, asked.shown))
        run = self.run(actor, run_id=RunId(asked.run_id), dictionary=people)
        return await self.approvals.modify(session, actor, approval_id, entry, run, answer.arguments)

    async def _entry(self, workspace_id: WorkspaceId, asked: Approval) -> ToolEntry:
        if asked.connector == builtin.NAME:
            return message_entries(workspace_id, None)[asked.tool]
        return (await self.catalogue.snapshot(workspace_id)).tool(f"{asked.connector}.{asked.tool}")

    async def expire_approvals(self) -> int:
        """Close what nobody answered in time, in every workspace."""
        overdue = await self.approvals.overdue_workspaces(self.database)
        count = 0
        for workspace_id in overdue:
            async with self.database.write(workspace_id) as session:
                actor = system_actor("approvals", workspace_id)
                count += len(await self.approvals.expire(session, actor))
        return count

    async def heard(self, event: Event) -> None:
        """Whatever changes the policy is forgotten here at once; other processes notice at their next intent."""
        if event.name.startswith(("connector.", "kill_switch.")):
            self.catalogue.forget(event.workspace_id)
        if event.name.startswith("approval."):
            await self._count_waiting(event.workspace_id)
        if event.name.startswith("sign_in.ended") and event.actor.person_id is not None:
            async with self.database.write(AllWorkspaces("a sitting ends in all of a person's workspaces")) as session:
                await self.approvals.forget_sitting(session, event.actor.person_id)
        if event.name == "connector.removed":
            await self.launcher.gone(ServerKey(WorkspaceId(event.workspace_id), str(event.payload["connector"])))

    async def _count_waiting(self, workspace_id: WorkspaceId) -> None:
        async with self.database.read(workspace_id) as session:
            waiting = await self.approvals.count_waiting(session)
        self.metrics.approvals_pending.labels(workspace=str(workspace_id)).set(waiting)


@dataclass(frozen=True)
class ToolDependencies:
    """What every package is built with."""

    database: Database
    audit: AuditLog
    vault: Vault
    clock: Clock
    ids: IdFactory
    random: Random
    metrics: Metrics


def build_tools(dependencies: ToolDependencies, host: McpHost, spill: SpillFolder, settings: ToolSettings) -> Tools:
    database, clock, ids, vault = dependencies.database, dependencies.clock, dependencies.ids, dependencies.vault
    catalogue = Catalogue(database)
    launcher = Launcher(database, vault, host, settings.folder, builtin.server_maker(spill), settings.inside)
    usual = DefaultRates(settings.reads_per_minute, settings.writes_per_minute)
    connectors = Connectors(clock, ids, vault, usual)
    approvals = Approvals(clock, ids, vault, ttl=settings.approval_ttl, sitting=settings.sitting)
    invoker_dependencies = InvokerDependencies(
        database=database,
        audit=dependencies.audit,
        clock=clock,
        metrics=dependencies.metrics,
        host=host,
        catalogue=catalogue,
        launcher=launcher,
        connectors=connectors,
        approvals=approvals,
        cache=ResultCache(clock),
        rates=RateLimiter(clock),
    )
    tools = Tools(
        database=database,
        ids=ids,
        random=dependencies.random,
        metrics=dependencies.metrics,
        settings=settings,
        host=host,
        catalogue=catalogue,
        launcher=launcher,
        connectors=connectors,
        approvals=approvals,
        kill_switches=KillSwitches(clock, ids),
        invoker=Invoker(invoker_dependencies),
        messages=MessageDecider(database, clock, dependencies.audit, dependencies.metrics, catalogue, approvals),
    )
    database.after_commit(tools.heard)
    return tools


def _write(file: Path, text: str) -> None:
    """For its owner alone, and never half."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        out.write(text)
    unfinished.replace(file)
