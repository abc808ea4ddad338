"""A small server that speaks the wire format of Keycloak's admin API, with tokens that run out."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

CLIENT_SECRET = "keycloak-client-9902"


def _people() -> dict[str, dict[str, Any]]:
    ada = {"id": "u-1", "username": "ada", "email": "ada@acme.example", "firstName": "Ada", "lastName": "Byron"}
    bo = {"id": "u-2", "username": "bo", "email": "bo@acme.example", "firstName": "Bo", "lastName": "Ek"}
    common: dict[str, Any] = {
        "enabled": True,
        "emailVerified": True,
        "requiredActions": [],
        "createdTimestamp": 1_700_000_000_000,
    }
    return {"u-1": ada | common, "u-2": bo | common | {"enabled": False}}


@dataclass
class Keycloak:
    """What the server knows, for tests to look at and to change."""

    url: str = ""
    secret: str = CLIENT_SECRET
    people: dict[str, dict[str, Any]] = field(default_factory=_people)
    sessions: dict[str, int] = field(default_factory=lambda: {"u-1": 2})
    locked: set[str] = field(default_factory=lambda: {"u-1"})
    tokens: set[str] = field(default_factory=set[str])
    granted: int = 0
    mails: list[tuple[str, list[str]]] = field(default_factory=list[tuple[str, list[str]]])
    seconds: int = 300
    failing: int = 0
    """How many of the next requests to the admin API are answered with 503."""

    def expire_tokens(self) -> None:
        self.tokens.clear()

    async def token(self, request: Request) -> Response:
        form = await request.form()
        if form.get("client_secret") != self.secret or form.get("grant_type") != "client_credentials":
            return JSONResponse({"error": "unauthorized_client"}, 401)
        self.granted += 1
        token = f"token-{self.granted}"
        self.tokens.add(token)
        return JSONResponse({"access_token": token, "expires_in": self.seconds, "token_type": "Bearer"})

    async def admin(self, request: Request) -> Response:
        if request.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return JSONResponse({"error": "HTTP 401 Unauthorized"}, 401)
        if self.failing:
            self.failing -= 1
            return Response(status_code=503, headers={"Retry-After": "7"})
        return await self._answer(request, request.path_params["rest"].split("/"))

    async def _answer(self, request: Request, steps: list[str]) -> Response:
        match request.method, steps:
            case "GET", ["users", "count"]:
                return JSONResponse(len(self.people))
            case "GET", ["users"]:
                text = request.query_params.get("search", "")
                return JSONResponse([user for user in self.people.values() if text in str(user)])
            case _, ["attack-detection", "brute-force", "users", user]:
                if request.method == "DELETE":
                    self.locked.discard(user)
                    return Response(status_code=204)
                return JSONResponse({"disabled": user in self.locked, "numFailures": 5})
            case _, ["users", user, *rest] if user in self.people:
                return await self._user(request, user, rest)
            case _:
                return JSONResponse({"error": "User not found"}, 404)

    async def _user(self, request: Request, user: str, rest: list[str]) -> Response:
        match request.method, rest:
            case "GET", []:
                return JSONResponse(self.people[user])
            case "PUT", []:
                self.people[user].update(await request.json())
            case "GET", ["sessions"]:
                return JSONResponse([_session(number) for number in range(self.sessions.get(user, 0))])
            case "POST", ["logout"]:
                self.sessions[user] = 0
            case "PUT", ["execute-actions-email"]:
                self.mails.append((user, await request.json()))
            case _:
                return JSONResponse({"error": "not found"}, 404)
        return Response(status_code=204)


def _session(number: int) -> dict[str, Any]:
    times = {"start": 1_700_000_000_000, "lastAccess": 1_700_000_100_000}
    return {"id": f"s-{number}", "ipAddress": "203.0.113.9", "clients": {"c": "shop"}, **times}


@contextmanager
def keycloak_server() -> Generator[Keycloak]:
    state = Keycloak()
    app = Starlette(
        routes=[
            Route("/realms/acme/protocol/openid-connect/token", state.token, methods=["POST"]),
            Route("/admin/realms/acme/{rest:path}", state.admin, methods=["GET", "POST", "PUT", "DELETE"]),
        ]
    )
    with serving(app) as state.url:
        yield state


@contextmanager
def serving(app: Starlette) -> Generator[str]:
    """An ASGI application on a loopback port of its own, in a thread."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="on"))
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    listening.listen()
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        listening.close()
