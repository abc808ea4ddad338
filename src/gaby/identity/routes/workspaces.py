"""Workspaces of the installation."""

from fastapi import APIRouter, status

from gaby.identity.models import Person
from gaby.identity.roles import Role
from gaby.identity.routes.dependencies import IdentityService
from gaby.identity.schemas import WorkspaceIn, WorkspaceNameIn, WorkspaceOut
from gaby.kernel.http.access import (
    CanManageInstallation,
    CanManageWorkspace,
    CanReadWorkspace,
    EntryWriteSession,
    ReadSession,
    WriteSession,
)
from gaby.kernel.ids import WorkspaceId

router = APIRouter(prefix="/api", tags=["Workspaces"])


@router.get("/workspace")
async def show_workspace(actor: CanReadWorkspace, identity: IdentityService, session: ReadSession) -> WorkspaceOut:
    """The workspace you are in."""
    return WorkspaceOut.from_domain(await identity.workspaces.get(session, actor.workspace_id))


@router.patch("/workspace")
async def rename_workspace(
    actor: CanManageWorkspace, body: WorkspaceNameIn, identity: IdentityService, session: WriteSession
) -> WorkspaceOut:
    return WorkspaceOut.from_domain(await identity.workspaces.rename(session, actor, name=body.name))


@router.post("/workspaces", status_code=status.HTTP_201_CREATED)
async def create_workspace(
    actor: CanManageInstallation, body: WorkspaceIn, identity: IdentityService, session: EntryWriteSession
) -> WorkspaceOut:
    """Add a workspace to the installation. Whoever makes it becomes its owner."""
    workspace = await identity.workspaces.create(session, actor, slug=body.slug, name=body.name)
    person = await session.get(Person, actor.person_id) if actor.person_id is not None else None
    if person is not None:
        await identity.people.join(session, actor, WorkspaceId(workspace.id), person, Role.OWNER)
    return WorkspaceOut.from_domain(workspace)
