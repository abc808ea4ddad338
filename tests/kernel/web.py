"""A small app behind our HTTP pieces, in memory or on a real socket."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Literal
from uuid import UUID

import httpx2
import uvicorn
from fastapi import APIRouter, FastAPI, HTTPException, Query, Request
from pydantic import BaseModel, ConfigDict, Field, field_validator
from starlette.responses import JSONResponse, StreamingResponse

from gaby.kernel.errors import NotFound, TooManyRequests, Unavailable
from gaby.kernel.http import NO_FASTAPI_TELEMETRY, guard_http
from gaby.kernel.log import note_workspace
from gaby.kernel.metrics import Metrics
from gaby.kernel.text import CleanStr

MAX_BODY = 100_000


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Thing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: CleanStr
    id: UUID | None = None
    count: int = 0
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None

    @field_validator("count")
    @classmethod
    def _small(cls, value: int) -> int:
        if value > 10:
            raise ValueError("must be at most 10")
        return value


router = APIRouter(prefix="/api/things")


@router.get("/{thing_id}")
async def read_thing(thing_id: str) -> dict[str, str]:
    note_workspace("w-1")
    return {"id": thing_id}


@router.post("")
async def add_thing(thing: Thing) -> Thing:
    return thing


@router.get("")
async def list_things(limit: Annotated[int, Query(ge=1)] = 1) -> list[int]:
    return [limit]


def build(metrics: Metrics | None = None, *, https: bool = False, max_body_bytes: int = MAX_BODY) -> FastAPI:
    app = FastAPI(telemetry=NO_FASTAPI_TELEMETRY)
    app.include_router(router)

    @app.get("/fail/{how}")
    async def fail(how: str) -> StreamingResponse:
        match how:
            case "gone":
                raise NotFound
            case "later":
                raise TooManyRequests(retry_after=7)
            case "down":
                raise Unavailable
            case "teapot":
                raise HTTPException(418, "secret detail")
            case "midway":
                return StreamingResponse(half())
            case _:
                raise RuntimeError("secret detail")

    @app.post("/echo")
    async def echo(request: Request) -> JSONResponse:
        return JSONResponse({"bytes": len(await request.body())}, headers={"X-Frame-Options": "SAMEORIGIN"})

    guard_http(app, metrics=metrics or Metrics(), max_body_bytes=max_body_bytes, https=https)
    return app


async def half() -> AsyncGenerator[bytes]:
    yield b"half of "
    raise RuntimeError("secret detail")


def client(app: FastAPI, *, base: str = "http://gaby") -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=base)


@asynccontextmanager
async def served(app: FastAPI) -> AsyncGenerator[str]:
    """The address of the app on a loopback port of its own."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", server_header=False)
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        host, port = listener.getsockname()
        try:
            yield f"http://{host}:{port}"
        finally:
            server.should_exit = True
            await running
