"""HTTP for connectors: a client with bounds, and what its failures mean."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2

from gaby_connectors.sdk.address_guard import refusal_in
from gaby_connectors.sdk.errors import ToolError, denied, transient
from gaby_connectors.sdk.manifest import ErrorKind

LARGEST_ANSWER = 8 * 1024 * 1024
_KINDS = {
    400: ErrorKind.INVALID,
    401: ErrorKind.AUTH_EXPIRED,
    403: ErrorKind.DENIED,
    404: ErrorKind.NOT_FOUND,
    409: ErrorKind.CONFLICT,
    410: ErrorKind.NOT_FOUND,
    422: ErrorKind.INVALID,
    429: ErrorKind.RATE_LIMITED,
}


def web_address(url: str) -> str:
    """For settings: an address that HTTP can be spoken with, without a slash at the end."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must look like https://host")
    if parts.username or parts.password:
        raise ValueError("must not hold a password; there is a setting of its own for it")
    return url.rstrip("/")


def web_client(url: str, *, seconds: float, headers: Mapping[str, str] | None = None) -> httpx2.AsyncClient:
    """A client for one address. Redirects are not followed."""
    return httpx2.AsyncClient(
        base_url=url, timeout=httpx2.Timeout(seconds, connect=min(seconds, 8)), headers=dict(headers or {})
    )


async def asked(client: httpx2.AsyncClient, request: httpx2.Request) -> httpx2.Response:
    """Sends a request and reads its answer, up to 8 MB."""
    response = await client.send(request, stream=True)
    try:
        content = bytearray()
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > LARGEST_ANSWER:
                raise ToolError(ErrorKind.PERMANENT, "The answer is larger than 8 MB. Ask for less.", outcome="unknown")
    finally:
        await response.aclose()
    headers = [(name, value) for name, value in response.headers.items() if name.lower() not in _ABOUT_THE_WIRE]
    return httpx2.Response(response.status_code, headers=headers, content=bytes(content), request=request)


def failure(response: httpx2.Response, message: str) -> ToolError:
    """What a status above 299 means."""
    status = response.status_code
    if status >= 500:
        return transient(
            f"The server failed with {status}. {message}".strip(), retry_after=_wait(response), outcome="unknown"
        )
    kind = _KINDS.get(status, ErrorKind.PERMANENT)
    return ToolError(kind, f"The server answered {status}. {message}".strip(), retry_after=_wait(response))


def explained(error: Exception, what: str) -> Exception:
    """Failures of the network, in words; everything else is given back."""
    if (refused := refusal_in(error)) is not None:
        return denied(str(refused))
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return transient(f"{what} cannot be reached.")
    if isinstance(error, httpx2.TransportError):
        # It was sent, and nobody knows what became of it.
        return transient(f"{what} did not answer in time.", outcome="unknown")
    return error


def json_of(response: httpx2.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        raise ToolError(ErrorKind.PERMANENT, "The server's answer is no JSON.", outcome="unknown") from None


def _wait(response: httpx2.Response) -> float | None:
    text = response.headers.get("retry-after", "")
    return min(float(text), 86_400.0) if text.isdigit() else None


_ABOUT_THE_WIRE = frozenset({"content-encoding", "transfer-encoding", "content-length"})
