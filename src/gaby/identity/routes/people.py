"""The people of a workspace."""

from typing import Annotated

from fastapi import APIRouter, Query, status

from gaby.identity.routes.dependencies import IdentityService
from gaby.identity.schemas import InvitationOut, InviteIn, MemberOut, RoleIn
from gaby.kernel.http.access import CanManagePeople, CanReadPeople, ReadSession, WriteSession
from gaby.kernel.ids import PersonId

router = APIRouter(prefix="/api/people", tags=["People"])


@router.get("")
async def list_people(
    actor: CanReadPeople,
    identity: IdentityService,
    session: ReadSession,
    after: PersonId | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> list[MemberOut]:
    """Everybody in the workspace, oldest first. Page on with `after` = the last id."""
    return [MemberOut.from_domain(member) for member in await identity.people.list(session, after=after, limit=limit)]


@router.post("", status_code=status.HTTP_201_CREATED)
async def invite_person(
    actor: CanManagePeople, body: InviteIn, identity: IdentityService, session: WriteSession
) -> InvitationOut:
    """Make a link with which somebody can join. It works once, for three days."""
    invitation, token = await identity.invitations.invite(session, actor, email=body.email, role=body.role)
    return InvitationOut.from_domain(invitation, f"{identity.public_url}/join?token={token}")


@router.get("/{person_id}")
async def show_person(
    actor: CanReadPeople, person_id: PersonId, identity: IdentityService, session: ReadSession
) -> MemberOut:
    return MemberOut.from_domain(await identity.people.get(session, person_id))


@router.patch("/{person_id}")
async def change_role(
    actor: CanManagePeople, person_id: PersonId, body: RoleIn, identity: IdentityService, session: WriteSession
) -> MemberOut:
    return MemberOut.from_domain(await identity.people.change_role(session, actor, person_id, body.role))


@router.delete("/{person_id}", status_code=status.HTTP_204_NO_CONTENT)
async def remove_person(
    actor: CanManagePeople, person_id: PersonId, identity: IdentityService, session: WriteSession
) -> None:
    """Take somebody out of the workspace. Other workspaces are not touched."""
    await identity.people.remove(session, actor, person_id)
