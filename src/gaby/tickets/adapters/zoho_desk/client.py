"""Asks Zoho Desk's interface: with a token that is valid, and with an eye on the credits of the day."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from gaby.tickets.adapters.adapter import DeskDependencies, DeskUnavailable
from gaby.tickets.adapters.payload import entries, mapping
from gaby.tickets.adapters.web import DeskRequest, DeskResponse, Method, checked_json, parsed, pause, send
from gaby.tickets.adapters.zoho_desk.config import ZohoDeskConfig
from gaby.tickets.adapters.zoho_desk.tokens import ZohoTokens

SERVICE = "Zoho Desk"
_AT_ONCE = 100
_MOST_PAGES = 10
_CREDITS = "x-rate-limit-remaining-v3"
_LOOK_AGAIN = timedelta(minutes=15)
_OUT_OF_CREDITS = 3600.0
_TOO_MANY_AT_ONCE = 5.0


class ZohoNotFound(Exception):
    """Zoho Desk has no such thing, or hides it from this agent."""


class ZohoClient:
    def __init__(self, config: ZohoDeskConfig, dependencies: DeskDependencies) -> None:
        self._config = config
        self._dependencies = dependencies
        self._tokens = ZohoTokens(config, dependencies)
        self._spare_until: datetime | None = None

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        return mapping(await self._call(self._ask("GET", path, query=query or {})))

    async def all_of(self, path: str) -> list[dict[str, Any]]:
        """Every entry of a list, as far as a thousand."""
        items: list[dict[str, Any]] = []
        for page in range(_MOST_PAGES):
            listed = await self.get(path, {"from": str(page * _AT_ONCE), "limit": str(_AT_ONCE)})
            part = entries(listed.get("data"))
            items += part
            if len(part) < _AT_ONCE:
                break
        return items

    async def post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        return mapping(await self._call(self._ask("POST", path, json=body)))

    async def patch(self, path: str, body: Mapping[str, object]) -> None:
        await self._call(self._ask("PATCH", path, json=body, repeatable=True))

    async def keys(self) -> object:
        """The public keys that deliveries are signed with."""
        ask = DeskRequest("GET", f"{self._config.desk_url}/.well-known/jwks.json")
        return checked_json(
            await send(self._dependencies.http, ask, SERVICE), ask, SERVICE, now=self._dependencies.clock.now()
        )

    def check_credits(self) -> None:
        """`DeskUnavailable` while only the reserve is left, which is kept for answers."""
        now = self._dependencies.clock.now()
        if self._spare_until and now < self._spare_until:
            left = (self._spare_until - now).total_seconds()
            raise DeskUnavailable("Few of the day's API credits are left; they are kept for answers.", retry_after=left)

    def _ask(self, method: Method, path: str, **more: Any) -> DeskRequest:
        return DeskRequest(method, f"{self._config.desk_url}/api/v1/{path}", **more)

    async def _call(self, ask: DeskRequest) -> object:
        token = await self._tokens.current()
        answer = await self._send(ask, token)
        if answer.status == 401:
            # It was not even looked at, so it may be asked again.
            answer = await self._send(ask, await self._tokens.renewed(token))
        if answer.status == 404:
            raise ZohoNotFound
        if answer.status == 429:
            raise self._busy(answer)
        return checked_json(answer, ask, SERVICE, now=self._dependencies.clock.now())

    async def _send(self, ask: DeskRequest, token: str) -> DeskResponse:
        headers = {"Authorization": f"Zoho-oauthtoken {token}", "orgId": self._config.org_id}
        answer = await send(self._dependencies.http, replace(ask, headers=headers), SERVICE)
        left = answer.headers.get(_CREDITS, "")
        if left.isascii() and left.isdigit() and len(left) < 10:
            short = int(left) < self._config.credit_reserve
            self._spare_until = self._dependencies.clock.now() + _LOOK_AGAIN if short else None
        return answer

    def _busy(self, answer: DeskResponse) -> DeskUnavailable:
        """There are two kinds, and only the end of the credits says how long it lasts."""
        try:
            spent = mapping(parsed(answer.body[:10_000])).get("errorCode") == "THRESHOLD_EXCEEDED"
        except ValueError:
            spent = False
        usual = _OUT_OF_CREDITS if spent else _TOO_MANY_AT_ONCE
        seconds = pause(answer, self._dependencies.clock.now())
        message = "The day's API credits are used up." if spent else f"{SERVICE} asks for a pause."
        return DeskUnavailable(message, retry_after=usual if seconds is None else seconds)
