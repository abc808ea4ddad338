"""One realm of a Keycloak server, through its admin API, as a client with a service account."""

import asyncio
import time
from typing import Any, cast

import httpx2

from gaby_connectors.keycloak.config import KeycloakConfig
from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.errors import ToolError
from gaby_connectors.sdk.manifest import ErrorKind
from gaby_connectors.sdk.web import asked, explained, failure, json_of, web_client

_EARLY = 20.0
"""Seconds before its end at which a token is renewed."""


class Realm(Backend):
    config: KeycloakConfig

    def __init__(self, config: KeycloakConfig) -> None:
        super().__init__(config)
        self._client = web_client(config.url, seconds=config.seconds)
        self._token = ""
        self._good_until = 0.0
        self._renewing = asyncio.Lock()

    async def get(self, path: str, **parameters: Any) -> Any:
        return json_of(await self._ask("GET", path, parameters, None))

    async def send(self, method: str, path: str, body: Any = None, **parameters: Any) -> None:
        await self._ask(method, path, parameters, body)

    async def check(self) -> str:
        count = await self.get("users/count")
        return f"Keycloak answers; realm {self.config.realm} has {count} users."

    async def close(self) -> None:
        await self._client.aclose()

    def explain(self, error: Exception) -> Exception:
        return explained(error, "Keycloak")

    async def _ask(self, method: str, path: str, parameters: dict[str, Any], body: Any) -> httpx2.Response:
        response = await self._once(method, path, parameters, body)
        if response.status_code == 401:
            # The token may have been revoked before its time; a new one tells.
            self._good_until = 0.0
            response = await self._once(method, path, parameters, body)
        if response.status_code >= 300:
            raise failure(response, _message(response))
        return response

    async def _once(self, method: str, path: str, parameters: dict[str, Any], body: Any) -> httpx2.Response:
        request = self._client.build_request(
            method,
            f"/admin/realms/{self.config.realm}/{path}",
            params={name: value for name, value in parameters.items() if value is not None},
            headers={"Authorization": f"Bearer {await self._fresh_token()}"},
            **({"json": body} if body is not None else {}),
        )
        return await asked(self._client, request)

    async def _fresh_token(self) -> str:
        async with self._renewing:
            if time.monotonic() >= self._good_until:
                await self._renew()
            return self._token

    async def _renew(self) -> None:
        config = self.config
        request = self._client.build_request(
            "POST",
            f"/realms/{config.realm}/protocol/openid-connect/token",
            data={
                "grant_type": "client_credentials",
                "client_id": config.client_id,
                "client_secret": config.client_secret.get_secret_value(),
            },
        )
        response = await asked(self._client, request)
        if response.status_code in (400, 401):
            raise ToolError(
                ErrorKind.AUTH_EXPIRED, "Keycloak does not accept this connector's client. Renew its secret."
            )
        if response.status_code >= 300:
            raise failure(response, "")
        granted = json_of(response)
        self._token = str(granted["access_token"])
        self._good_until = time.monotonic() + max(float(granted.get("expires_in", 60)) - _EARLY, 1.0)


def _message(response: httpx2.Response) -> str:
    try:
        body = response.json()
    except ValueError:
        return ""
    if not isinstance(body, dict):
        return ""
    fields = cast("dict[str, Any]", body)
    return str(fields.get("errorMessage") or fields.get("error") or "")[:300]
