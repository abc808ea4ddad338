"""Signing in and out, choosing a workspace, and seeing where else one is signed in."""

from fastapi import APIRouter, Request, Response, status

from gaby.identity.models import Person, SignIn
from gaby.identity.routes.dependencies import (
    FROM_OWN_SITE,
    IdentityService,
    OwnSignIn,
    address_of,
    delete_cookie,
    prove_own_password,
    prove_password,
    remember_device,
    set_cookie,
    set_device_cookie,
)
from gaby.identity.schemas import (
    ChooseWorkspaceIn,
    EndedSignInsOut,
    MeOut,
    MyWorkspaceOut,
    PasswordIn,
    SessionOut,
    SignInIn,
    SignInOut,
    WorkspaceOut,
)
from gaby.identity.secrets import csrf_token
from gaby.identity.service import Identity
from gaby.kernel.actors import Actor, Permission
from gaby.kernel.database import AllWorkspaces, ReadSession
from gaby.kernel.errors import NotFound
from gaby.kernel.http.access import (
    EntryReadSession,
    SignedIn,
    SystemReadSession,
    SystemWriteSession,
    request_dependencies,
)
from gaby.kernel.ids import SYSTEM, PersonId, SessionId, WorkspaceId

router = APIRouter(prefix="/api", tags=["Session"])


@router.post("/session", status_code=status.HTTP_201_CREATED, dependencies=[FROM_OWN_SITE])
async def sign_in(request: Request, response: Response, body: SignInIn, identity: IdentityService) -> SessionOut:
    """Sign in with e-mail and password, and the workspace whose invitation made the account, if one did.

    The cookie that comes back is the session. A second cookie remembers the device, so that strangers who guess at the
    account cannot keep its owner out.
    """
    # The slow password check is done before the write, which others would have to wait for.
    proof = await prove_password(request, identity, email=body.email, workspace=body.workspace, password=body.password)
    async with request_dependencies(request).database.write(
        AllWorkspaces("a person signs in, to any of their workspaces")
    ) as session:
        agent, address = request.headers.get("user-agent", ""), address_of(request)
        started, token = await identity.sign_ins.start(session, proof.person, user_agent=agent, address=address)
        device = await remember_device(session, identity, proof)
        answer = await _describe(session, identity, proof.person, started, token)
    set_cookie(response, identity, token)
    set_device_cookie(response, identity, device)
    return answer


@router.get("/session")
async def show_session(
    actor: SignedIn, own: OwnSignIn, identity: IdentityService, session: EntryReadSession
) -> SessionOut:
    """Who you are, where you are, and what you may do here."""
    started, person = await identity.sign_ins.find(session, own.token)
    return await _describe(session, identity, person, started, own.token)


@router.delete("/session", status_code=status.HTTP_204_NO_CONTENT)
async def sign_out(
    response: Response, actor: SignedIn, own: OwnSignIn, identity: IdentityService, session: SystemWriteSession
) -> None:
    await identity.sign_ins.end(session, actor, _person(actor), own.sign_in_id)
    delete_cookie(response)


@router.post("/session/workspace")
async def choose_workspace(
    request: Request, actor: SignedIn, own: OwnSignIn, body: ChooseWorkspaceIn, identity: IdentityService
) -> WorkspaceOut:
    """Work in another of your workspaces from now on, in this browser."""
    async with request_dependencies(request).database.write(body.workspace_id) as session:
        await identity.sign_ins.choose_workspace(session, own.sign_in_id, body.workspace_id)
        return WorkspaceOut.from_domain(await identity.workspaces.get(session, body.workspace_id))


@router.post("/session/password", status_code=status.HTTP_204_NO_CONTENT)
async def change_password(
    request: Request, response: Response, actor: SignedIn, own: OwnSignIn, body: PasswordIn, identity: IdentityService
) -> None:
    """Change your password. Everywhere else you are signed in, you are signed out."""
    proof = await prove_own_password(request, identity, _person(actor), body.current)
    async with request_dependencies(request).database.write(SYSTEM) as session:
        person = await session.get_one(Person, proof.person.id)
        await identity.people.set_password(session, actor, person, body.new)
        await identity.sign_ins.end_all(session, actor, PersonId(person.id), but=own.sign_in_id)
        await identity.throttle.succeeded(session, proof.attempt)
        await identity.devices.forget_all(session, PersonId(person.id))
        device = await identity.devices.remember(session, person)
    set_device_cookie(response, identity, device)


@router.get("/sign-ins")
async def list_sign_ins(
    actor: SignedIn, own: OwnSignIn, identity: IdentityService, session: SystemReadSession
) -> list[SignInOut]:
    sign_ins = await identity.sign_ins.list(session, _person(actor))
    return [SignInOut.from_domain(sign_in, current=own.sign_in_id) for sign_in in sign_ins]


@router.delete("/sign-ins/{sign_in_id}", status_code=status.HTTP_204_NO_CONTENT)
async def end_sign_in(
    actor: SignedIn, own: OwnSignIn, sign_in_id: SessionId, identity: IdentityService, session: SystemWriteSession
) -> None:
    await identity.sign_ins.end(session, actor, _person(actor), sign_in_id)


@router.delete("/sign-ins")
async def end_other_sign_ins(
    actor: SignedIn, own: OwnSignIn, identity: IdentityService, session: SystemWriteSession
) -> EndedSignInsOut:
    """Sign out everywhere but here."""
    return EndedSignInsOut(ended=await identity.sign_ins.end_all(session, actor, _person(actor), but=own.sign_in_id))


async def _describe(
    session: ReadSession, identity: Identity, person: Person, started: SignIn, token: str
) -> SessionOut:
    mine = await identity.workspaces.of_person(session, PersonId(person.id))
    here = [role for workspace, role in mine if workspace.id == started.current_workspace_id]
    permissions = set(here[0].permissions if here else ())
    if person.manages_installation:
        permissions.add(Permission.INSTALLATION_MANAGE)
    return SessionOut(
        person=MeOut(id=PersonId(person.id), email=person.email, name=person.name),
        workspace_id=WorkspaceId(started.current_workspace_id) if here and started.current_workspace_id else None,
        workspaces=[
            MyWorkspaceOut(**WorkspaceOut.from_domain(workspace).model_dump(), role=role) for workspace, role in mine
        ],
        permissions=sorted(permissions),
        csrf_token=csrf_token(token),
    )


def _person(actor: Actor) -> PersonId:
    if actor.person_id is None:
        raise NotFound
    return actor.person_id
