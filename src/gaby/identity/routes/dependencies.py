"""What identity's routes share: its services, and the cookie."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit
from uuid import UUID

from fastapi import Depends, Request, Response

from gaby.identity.access import CurrentSignIn, entered
from gaby.identity.devices import COOKIE_DAYS, DEVICE_COOKIE
from gaby.identity.errors import SentByAnotherSite, WrongCredentials
from gaby.identity.models import Person, Workspace
from gaby.identity.networks import network_of
from gaby.identity.people import normal_email
from gaby.identity.service import Identity
from gaby.identity.throttle import SignInAttempt
from gaby.kernel.actors import Actor
from gaby.kernel.database import WriteSession
from gaby.kernel.events import Event
from gaby.kernel.http.access import SESSION_COOKIE, SignedIn, request_dependencies
from gaby.kernel.ids import SYSTEM, PersonId, WorkspaceId

NOBODY = UUID(int=0)


async def _identity(request: Request) -> Identity:
    return request.app.state.identity


IdentityService = Annotated[Identity, Depends(_identity)]


async def _own_sign_in(request: Request, actor: SignedIn) -> CurrentSignIn:
    return entered(request)


OwnSignIn = Annotated[CurrentSignIn, Depends(_own_sign_in)]
"""The browser's own sign-in, which an API key does not have."""


async def _from_own_site(request: Request, identity: IdentityService) -> None:
    """Before somebody is signed in there is no token to ask for, so what the browser says of the sender decides.
    Another site could sign somebody in to an account of its own. Programs other than browsers say nothing."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if origin is not None:
        # By the name in the request too: behind a tunnel or on this machine it is not the public one.
        own = {_host(identity.public_url), _host(f"//{request.headers.get('host', '')}")}
        is_own = _host(origin) is not None and _host(origin) in own
    else:
        is_own = site in {None, "same-origin", "none"}
    if not is_own:
        raise SentByAnotherSite


FROM_OWN_SITE = Depends(_from_own_site)
"""For routes that change something and that nobody needs to be signed in for."""


def _host(url: str) -> str | None:
    """With its port, unless that goes without saying. `null` has none, and is nobody's."""
    return urlsplit(url.lower()).netloc.removesuffix(":443").removesuffix(":80") or None


def address_of(request: Request) -> str:
    return request.client.host if request.client else ""


@dataclass(frozen=True)
class PasswordProof:
    """Somebody gave the right password of an account."""

    person: Person
    attempt: SignInAttempt


async def prove_password(
    request: Request, identity: Identity, *, email: str, workspace: str | None, password: str
) -> PasswordProof:
    """Checks a password for an account by its name: an address, and the workspace that vouched for it, if one did.

    An account that does not exist takes the same steps and gets the same answer as one that does.
    """
    async with request_dependencies(request).database.read(SYSTEM) as session:
        home = await identity.workspaces.find(session, workspace) if workspace else None
        if workspace and home is None:
            person = None
        else:
            person = await identity.people.find(session, email, home=WorkspaceId(home.id) if home else None)
    return await check_password(request, identity, person, _account_name(email, workspace), password)


async def prove_own_password(request: Request, identity: Identity, person_id: PersonId, password: str) -> PasswordProof:
    """Somebody who is signed in gives their password once more."""
    async with request_dependencies(request).database.read(SYSTEM) as session:
        person = await session.get_one(Person, person_id)
        home = await session.get(Workspace, person.home_workspace_id) if person.home_workspace_id else None
    name = _account_name(person.email, home.slug if home else None)
    return await check_password(request, identity, person, name, password)


async def check_password(
    request: Request, identity: Identity, person: Person | None, account: str, password: str
) -> PasswordProof:
    """The one way to try a password: the attempt is counted first, and a wrong one is recorded."""
    network = network_of(address_of(request))
    person_id = PersonId(person.id if person is not None else NOBODY)
    async with request_dependencies(request).database.read(SYSTEM) as session:
        device = await identity.devices.find(session, person_id, request.cookies.get(DEVICE_COOKIE))
        is_known = network in await identity.sign_ins.networks(session, person_id)
    attempt = SignInAttempt(account, network, device, from_known_network=is_known)
    await identity.throttle.reserve(attempt)
    try:
        return PasswordProof(await identity.sign_ins.check_password(person, password), attempt)
    except WrongCredentials:
        # Nobody's key could shred it later, so only the network is recorded, which is nobody's personal data.
        async with request_dependencies(request).database.write(SYSTEM) as session:
            payload = {"network": network}
            session.emit(Event("sign_in.failed", SYSTEM, Actor("system", "sign-in", SYSTEM), payload))
        raise


async def remember_device(session: WriteSession, identity: Identity, proof: PasswordProof) -> str | None:
    """After a right password, in its transaction: forgives the failures before it; the token for a new device."""
    await identity.throttle.succeeded(session, proof.attempt)
    return await identity.devices.remember(session, proof.person) if proof.attempt.device is None else None


def set_device_cookie(response: Response, identity: Identity, token: str | None) -> None:
    if token is not None:
        secure = identity.public_url.startswith("https://")
        age = COOKIE_DAYS * 24 * 3600
        response.set_cookie(DEVICE_COOKIE, token, max_age=age, httponly=True, samesite="lax", secure=secure, path="/")


def set_cookie(response: Response, identity: Identity, token: str) -> None:
    secure = identity.public_url.startswith("https://")
    response.set_cookie(SESSION_COOKIE, token, httponly=True, samesite="lax", secure=secure, path="/")


def delete_cookie(response: Response) -> None:
    # By age alone: `delete_cookie` would add a date from the wall clock.
    response.set_cookie(SESSION_COOKIE, "", max_age=0, httponly=True, samesite="lax", path="/")


def _account_name(email: str, workspace: str | None) -> str:
    return f"{workspace or ''} {normal_email(email)}"
