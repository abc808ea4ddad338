"""The catalogue: every tool that a workspace has, as it was accepted, with what its operators allow."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import jsonschema_rs
from sqlalchemy import select

from gaby.kernel.database import Database, ReadSession
from gaby.kernel.ids import SYSTEM, ConnectorId, WorkspaceId
from gaby.mcp import ServerDefinitions, ServerKey, ToolDefinition
from gaby.safety import Policy, Scopes, ToolFacts, access_of, digest, guess, policy_version, roles
from gaby.tools import builtin, epochs
from gaby.tools.errors import ToolUnknown
from gaby.tools.manifests import Manifests, read_manifests
from gaby.tools.models import ConnectorRecord, KillSwitch
from gaby_connectors.sdk.manifest import GABY_ARGUMENTS, Autonomy, ToolManifest


@dataclass(frozen=True)
class ConnectorEntry:
    """A connector as the pipeline sees it."""

    key: ServerKey
    policy: Policy
    version: str
    fingerprint: str
    """Of all its tools together, as they were accepted."""
    quarantined: bool
    killed: str | None


@dataclass(frozen=True)
class ToolEntry:
    connector: ConnectorEntry
    definition: ToolDefinition
    facts: ToolFacts

    @cached_property
    def schema(self) -> dict[str, Any]:
        """What a planner is shown: without the arguments that Gaby fills by itself."""
        return without_own_arguments(self.definition.input_schema)

    @cached_property
    def validator(self) -> jsonschema_rs.Validator:
        return jsonschema_rs.validator_for(self.schema)


@dataclass(frozen=True)
class CatalogueSnapshot:
    """What may be done in a workspace, as of one epoch."""

    workspace_id: WorkspaceId
    epoch: int
    connectors: Mapping[str, ConnectorEntry]
    tools: Mapping[str, ToolEntry]

    def tool(self, name: str) -> ToolEntry:
        entry = self.tools.get(name)
        if entry is None:
            raise ToolUnknown(f"There is no tool {name[:200]!r} here. `gaby tools list` shows those that may be used.")
        return entry


class Catalogue:
    """Kept in memory until something changes here; changes elsewhere are caught by the fence of the next intent."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._snapshots: dict[WorkspaceId, CatalogueSnapshot] = {}

    async def snapshot(self, workspace_id: WorkspaceId) -> CatalogueSnapshot:
        current = self._snapshots.get(workspace_id)
        if current is None:
            current = self._snapshots[workspace_id] = await self._load(workspace_id)
        return current

    async def fresh(self, workspace_id: WorkspaceId) -> CatalogueSnapshot:
        """As the database has it now, whoever changed it."""
        current = await self.snapshot(workspace_id)
        async with self._database.read(SYSTEM) as session:
            everywhere = await epochs.current(session)
        async with self._database.read(workspace_id) as session:
            epoch = everywhere + await epochs.current(session)
        if epoch == current.epoch:
            return current
        self.forget(workspace_id)
        return await self.snapshot(workspace_id)

    def forget(self, workspace_id: WorkspaceId) -> None:
        """A change for the whole installation concerns every workspace."""
        if workspace_id == SYSTEM:
            self._snapshots.clear()
        self._snapshots.pop(workspace_id, None)

    async def _load(self, workspace_id: WorkspaceId) -> CatalogueSnapshot:
        async with self._database.read(SYSTEM) as session:
            everywhere = await epochs.current(session)
            stopped = await pulled(session, None)
        async with self._database.read(workspace_id) as session:
            epoch = everywhere + await epochs.current(session)
            stopped = stopped or await pulled(session, None)
            query = (
                select(ConnectorRecord)
                .where(ConnectorRecord.workspace_id == session.workspace_id)
                .order_by(ConnectorRecord.name)
            )
            rows = (await session.scalars(query)).all()
            switches = {row.id: stopped or await pulled(session, ConnectorId(row.id)) for row in rows}
        tools = [tool for row in rows if row.accepted is not None for tool in _read(row, switches[row.id])]
        tools += _built_in(workspace_id, stopped)
        return CatalogueSnapshot(
            workspace_id,
            epoch,
            {tool.connector.key.connector: tool.connector for tool in tools},
            {tool.facts.full_name: tool for tool in tools},
        )


