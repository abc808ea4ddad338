"""A small OAuth server on loopback that signs in by device code, renews tokens, and can be told to misbehave."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from gaby.kernel.clock import ManualClock
from gaby.tools.device_code import DeviceCode
from tests.support.keycloak import serving

CLIENT_SECRET = "client-secret-of-gaby-7741"
Form = dict[str, str]


def _set() -> Event:
    event = Event()
    event.set()
    return event


@dataclass
class OAuth:
    """What the server knows, for tests to look at and to change."""

    url: str = ""
    approved: bool = False
    lifetime: Any = 3600
    rotates: bool = True
    good: set[str] = field(default_factory=set[str])
    """Refresh tokens that still count."""
    issued: list[str] = field(default_factory=list[str])
    polls: int = 0
    refreshes: int = 0
    forms: list[Form] = field(default_factory=list[Form])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    device_answer: dict[str, Any] = field(default_factory=dict[str, Any])
    """What is different in the answer with the code."""
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    """What is different in what it tells of itself."""
    instead: dict[str, Response] = field(default_factory=dict[str, Response])
    """By path: answered in place of the right answer."""
    errors: list[str] = field(default_factory=list[str])
    """Answered to the next polls."""
    go_on: Event = field(default_factory=_set)
    """Refreshes wait until this is set."""
    told: Callable[[str], None] = lambda _token: None
    """Hears of every new access token."""

    @property
    def secrets(self) -> list[str]:
        """Everything that must not be seen anywhere."""
        return [CLIENT_SECRET, "device-code-of-gaby", *self.issued, *(f"refresh-{each}" for each in self.issued)]

    async def answer(self, request: Request) -> Response:
        path = request.url.path
        self.headers.append(dict(request.headers))
        if request.method == "POST":
            self.forms.append({name: str(value) for name, value in (await request.form()).items()})
        if path in self.instead:
            return self.instead[path]
        match path:
            case "/device":
                return JSONResponse(self._code())
            case "/token":
                return await self._token(self.forms[-1])
            case "/.well-known/oauth-authorization-server" | "/realm/.well-known/openid-configuration":
                return JSONResponse(self._metadata("/realm" if path.startswith("/realm") else ""))
            case _:
                return Response("<html>not here</html>", 404, media_type="text/html")

    def _metadata(self, path: str) -> dict[str, Any]:
        endpoints = {"device_authorization_endpoint": f"{self.url}/device", "token_endpoint": f"{self.url}/token"}
        return {"issuer": f"{self.url}{path}", **endpoints, **self.metadata}

    def _code(self) -> dict[str, Any]:
        right: dict[str, Any] = {
            "device_code": "device-code-of-gaby",
            "user_code": "WDJB-MJHT",
            "verification_uri": f"{self.url}/enter",
            "expires_in": 900,
            "interval": 5,
        }
        changed = {**right, **self.device_answer}
        return {name: value for name, value in changed.items() if value is not ...}

    async def _token(self, form: Form) -> Response:
        if form.get("grant_type") == "refresh_token":
            self.refreshes += 1
            await asyncio.to_thread(self.go_on.wait, 30)
            if form["refresh_token"] not in self.good:
                return JSONResponse({"error": "invalid_grant", "error_description": form["refresh_token"]}, 400)
            if self.rotates:
                self.good.discard(form["refresh_token"])
            return self._issue()
        self.polls += 1
        if self.errors:
            return JSONResponse({"error": self.errors.pop(0), "error_description": str(form)}, 400)
        if not self.approved:
            return JSONResponse({"error": "authorization_pending"}, 400)
        return self._issue()

    def _issue(self) -> Response:
        token = f"access-{len(self.issued) + 1}-zQ9"
        self.issued.append(token)
        self.good.add(f"refresh-{token}")
        self.told(token)
        body: dict[str, Any] = {"access_token": token, "token_type": "Bearer", "expires_in": self.lifetime}
        return JSONResponse(body | ({"refresh_token": f"refresh-{token}"} if self.rotates else {}))


@dataclass
class Person:
    """Waits without waiting, and looks at the code on the screen."""

    clock: ManualClock
    oauth: OAuth
    agrees_after: int = 1
    pauses: list[float] = field(default_factory=list[float])
    codes: list[DeviceCode] = field(default_factory=list[DeviceCode])

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.clock.advance(timedelta(seconds=seconds))
        self.oauth.approved = len(self.pauses) >= self.agrees_after

    def look(self, code: DeviceCode) -> AbstractContextManager[None]:
        self.codes.append(code)
        return nullcontext()


def huge() -> Response:
    return Response(b'{"a":"' + b"x" * 200_000 + b'"}', media_type="application/json")


def dripping() -> Response:
    async def drops() -> AsyncGenerator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.02)

    return StreamingResponse(drops(), media_type="application/json")


def elsewhere(url: str) -> Response:
    return RedirectResponse(url, 307)


@contextmanager
def oauth_server() -> Generator[OAuth]:
    state = OAuth()
    app = Starlette(routes=[Route("/{rest:path}", state.answer, methods=["GET", "POST"])])
    with serving(app) as state.url:
        yield state
