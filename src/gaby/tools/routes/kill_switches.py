"""Kill switches: stop everything, a workspace, or one connector."""

from fastapi import APIRouter, status

from gaby.kernel.http.access import (
    CanManageConnectors,
    CanManageInstallation,
    CanReadConnectors,
    CanStopTools,
    ReadSession,
    SystemWriteSession,
    WriteSession,
)
from gaby.kernel.ids import ConnectorId
from gaby.tools.routes.dependencies import ToolService
from gaby.tools.schemas import KillSwitchOut, StopIn

router = APIRouter(prefix="/api", tags=["Kill switches"])


@router.get("/kill-switches")
async def list_switches(actor: CanReadConnectors, service: ToolService, session: ReadSession) -> list[KillSwitchOut]:
    """What is stopped in this workspace."""
    return [KillSwitchOut.from_domain(row) for row in await service.kill_switches.list(session)]


@router.put("/kill-switch")
async def stop_workspace(
    actor: CanStopTools, body: StopIn, service: ToolService, session: WriteSession
) -> KillSwitchOut:
    """No tool of this workspace runs from the next step on."""
    return KillSwitchOut.from_domain(await service.kill_switches.pull(session, actor, body.reason))


@router.delete("/kill-switch", status_code=status.HTTP_204_NO_CONTENT)
async def resume_workspace(actor: CanManageConnectors, service: ToolService, session: WriteSession) -> None:
    """Stopping is for every operator; going on is for an admin."""
    await service.kill_switches.lift(session, actor)


@router.put("/connectors/{connector_id}/kill-switch")
async def stop_connector(
    actor: CanStopTools, connector_id: ConnectorId, body: StopIn, service: ToolService, session: WriteSession
) -> KillSwitchOut:
    row = await service.connectors.by_id(session, connector_id)
    return KillSwitchOut.from_domain(await service.kill_switches.pull(session, actor, body.reason, ConnectorId(row.id)))


@router.delete("/connectors/{connector_id}/kill-switch", status_code=status.HTTP_204_NO_CONTENT)
async def resume_connector(
    actor: CanManageConnectors, connector_id: ConnectorId, service: ToolService, session: WriteSession
) -> None:
    row = await service.connectors.by_id(session, connector_id)
    await service.kill_switches.lift(session, actor, ConnectorId(row.id))


@router.put("/system/kill-switch")
async def stop_everything(
    actor: CanManageInstallation, body: StopIn, service: ToolService, session: SystemWriteSession
) -> KillSwitchOut:
    """No tool runs anywhere from the next step on."""
    return KillSwitchOut.from_domain(await service.kill_switches.pull(session, actor, body.reason))


@router.delete("/system/kill-switch", status_code=status.HTTP_204_NO_CONTENT)
async def resume_everything(actor: CanManageInstallation, service: ToolService, session: SystemWriteSession) -> None:
    await service.kill_switches.lift(session, actor)
