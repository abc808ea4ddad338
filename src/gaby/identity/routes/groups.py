"""Groups of people."""

from fastapi import APIRouter, status

from gaby.identity.routes.dependencies import IdentityService
from gaby.identity.schemas import GroupIn, GroupOut
from gaby.kernel.http.access import CanManagePeople, CanReadPeople, ReadSession, WriteSession
from gaby.kernel.ids import GroupId, PersonId

router = APIRouter(prefix="/api/groups", tags=["People"])


@router.get("")
async def list_groups(actor: CanReadPeople, identity: IdentityService, session: ReadSession) -> list[GroupOut]:
    return [GroupOut.from_domain(group) for group in await identity.groups.list(session)]


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_group(
    actor: CanManagePeople, body: GroupIn, identity: IdentityService, session: WriteSession
) -> GroupOut:
    return GroupOut.from_domain(await identity.groups.create(session, actor, name=body.name))


@router.delete("/{group_id}", status_code=status.HTTP_204_NO_CONTENT)
async def remove_group(
    actor: CanManagePeople, group_id: GroupId, identity: IdentityService, session: WriteSession
) -> None:
    await identity.groups.remove(session, actor, group_id)


@router.put("/{group_id}/members/{person_id}", status_code=status.HTTP_204_NO_CONTENT)
async def add_member(
    actor: CanManagePeople, group_id: GroupId, person_id: PersonId, identity: IdentityService, session: WriteSession
) -> None:
    await identity.groups.add_member(session, actor, group_id, person_id)


@router.delete("/{group_id}/members/{person_id}", status_code=status.HTTP_204_NO_CONTENT)
async def remove_member(
    actor: CanManagePeople, group_id: GroupId, person_id: PersonId, identity: IdentityService, session: WriteSession
) -> None:
    await identity.groups.remove_member(session, actor, group_id, person_id)
