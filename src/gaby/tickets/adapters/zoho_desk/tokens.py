"""Access tokens of Zoho: valid for an hour, made from the refresh token shortly before they end or when refused."""

import asyncio
from datetime import UTC, datetime, timedelta

from gaby.tickets.adapters.adapter import DeskDependencies, DeskRefused, DeskUnavailable
from gaby.tickets.adapters.payload import line, mapping
from gaby.tickets.adapters.web import DeskRequest, checked_json, parsed, send
from gaby.tickets.adapters.zoho_desk.config import ZohoDeskConfig

_SERVICE = "Zoho's accounts server"
_EARLY = timedelta(minutes=5)
_MANY_ASKED = 600.0
"""Ten tokens in ten minutes is what Zoho allows."""


class ZohoTokens:
    def __init__(self, config: ZohoDeskConfig, dependencies: DeskDependencies) -> None:
        self._config = config
        self._dependencies = dependencies
        self._refresh_token = config.refresh_token.get_secret_value()
        self._until, self._token = _loaded(config.session.get_secret_value())
        self._turn = asyncio.Lock()

    async def current(self) -> str:
        if self._token and self._dependencies.clock.now() < self._until - _EARLY:
            return self._token
        return await self.renewed(self._token)

    async def renewed(self, refused: str) -> str:
        """Another one than the refused. Of several that ask at once, the first asks Zoho."""
        async with self._turn:
            if self._token == refused:
                await self._renew()
            return self._token

    async def _renew(self) -> None:
        form = {
            "grant_type": "refresh_token",
            "refresh_token": self._refresh_token,
            "client_id": self._config.client_id,
            "client_secret": self._config.client_secret.get_secret_value(),
        }
        ask = DeskRequest("POST", f"{self._config.accounts_url}/oauth/v2/token", form=form, repeatable=True)
        answer = await send(self._dependencies.http, ask, _SERVICE)
        now = self._dependencies.clock.now()
        if answer.status in {400, 401}:
            said = _safely_parsed(answer.body)
        else:
            said = mapping(checked_json(answer, ask, _SERVICE, now=now))
        token, seconds = said.get("access_token"), said.get("expires_in")
        if not isinstance(token, str) or not token:
            raise _refusal(said)
        self._token = token
        self._until = now + timedelta(seconds=min(seconds, 86_400) if isinstance(seconds, int) else 3600)
        remembered = {"session": f"{int(self._until.timestamp())} {token}"}
        following = said.get("refresh_token")
        if isinstance(following, str) and following and following != self._refresh_token:
            self._refresh_token = following
            remembered["refresh_token"] = following
        await self._dependencies.remember(remembered)


def _safely_parsed(body: bytes) -> dict[str, object]:
    try:
        return mapping(parsed(body))
    except ValueError:
        return {}


def _refusal(said: dict[str, object]) -> DeskUnavailable | DeskRefused:
    """Zoho tells most errors with status 200."""
    if "too many" in line(said.get("error_description"), 500).lower():
        return DeskUnavailable(f"{_SERVICE} was asked for too many tokens.", retry_after=_MANY_ASKED)
    reason = line(said.get("error"), 60) or "no reason given"
    return DeskRefused(f"{_SERVICE} gives no access token ({reason}). Make a new refresh token, in the right region.")


def _loaded(session: str) -> tuple[datetime, str]:
    until, _, token = session.partition(" ")
    return datetime.fromtimestamp(int(until) if until.isdigit() and len(until) < 12 else 0, UTC), token
