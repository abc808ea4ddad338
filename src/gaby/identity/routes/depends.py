"""What identity's routes share: its services, and the cookie."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from ipaddress import ip_address, ip_network
from typing import Annotated

from fastapi import Depends, Request, Response

from gaby.identity.access import Entered, entered
from gaby.identity.errors import WrongCredentials
from gaby.identity.service import Identity
from gaby.kernel.actors import Actor
from gaby.kernel.events import Event
from gaby.kernel.http.access import SESSION_COOKIE, SignedIn, doorway
from gaby.kernel.ids import SYSTEM


async def _identity(request: Request) -> Identity:
    return request.app.state.identity


IdentityService = Annotated[Identity, Depends(_identity)]


async def _own_sign_in(request: Request, actor: SignedIn) -> Entered:
    return entered(request)


OwnSignIn = Annotated[Entered, Depends(_own_sign_in)]
"""The browser's own sign-in, which an API key does not have."""


def address_of(request: Request) -> str:
    return request.client.host if request.client else ""


def network_of(address: str) -> str:
    """Where somebody comes from, without saying who: the /24 or /48 around the address."""
    try:
        kept = 24 if ip_address(address).version == 4 else 48
        return str(ip_network(f"{address}/{kept}", strict=False))
    except ValueError:
        return "unknown"


@asynccontextmanager
async def slow_guessing(request: Request, identity: Identity, email: str) -> AsyncGenerator[None]:
    """Around every check of a password: a wrong one is counted and recorded, and too many are refused."""
    address = address_of(request)
    identity.throttle.check(f"address:{address}", f"email:{email}")
    try:
        yield
    except WrongCredentials:
        identity.throttle.failed(f"address:{address}", f"email:{email}")
        # Nobody's key could shred it later, so only the network is recorded, which is nobody's personal data.
        payload = {"network": network_of(address)}
        async with doorway(request).database.write(SYSTEM) as session:
            session.emit(Event("sign_in.failed", SYSTEM, Actor("system", "sign-in", SYSTEM), payload))
        raise
    identity.throttle.succeeded(f"email:{email}")


def set_cookie(response: Response, identity: Identity, token: str) -> None:
    secure = identity.public_url.startswith("https://")
    response.set_cookie(SESSION_COOKIE, token, httponly=True, samesite="lax", secure=secure, path="/")


def delete_cookie(response: Response) -> None:
    # By age alone: `delete_cookie` would add a date from the wall clock.
    response.set_cookie(SESSION_COOKIE, "", max_age=0, httponly=True, samesite="lax", path="/")
