"""What the adapters of hosted desks share: one request, bounded in time and size, and what its answer means."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx2
import orjson

from gaby.kernel.text import printable
from gaby.tickets.adapters.adapter import DeskOutcomeUnknown, DeskRefused, DeskUnavailable
from gaby.tickets.adapters.payload import mapping
from gaby_connectors.sdk.address_guard import AddressNotAllowed

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

_TIMEOUT = httpx2.Timeout(20.0, connect=10.0)
_WHOLE_SECONDS = 60.0
"""For all of a request, since a server that sends a byte now and then would never meet the other limits."""
_MOST_BYTES = 32_000_000
_LONGEST_PAUSE = 86_400.0
_NOTHING_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_BUSY = 429
_TIMED_OUT = 408


@dataclass(frozen=True)
class DeskRequest:
    method: Method
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    json: object = None
    content: bytes | None = field(default=None, repr=False)
    """A body that is sent as it is, such as one that was signed."""
    form: Mapping[str, str] | None = field(default=None, repr=False)
    repeatable: bool = False
    """Asking twice is as good as once, so a lost answer is only a reason to try again. So it is with each GET."""

    @property
    def changes(self) -> bool:
        return self.method != "GET" and not self.repeatable


@dataclass(frozen=True)
class DeskResponse:
    status: int
    headers: Mapping[str, str]
    """Their names in small letters."""
    body: bytes = b""

    @property
    def fine(self) -> bool:
        return 200 <= self.status < 300


async def send(http: httpx2.AsyncClient, ask: DeskRequest, service: str) -> DeskResponse:
    """Whatever the server answers, whole. Never redirected, so that a token reaches nobody else."""
    try:
        request = http.build_request(
            ask.method,
            ask.url,
            params=dict(ask.query) or None,
            headers=dict(ask.headers) | ({"Content-Type": "application/json"} if ask.json is not None else {}),
            content=orjson.dumps(ask.json) if ask.json is not None else ask.content,
            data=dict(ask.form) if ask.form is not None else None,
            timeout=_TIMEOUT,
        )
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise DeskRefused(f"{service} cannot be asked this: its address or a value in it is malformed.") from error
    # Cookies that another desk on the same server was given are none of this one's business.
    request.headers.pop("Cookie", None)
    try:
        async with asyncio.timeout(_WHOLE_SECONDS):
            return await _received(http, request)
    except AddressNotAllowed as error:
        raise DeskRefused(str(error)) from error
    except _NOTHING_SENT as error:
        raise DeskUnavailable(f"{service} cannot be reached.") from error
    except _ResponseTooLarge as error:
        message = f"{service} answers with more than {_MOST_BYTES // 1_000_000} MB."
        raise (_lost(ask, message) if ask.changes else DeskRefused(message)) from error
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
        raise _lost(ask, f"{service} broke off before it had answered.") from error


def checked_json(answer: DeskResponse, ask: DeskRequest, service: str, *, now: datetime) -> Any:
    """The JSON of an answer that is fine, None when it has no body; else the error that the answer is."""
    check_status(answer, ask, service, now=now)
    if not answer.body.strip():
        return None
    try:
        return parsed(answer.body)
    except ValueError as error:
        raise _lost(ask, f"{service} does not answer with JSON. Is this its address?") from error


def check_status(answer: DeskResponse, ask: DeskRequest, service: str, *, now: datetime) -> None:
    """Only whether it is fine, for those whose words do not matter."""
    if answer.fine:
        return
    if answer.status == _BUSY:
        raise DeskUnavailable(f"{service} asks for a pause.", retry_after=pause(answer, now))
    if answer.status >= 500 or answer.status == _TIMED_OUT:
        if ask.changes:
            raise DeskOutcomeUnknown(f"{service} answers with status {answer.status}; perhaps it was done.")
        raise DeskUnavailable(f"{service} answers with status {answer.status}.", retry_after=pause(answer, now))
    if answer.status < 400:
        raise DeskRefused(f"{service} is not at this address any more (status {answer.status}).")
    raise DeskRefused(f"{service} refuses this with status {answer.status}{_reason(answer)}")


def pause(answer: DeskResponse, now: datetime) -> float | None:
    """How long the server asks to be left alone: seconds, or a date. Whatever else it says counts as nothing."""
    said = answer.headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit() and len(said) < 10:
        return min(float(said), _LONGEST_PAUSE)
    try:
        until = parsedate_to_datetime(said)
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return min(max((until - now).total_seconds(), 0.0), _LONGEST_PAUSE)
    except (ValueError, TypeError, OverflowError):
        return None


def parsed(body: bytes) -> Any:
    """`ValueError` when it is no JSON. Halves of surrogate pairs, which one author can write into a page of tickets,
    do not make the page unreadable."""
    try:
        return orjson.loads(body)
    except ValueError:
        try:
            return json.loads(body)
        except RecursionError:
            raise ValueError("nested too deeply") from None


def checked_address(address: str) -> str:
    """Without its last slash. `ValueError` unless it is https, or a server on this machine."""
    parts = urlsplit(address.strip())
    if not parts.hostname or parts.username or parts.password or parts.fragment:
        raise ValueError("must be an address such as https://desk.acme.example, without a name or password in it")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname)):
        raise ValueError("must begin with https://, so that nobody on the way can read the credentials")
    return address.strip().rstrip("/")


def same_origin(one: str, other: str) -> bool:
    first, second = urlsplit(one), urlsplit(other)
    return (first.scheme, first.netloc.lower()) == (second.scheme, second.netloc.lower())


class _ResponseTooLarge(Exception):
    pass


async def _received(http: httpx2.AsyncClient, request: httpx2.Request) -> DeskResponse:
    response = await http.send(request, stream=True, follow_redirects=False)
    try:
        body = bytearray()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > _MOST_BYTES:
                raise _ResponseTooLarge
        headers = {name.lower(): value for name, value in response.headers.items()}
        return DeskResponse(response.status_code, headers, bytes(body))
    finally:
        await response.aclose()


def _lost(ask: DeskRequest, message: str) -> DeskOutcomeUnknown | DeskUnavailable:
    return DeskOutcomeUnknown(f"{message} Perhaps it was done.") if ask.changes else DeskUnavailable(message)


def _reason(answer: DeskResponse) -> str:
    """What it says itself, when it says something short that can be shown."""
    try:
        message = mapping(parsed(answer.body[:10_000])).get("message")
    except ValueError:
        return "."
    return f": {printable(message[:200], one_line=True)}" if isinstance(message, str) and message else "."


def host_of(address: str) -> str:
    return urlsplit(address).hostname or ""


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
