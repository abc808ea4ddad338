"""Pages behind the links that let people in: the first admin's, and invitations. They work without JavaScript."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response, status
from fastapi.responses import HTMLResponse

from gaby.identity.errors import AccountExists, LinkNotAccepted
from gaby.identity.models import Person, Workspace
from gaby.identity.pages import render
from gaby.identity.routes.dependencies import (
    FROM_OWN_SITE,
    IdentityService,
    address_of,
    prove_password,
    set_cookie,
    set_device_cookie,
)
from gaby.identity.schemas import Token
from gaby.identity.service import Identity
from gaby.kernel.database import AllWorkspaces, WriteSession
from gaby.kernel.errors import GabyError
from gaby.kernel.http.access import request_dependencies
from gaby.kernel.ids import SYSTEM
from gaby.kernel.text import CleanText, printable

router = APIRouter(include_in_schema=False)

Link = Annotated[Token, Query()]
Field = Annotated[str, CleanText(max_length=1024), Form()]


@router.get("/")
async def home() -> HTMLResponse:
    return HTMLResponse(render("home"))


@router.get("/setup")
async def setup_page(request: Request, identity: IdentityService, token: Link) -> HTMLResponse:
    try:
        async with request_dependencies(request).database.read(SYSTEM) as session:
            await identity.first_admin.check(session, token)
    except LinkNotAccepted as error:
        return _refusal(error)
    return _form("setup", token)


@router.post("/setup", dependencies=[FROM_OWN_SITE])
async def set_up(
    request: Request, identity: IdentityService, token: Field, email: Field, name: Field, password: Field
) -> Response:
    async def enter(session: WriteSession) -> Person:
        return await identity.first_admin.use(session, token, email=email, name=_name(name), password=password)

    try:
        return await _enter(request, identity, enter)
    except GabyError as error:
        return _mistake(error, "setup", token, {"email": email, "name": name})


@router.get("/join")
async def join_page(request: Request, identity: IdentityService, token: Link) -> HTMLResponse:
    try:
        async with request_dependencies(request).database.read(
            AllWorkspaces("an invitation tells its workspace")
        ) as session:
            invitation = await identity.invitations.find(session, token)
    except LinkNotAccepted as error:
        return _refusal(error)
    return _form("join", token, {"email": invitation.email})


@router.post("/join", dependencies=[FROM_OWN_SITE])
async def join(
    request: Request,
    identity: IdentityService,
    token: Field,
    password: Field,
    name: Field = "",
    account: Annotated[Literal["new", "existing"], Form()] = "new",
    workspace: Annotated[str, CleanText(max_length=63), Form()] = "",
) -> Response:
    """A new account for the workspace, or one that somebody proves to have."""
    try:
        async with request_dependencies(request).database.read(
            AllWorkspaces("an invitation tells its workspace")
        ) as session:
            email = (await identity.invitations.find(session, token)).email
    except LinkNotAccepted as error:
        return _refusal(error)
    try:
        if account == "existing":
            return await _join_as(request, identity, token, email, workspace.strip() or None, password)
        # Outside the transaction, because it is slow on purpose.
        password_hash = await identity.people.hash_password(password)

        async def enter(session: WriteSession) -> Person:
            return await identity.invitations.accept_new(session, token, name=_name(name), password_hash=password_hash)

        return await _enter(request, identity, enter)
    except GabyError as error:
        return _mistake(error, "join", token, {"email": email, "name": name, "workspace": workspace})


async def _join_as(
    request: Request, identity: Identity, token: str, email: str, workspace: str | None, password: str
) -> Response:
    # The same limit as at the sign-in: whoever made the invitation has its link, and could guess with it.
    proof = await prove_password(request, identity, email=email, workspace=workspace, password=password)

    async def enter(session: WriteSession) -> Person:
        person = await session.get_one(Person, proof.person.id)
        await identity.invitations.accept_as(session, token, person)
        await identity.throttle.succeeded(session, proof.attempt)
        return person

    return await _enter(request, identity, enter)


async def _enter(request: Request, identity: Identity, enter: Callable[[WriteSession], Awaitable[Person]]) -> Response:
    """Let somebody in and sign them in, in one transaction."""
    agent, address = request.headers.get("user-agent", ""), address_of(request)
    async with request_dependencies(request).database.write(AllWorkspaces("somebody enters by a link")) as session:
        person = await enter(session)
        _, cookie = await identity.sign_ins.start(session, person, user_agent=agent, address=address)
        device = await identity.devices.remember(session, person)
        home = await session.get(Workspace, person.home_workspace_id) if person.home_workspace_id else None
    page = render(
        "welcome", name=person.name, api=f"{identity.public_url}/api/session", workspace=home.slug if home else None
    )
    response = HTMLResponse(page)
    set_cookie(response, identity, cookie)
    set_device_cookie(response, identity, device)
    return response


def _mistake(error: GabyError, page: str, token: str, typed: dict[str, str]) -> HTMLResponse:
    """The form again with what they typed, unless the link itself is no good or the fault is ours."""
    if error.status >= status.HTTP_500_INTERNAL_SERVER_ERROR:
        raise error
    is_final = error.status in {404, 409} and not isinstance(error, AccountExists)
    return _refusal(error) if is_final else _form(page, token, typed, error)


def _form(page: str, token: str, typed: dict[str, str] | None = None, error: GabyError | None = None) -> HTMLResponse:
    body = render(page, token=token, typed=typed or {}, error=error.message if error else None)
    return HTMLResponse(body, status_code=error.status, headers=error.headers) if error else HTMLResponse(body)


def _refusal(error: GabyError) -> HTMLResponse:
    return HTMLResponse(render("refused", error=error.message), status_code=error.status)


def _name(text: str) -> str:
    return printable(text.strip(), one_line=True)[:200] or "Admin"
