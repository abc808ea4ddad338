"""The API behind the tools: builds requests from arguments, sends them, and shows what came back."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import quote, urlsplit

import httpx2

from gaby_connectors.http_openapi.config import OpenApiConfig
from gaby_connectors.http_openapi.guard import SingleServerGuard
from gaby_connectors.http_openapi.operations import Argument, Operation
from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.errors import ToolError, invalid
from gaby_connectors.sdk.guarded_http import GuardedTransport
from gaby_connectors.sdk.manifest import ErrorKind
from gaby_connectors.sdk.web import asked, explained, failure


class PlannedRequest(NamedTuple):
    """A request that is not sent yet."""

    method: str
    url: str
    query: list[tuple[str, str]]
    body: Any
    has_body: bool


class OpenApiBackend(Backend):
    config: OpenApiConfig

    def __init__(self, config: OpenApiConfig) -> None:
        super().__init__(config)
        parts = urlsplit(config.base_url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        self._client = httpx2.AsyncClient(
            transport=GuardedTransport(SingleServerGuard(parts.hostname or "", port, config.allow_networks)),
            timeout=httpx2.Timeout(config.seconds, connect=min(config.seconds, 8)),
            headers={"Accept": "application/json"},
            trust_env=False,
        )

    def plan(self, operation: Operation, arguments: Mapping[str, Any]) -> PlannedRequest:
        path = operation.path
        query: list[tuple[str, str]] = []
        body: Any = {}
        has_body = False
        for argument in operation.arguments:
            if argument.name not in arguments:
                continue
            value = arguments[argument.name]
            match argument.place:
                case "path":
                    path = path.replace("{" + argument.wire_name + "}", _step(argument, value))
                case "query":
                    query += [(argument.wire_name, _text(part)) for part in _each(value)]
                case "body":
                    body[argument.wire_name] = value
                    has_body = True
                case "whole_body":
                    body, has_body = value, True
        return PlannedRequest(operation.method, self.config.base_url + path, query, body, has_body)

    async def send(self, plan: PlannedRequest, *, idempotency_key: str | None = None) -> dict[str, Any]:
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        if self.config.auth_value is not None:
            headers[self.config.auth_header] = self.config.auth_value.get_secret_value()
        request = self._client.build_request(
            plan.method,
            plan.url,
            params=tuple(plan.query) or None,
            headers=headers,
            **({"json": plan.body} if plan.has_body else {}),
        )
        response = await asked(self._client, request)
        if 300 <= response.status_code < 400:
            raise ToolError(ErrorKind.PERMANENT, "The server sends us elsewhere; redirects are not followed.")
        if response.status_code >= 400:
            raise failure(response, response.text[:500])
        return {"status": response.status_code, "body": _shown(response)}

    async def check(self) -> str:
        request = self._client.build_request("GET", self.config.base_url + self.config.health_path)
        response = await asked(self._client, request)
        if response.status_code >= 500:
            raise failure(response, "")
        return f"The server answers, with {response.status_code}."

    async def close(self) -> None:
        await self._client.aclose()

    def explain(self, error: Exception) -> Exception:
        return explained(error, "The server")


def _step(argument: Argument, value: Any) -> str:
    """One step of a path: nothing in it can become two steps, or a step back."""
    text = _text(value)
    if text in ("", ".", "..") or "\0" in text:
        raise invalid(f"Bad arguments: `{argument.name}` cannot be a part of a path.")
    return quote(text, safe="")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _each(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _shown(response: httpx2.Response) -> Any:
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        return response.text
