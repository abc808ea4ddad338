"""Connectors of a workspace."""

from fastapi import APIRouter, status

from gaby.kernel.http.access import CanManageConnectors, CanReadConnectors, ReadSession, WriteSession
from gaby.kernel.ids import ConnectorId
from gaby.mcp import ServerDefinitions
from gaby.tools.draft_schemas import ManifestDraftOut
from gaby.tools.manifest_draft import draft_of
from gaby.tools.manifests import parse_manifest
from gaby.tools.routes.dependencies import ToolService
from gaby.tools.schemas import (
    AcceptIn,
    ConnectorIn,
    ConnectorOut,
    CredentialsIn,
    DefinitionsOut,
    HealthOut,
    LogOut,
    ManifestIn,
    PolicyIn,
)
from gaby.tools.setup import bundled

router = APIRouter(prefix="/api/connectors", tags=["Connectors"])
health = APIRouter(tags=["Health"])


@health.get("/health/connectors")
async def connector_health(actor: CanReadConnectors, service: ToolService) -> list[HealthOut]:
    """The connectors of this workspace that this process has started or tried to start."""
    own = [status for status in service.host.statuses() if status.key.workspace_id == actor.workspace_id]
    return [HealthOut.from_domain(status) for status in own]


@router.get("")
async def list_connectors(actor: CanReadConnectors, service: ToolService, session: ReadSession) -> list[ConnectorOut]:
    return [ConnectorOut.from_domain(row) for row in await service.connectors.list(session)]


@router.post("", status_code=status.HTTP_201_CREATED)
async def add_connector(
    actor: CanManageConnectors, body: ConnectorIn, service: ToolService, session: WriteSession
) -> ConnectorOut:
    """Set up one of Gaby's own connectors. Look at its tools and accept them before it can be used."""
    return ConnectorOut.from_domain(
        await service.connectors.add(session, actor, bundled(body.name, body.kind, body.settings))
    )


@router.get("/{connector_id}")
async def show_connector(
    actor: CanReadConnectors, connector_id: ConnectorId, service: ToolService, session: ReadSession
) -> ConnectorOut:
    return ConnectorOut.from_domain(await service.connectors.by_id(session, connector_id))


@router.patch("/{connector_id}")
async def limit_connector(
    actor: CanManageConnectors, connector_id: ConnectorId, body: PolicyIn, service: ToolService, session: WriteSession
) -> ConnectorOut:
    """Say what it may do: autonomy, scopes, how often."""
    row = await service.connectors.by_id(session, connector_id)
    return ConnectorOut.from_domain(await service.connectors.limit(session, actor, row.name, body.change()))


@router.put("/{connector_id}/credentials")
async def sign_in_connector(
    actor: CanManageConnectors,
    connector_id: ConnectorId,
    body: CredentialsIn,
    service: ToolService,
    session: WriteSession,
) -> ConnectorOut:
    """Replace its settings and secrets. What waited for a new sign-in may go on."""
    row = await service.connectors.by_id(session, connector_id)
    fresh = bundled(row.name, row.kind, body.settings)
    return ConnectorOut.from_domain(await service.connectors.sign_in(session, actor, row.name, fresh))


@router.put("/{connector_id}/manifest")
async def describe_connector(
    actor: CanManageConnectors, connector_id: ConnectorId, body: ManifestIn, service: ToolService, session: WriteSession
) -> ConnectorOut:
    """Say what its tools do, for a server that does not say so itself."""
    row = await service.connectors.by_id(session, connector_id)
    known = ServerDefinitions.model_validate(row.accepted) if row.accepted is not None else None
    manifest = parse_manifest(body.yaml, known) if body.yaml is not None else None
    return ConnectorOut.from_domain(await service.connectors.describe(session, actor, row.name, manifest))


@router.get("/{connector_id}/draft")
async def draft_manifest(
    actor: CanReadConnectors, connector_id: ConnectorId, service: ToolService, session: ReadSession
) -> ManifestDraftOut:
    """A manifest for the tools that have none, guessed with a reason for each guess, to edit and send back."""
    return ManifestDraftOut.from_domain(draft_of(await service.connectors.by_id(session, connector_id)))


@router.post("/{connector_id}/look")
async def look_at_connector(
    actor: CanManageConnectors, connector_id: ConnectorId, service: ToolService
) -> DefinitionsOut:
    """Start it and note what it shows of itself."""
    return DefinitionsOut.from_domain(await service.inspect_by_id(actor, connector_id))


@router.get("/{connector_id}/changes")
async def show_changes(
    actor: CanReadConnectors, connector_id: ConnectorId, service: ToolService, session: ReadSession
) -> DefinitionsOut:
    """How its tools differ from those that were accepted, as far as was seen."""
    return DefinitionsOut.from_domain(await service.connectors.by_id(session, connector_id))


@router.post("/{connector_id}/accept")
async def accept_connector(
    actor: CanManageConnectors, connector_id: ConnectorId, body: AcceptIn, service: ToolService, session: WriteSession
) -> ConnectorOut:
    row = await service.connectors.by_id(session, connector_id)
    return ConnectorOut.from_domain(await service.connectors.accept(session, actor, row.name, body.fingerprint))


@router.get("/{connector_id}/log")
async def show_log(
    actor: CanManageConnectors, connector_id: ConnectorId, service: ToolService, session: ReadSession
) -> LogOut:
    """The end of what it wrote to its standard error in this process."""
    return LogOut(text=service.log_of(await service.connectors.by_id(session, connector_id)))


@router.delete("/{connector_id}", status_code=status.HTTP_204_NO_CONTENT)
async def remove_connector(
    actor: CanManageConnectors, connector_id: ConnectorId, service: ToolService, session: WriteSession
) -> None:
    row = await service.connectors.by_id(session, connector_id)
    await service.connectors.remove(session, actor, row.name)
