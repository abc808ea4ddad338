"""A Prometheus server, asked over its HTTP API."""

from typing import Any

from gaby_connectors.prometheus.config import PrometheusConfig
from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.errors import ToolError, invalid
from gaby_connectors.sdk.manifest import ErrorKind
from gaby_connectors.sdk.web import asked, explained, failure, json_of, web_client


class Prometheus(Backend):
    config: PrometheusConfig

    def __init__(self, config: PrometheusConfig) -> None:
        super().__init__(config)
        token = config.token.get_secret_value() if config.token else ""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = web_client(config.url, seconds=config.seconds + 5, headers=headers)

    async def ask(self, path: str, **parameters: Any) -> Any:
        """The `data` of an answer."""
        given = {name: value for name, value in parameters.items() if value is not None}
        # As a form, since queries can be longer than an address may be.
        if path.startswith("query"):
            request = self._client.build_request("POST", f"/api/v1/{path}", data=given)
        else:
            request = self._client.build_request("GET", f"/api/v1/{path}", params=given)
        response = await asked(self._client, request)
        if response.status_code in (400, 422):
            raise invalid(f"Prometheus says: {str(json_of(response).get('error', ''))[:500]}")
        if response.status_code == 503:
            raise ToolError(ErrorKind.PERMANENT, "The query took too long. Ask for less.")
        if response.status_code >= 300:
            raise failure(response, "")
        return json_of(response)["data"]

    async def check(self) -> str:
        build = await self.ask("status/buildinfo")
        return f"Prometheus {build.get('version', '')} answers."

    async def close(self) -> None:
        await self._client.aclose()

    def explain(self, error: Exception) -> Exception:
        return explained(error, "Prometheus")
