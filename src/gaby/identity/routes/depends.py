"""What identity's routes share: its services, and the cookie."""

from typing import Annotated

from fastapi import Depends, Request, Response

from gaby.identity.access import Entered, entered
from gaby.identity.service import Identity
from gaby.kernel.http.access import SESSION_COOKIE, SignedIn


def _identity(request: Request) -> Identity:
    return request.app.state.identity


IdentityService = Annotated[Identity, Depends(_identity)]


async def _own_sign_in(request: Request, actor: SignedIn) -> Entered:
    return entered(request)


OwnSignIn = Annotated[Entered, Depends(_own_sign_in)]
"""The browser's own sign-in, which an API key does not have."""


def set_cookie(response: Response, identity: Identity, token: str) -> None:
    secure = identity.public_url.startswith("https://")
    response.set_cookie(SESSION_COOKIE, token, httponly=True, samesite="lax", secure=secure, path="/")


def delete_cookie(response: Response) -> None:
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax", path="/")
