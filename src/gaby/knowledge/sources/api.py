"""Asks a service's JSON interface with a token: never redirected, never told to anybody else."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import orjson

from gaby.knowledge.documents import Unreadable
from gaby.knowledge.sources.source import BadSource, SourceUnavailable
from gaby.knowledge.sources.web_client import REDIRECTS, WebClient, WebRequest, WebResponse


class ApiNotFound(Exception):
    """The service says that there is no such thing, or none that this token may see."""


class JsonApiClient:
    def __init__(self, web: WebClient, service: str, headers: Mapping[str, str], *, together: int = 3) -> None:
        """`service` is its name in messages; no more than `together` requests are on their way at once."""
        self._web = web
        self._service = service
        self._headers = {**headers, "Accept": "application/json"}
        self._turns = asyncio.Semaphore(together)

    async def get(self, url: str) -> dict[str, Any]:
        return await self._ask(WebRequest(url, self._headers, follows=_never))

    async def post(self, url: str, body: Mapping[str, Any]) -> dict[str, Any]:
        headers = {**self._headers, "Content-Type": "application/json"}
        return await self._ask(WebRequest(url, headers, method="POST", content=orjson.dumps(body), follows=_never))

    async def close(self) -> None:
        await self._web.close()

    async def _ask(self, asked: WebRequest) -> dict[str, Any]:
        try:
            async with self._turns:
                reply = await self._web.get(asked)
        except (BadSource, Unreadable) as error:
            raise SourceUnavailable(f"{self._service} cannot be asked. {error.message}") from error
        if reply.body is None:
            raise self._refusal(reply)
        try:
            answer: object = orjson.loads(reply.body)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise SourceUnavailable(f"{self._service} does not answer as it should. Is this its address?")
        return cast("dict[str, Any]", answer)

    def _refusal(self, reply: WebResponse) -> Exception:
        if reply.status in {404, 410}:
            return ApiNotFound()
        if reply.status in {401, 403}:
            return SourceUnavailable(f"{self._service} does not accept the token. Make a new one, with leave to read.")
        if reply.status in REDIRECTS:
            return SourceUnavailable(f"{self._service} is not at this address any more, or asks for a sign-in.")
        if reply.status == 429:
            return SourceUnavailable(f"{self._service} asks for a longer pause. The next sync goes on.")
        return SourceUnavailable(f"{self._service} answers with status {reply.status}.")


def _never(_: str) -> bool:
    return False


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def within(value: object, *names: str) -> object:
    """What is at this place of an answer, or None when the answer is made in another way."""
    for name in names:
        value = mapping(value).get(name)
    return value


def entries(value: object) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [entry for entry in map(mapping, items(value)) if entry]
