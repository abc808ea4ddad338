"""Pages behind the links that let people in: the first admin's, and invitations. They work without JavaScript."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response, status
from fastapi.responses import HTMLResponse

from gaby.identity.errors import LinkNotAccepted
from gaby.identity.models import Person
from gaby.identity.pages import render
from gaby.identity.routes.depends import IdentityService, address_of, set_cookie, slow_guessing
from gaby.identity.schemas import Token
from gaby.identity.service import Identity
from gaby.kernel.database import Across, WriteSession
from gaby.kernel.errors import GabyError
from gaby.kernel.http.access import doorway
from gaby.kernel.ids import SYSTEM
from gaby.kernel.text import Clean, printable

router = APIRouter(include_in_schema=False)

Link = Annotated[Token, Query()]
Field = Annotated[str, Clean(max_length=1024), Form()]


@router.get("/")
async def home() -> HTMLResponse:
    return HTMLResponse(render("home"))


@router.get("/setup")
async def setup_page(request: Request, identity: IdentityService, token: Link) -> HTMLResponse:
    try:
        async with doorway(request).database.read(SYSTEM) as session:
            await identity.first_admin.check(session, token)
    except LinkNotAccepted as error:
        return _refusal(error)
    return _form("setup", token)


@router.post("/setup")
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
        async with doorway(request).database.read(Across("an invitation tells its workspace")) as session:
            invitation = await identity.invitations.find(session, token)
    except LinkNotAccepted as error:
        return _refusal(error)
    return _form("join", token, {"email": invitation.email})


@router.post("/join")
async def join(request: Request, identity: IdentityService, token: Field, name: Field, password: Field) -> Response:
    try:
        async with doorway(request).database.read(Across("an invitation tells its workspace")) as session:
            email = (await identity.invitations.find(session, token)).email
    except LinkNotAccepted as error:
        return _refusal(error)

    async def enter(session: WriteSession) -> Person:
        return await identity.invitations.accept(session, token, name=_name(name), password=password)

    try:
        # Whoever made the invitation has its link, and must not be able to guess the password of whom it names.
        async with slow_guessing(request, identity, email):
            return await _enter(request, identity, enter)
    except GabyError as error:
        return _mistake(error, "join", token, {"email": email, "name": name})


async def _enter(request: Request, identity: Identity, enter: Callable[[WriteSession], Awaitable[Person]]) -> Response:
    """Let somebody in and sign them in, in one transaction."""
    agent, address = request.headers.get("user-agent", ""), address_of(request)
    async with doorway(request).database.write(Across("somebody enters by a link")) as session:
        person = await enter(session)
        _, cookie = await identity.sign_ins.start(session, person, user_agent=agent, address=address)
    response = HTMLResponse(render("welcome", name=person.name, api=f"{identity.public_url}/api/session"))
    set_cookie(response, identity, cookie)
    return response


def _mistake(error: GabyError, page: str, token: str, typed: dict[str, str]) -> HTMLResponse:
    """The form again with what they typed, unless the link itself is no good or the fault is ours."""
    if error.status >= status.HTTP_500_INTERNAL_SERVER_ERROR:
        raise error
    return _refusal(error) if error.status in {404, 409} else _form(page, token, typed, error)


def _form(page: str, token: str, typed: dict[str, str] | None = None, error: GabyError | None = None) -> HTMLResponse:
    body = render(page, token=token, typed=typed or {}, error=error.message if error else None)
    return HTMLResponse(body, status_code=error.status, headers=error.headers) if error else HTMLResponse(body)


def _refusal(error: GabyError) -> HTMLResponse:
    return HTMLResponse(render("refused", error=error.message), status_code=error.status)


def _name(text: str) -> str:
    return printable(text.strip(), one_line=True)[:200] or "Admin"