def declarations_of(entry: ToolEntry) -> dict[str, Any]:
    """What is declared of a tool's rows and values, for whoever follows a runbook. Of a tool without an accepted
    manifest nobody has said whose its rows are."""
    manifest = entry.facts.manifest
    returned = {"output_schema": entry.definition.output_schema}
    if entry.facts.unsafe:
        return returned
    return returned | {
        "owner": dict(manifest.owner),
        "owner_argument": manifest.owner_argument,
        "argument_kinds": dict(manifest.argument_kinds),
        "result_kinds": dict(manifest.result_kinds),
        "content": list(manifest.content),
    }


async def pulled(session: ReadSession, connector_id: ConnectorId | None) -> str | None:
    """The kill switch that is pulled here, in words."""
    mine = KillSwitch.workspace_id == session.workspace_id
    query = select(KillSwitch).where(mine, KillSwitch.connector_id == connector_id).order_by(KillSwitch.pulled_at)
    reason = (await session.scalars(query.limit(1))).one_or_none()
    if reason is None:
        return None
    what = "everything" if session.workspace_id == SYSTEM else "this workspace" if connector_id is None else "it"
    return f"{reason.pulled_by} stopped {what} at {_minute(reason.pulled_at)}: {reason.reason}"


def without_own_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = {name: each for name, each in schema.get("properties", {}).items() if name not in GABY_ARGUMENTS}
    required = [name for name in schema.get("required", []) if name not in GABY_ARGUMENTS]
    return {**schema, "properties": properties, "required": required}


def _read(row: ConnectorRecord, killed: str | None) -> list[ToolEntry]:
    accepted = ServerDefinitions.model_validate(row.accepted)
    manifests = read_manifests(accepted, row.manifest)
    policy = policy_of(row)
    entry = ConnectorEntry(
        key=ServerKey(WorkspaceId(row.workspace_id), row.name),
        policy=policy,
        version=policy_version(policy),
        fingerprint=accepted.fingerprint,
        quarantined=row.seen is not None,
        killed=killed,
    )
    return entries_of(entry, accepted, manifests)


def _built_in(workspace_id: WorkspaceId, killed: str | None) -> list[ToolEntry]:
    policy = Policy(Autonomy.INVESTIGATE, Scopes.reading())
    entry = ConnectorEntry(
        key=ServerKey(workspace_id, builtin.NAME),
        policy=policy,
        version=policy_version(policy),
        fingerprint=builtin.DEFINITIONS.fingerprint,
        quarantined=False,
        killed=killed,
    )
    return entries_of(entry, builtin.DEFINITIONS, read_manifests(builtin.DEFINITIONS, None))


def entries_of(entry: ConnectorEntry, accepted: ServerDefinitions, manifests: Manifests) -> list[ToolEntry]:
    return [ToolEntry(entry, tool, _facts(entry, tool, manifests.tools.get(tool.name))) for tool in accepted.tools]


def _facts(entry: ConnectorEntry, tool: ToolDefinition, declared: ToolManifest | None) -> ToolFacts:
    manifest = declared or guess(tool.name, tool.input_schema, read_only_hint=tool.hints.read_only)
    of_arguments = roles(manifest, tool.input_schema)
    return ToolFacts(
        connector=entry.key.connector,
        name=tool.name,
        manifest=manifest,
        unsafe=declared is None,
        schema=tool.input_schema,
        roles=of_arguments,
        access=access_of(manifest, of_arguments),
        fingerprint=digest([tool.fingerprint, manifest.model_dump(mode="json")]),
    )


def policy_of(row: ConnectorRecord) -> Policy:
    return Policy(
        autonomy=Autonomy(row.autonomy),
        scopes=Scopes.model_validate(row.scopes),
        reads_per_minute=row.reads_per_minute,
        writes_per_minute=row.writes_per_minute,
    )


def _minute(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M UTC")
