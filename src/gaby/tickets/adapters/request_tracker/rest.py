"""Talks to REST 2.0: bounded in size and time, and every failure is one of the desk's errors."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
import orjson

from gaby.tickets.adapters.adapter import DeskOutcomeUnknown, DeskRefused, DeskUnavailable
from gaby.tickets.text_cleanup import clean_line
from gaby_connectors.sdk.address_guard import AddressNotAllowed

_MOST_BYTES = 8_000_000
_WITHIN = 60.0
_TIMEOUT = httpx2.Timeout(30.0, connect=10.0)
Query = Mapping[str, str | int | list[str]]
_BUSY = frozenset({408, 425, 429, 503})
_LONGEST_WAIT = 3600.0
# The request has not left, so nothing was done.
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)


class Busy(DeskUnavailable):
    """The help desk is too busy at the moment."""


class TrackerResponseTooLarge(DeskRefused):
    """The help desk sent more than Gaby reads."""

    @property
    def code(self) -> str:
        return "too_large"


@dataclass(frozen=True)
class RestResponse:
    body: Any
    location: str
    at: datetime | None
    """The server's own time."""


class RestClient:
    def __init__(self, http: httpx2.AsyncClient, base_url: str, authorization: str) -> None:
        self._http = http
        self._url = f"{base_url}/REST/2.0/"
        self._host = httpx2.URL(base_url).host
        self._headers = {"Authorization": authorization, "Accept": "application/json"}

    async def get(self, path: str, query: Query | None = None) -> RestResponse:
        return await self.again("GET", path, query=query)

    async def again(self, method: str, path: str, *, query: Query | None = None, body: Any = None) -> RestResponse:
        """What may be asked twice: when nothing was heard, the desk was not available, and that is all."""
        try:
            return await self._ask(method, path, query, body)
        except DeskOutcomeUnknown as error:
            raise DeskUnavailable(error.message) from None

    async def change(self, method: str, path: str, body: Mapping[str, Any]) -> RestResponse:
        """`DeskOutcomeUnknown` when it was sent and nothing usable was heard."""
        try:
            return await self._ask(method, path, None, body)
        except TrackerResponseTooLarge as error:
            raise DeskOutcomeUnknown(error.message) from None

    async def _ask(self, method: str, path: str, query: Query | None, body: Any) -> RestResponse:
        headers = {**self._headers, **({"Content-Type": "application/json"} if body is not None else {})}
        content = orjson.dumps(body) if body is not None else None
        try:
            async with (
                asyncio.timeout(_WITHIN),
                self._http.stream(
                    method,
                    self._url + path,
                    params=query,
                    headers=headers,
                    content=content,
                    timeout=_TIMEOUT,
                    follow_redirects=False,
                ) as response,
            ):
                return await self._answer(response)
        except AddressNotAllowed as error:
            raise DeskRefused(str(error)) from None
        except _NOT_SENT:
            raise DeskUnavailable(f"{self._host} cannot be reached.") from None
        except (TimeoutError, httpx2.TimeoutException):
            raise DeskOutcomeUnknown(f"{self._host} did not answer in time.") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError):
            raise DeskOutcomeUnknown(f"{self._host} broke off, or does not answer as a web server does.") from None

    async def _answer(self, response: httpx2.Response) -> RestResponse:
        if response.status_code in _BUSY:
            raise Busy(f"{self._host} is too busy.", retry_after=_retry_after(response))
        if 300 <= response.status_code <= 399:
            raise DeskRefused(f"{self._host} leads elsewhere instead of answering. Check the address of this desk.")
        data = await self._body(response)
        try:
            body = orjson.loads(data)
        except ValueError:
            body = None
        if response.status_code >= 500:
            raise DeskOutcomeUnknown(f"{self._host} failed with status {response.status_code}.")
        if response.status_code >= 400:
            raise DeskRefused(f"{self._host} refuses with status {response.status_code}: {_message(body)}")
        if body is None:
            raise DeskOutcomeUnknown(f"{self._host} answers with something else than JSON. Is this a Request Tracker?")
        return RestResponse(body, response.headers.get("location", ""), _date(response))

    async def _body(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > _MOST_BYTES:
                raise TrackerResponseTooLarge
        return bytes(body)


def _message(body: Any) -> str:
    try:
        return clean_line(str(body["message"]), 200)
    except (TypeError, LookupError):
        return "no reason given"


def _retry_after(response: httpx2.Response) -> float | None:
    text = response.headers.get("retry-after", "").strip()
    return min(float(text), _LONGEST_WAIT) if text.isascii() and text.isdigit() and len(text) < 9 else None


def _date(response: httpx2.Response) -> datetime | None:
    try:
        return parsedate_to_datetime(response.headers.get("date", "")).astimezone(UTC)
    except ValueError:
        return None
