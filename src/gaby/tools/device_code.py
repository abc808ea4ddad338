"""Signing in with a device code (RFC 8628), and the wire to sign-in servers, of which nothing is believed."""

import asyncio
import base64
import ipaddress
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, cast
from urllib.parse import quote_plus

import httpx2
import orjson
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from gaby.kernel.clock import Clock
from gaby.kernel.errors import GabyError, Invalid

Sleep = Callable[[float], Awaitable[None]]

_DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_BIGGEST = 65_536
_PAUSE, _SHORTEST_PAUSE, _LONGEST_PAUSE, _SLOWER = 5.0, 1.0, 60.0, 5.0
_LONGEST_WAIT = 3600.0
_LONGEST_LIFE = 10 * 365 * 86_400.0

# Plain ASCII without what terminals, headers and parsers of addresses read in different ways.
_ADDRESS = re.compile(r"https?://[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]{1,2000}")
_USER_CODE = re.compile(r"[\x21-\x7e]([\x20-\x7e]{0,62}[\x21-\x7e])?")
_TOKEN = re.compile(r"[\x21-\x7e]{1,16000}")
_ERROR = re.compile(r"[a-z_]{1,60}")
_DIGITS = re.compile(r"[0-9]{1,12}")


class SignInFailed(GabyError):
    """The sign-in server did not answer as OAuth demands. Check its address and the client id."""

    status = 502


class SignInUnavailable(SignInFailed):
    """The sign-in server cannot be reached at the moment. Try again shortly."""

    status = 503
    exit_code = 6


class SignInRefused(GabyError):
    """The sign-in server refused the sign-in. Check the client id, its secret and the scope."""

    status = 403
    exit_code = 3


class SignInDenied(SignInRefused):
    """Somebody refused the sign-in in the browser. Start again if that was not meant."""


class SignInCodeExpired(SignInRefused):
    """Nobody entered the code in time. Start again for a new one."""


_REFUSALS: dict[str, type[SignInRefused]] = {
    "access_denied": SignInDenied,
    "expired_token": SignInCodeExpired,
    "invalid_grant": SignInRefused,
    "invalid_client": SignInRefused,
    "unauthorized_client": SignInRefused,
    "unsupported_grant_type": SignInRefused,
    "invalid_scope": SignInRefused,
}

_Plain = Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]{1,2000}$")]


class OAuthClient(BaseModel):
    """Gaby as a sign-in server knows it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    id: _Plain
    device_endpoint: str
    token_endpoint: str
    secret: _Plain | None = Field(default=None, repr=False)
    scope: _Plain | None = None
    basic: bool = False
    """The server wants the secret in a header and not in the form."""


@dataclass(frozen=True)
class DeviceCode:
    """What a person has to enter, and where."""

    user_code: str
    address: str
    whole_address: str | None
    """With the code in it."""
    device_code: str = field(repr=False)
    pause: float
    lifetime: float


@dataclass(frozen=True)
class IssuedTokens:
    access_token: str = field(repr=False)
    refresh_token: str | None = field(repr=False)
    lifetime: float | None
    """In seconds, if the server says something sensible about it."""


@dataclass(frozen=True)
class _OAuthResponse:
    status: int
    host: str
    body: Mapping[str, Any] = field(repr=False)

    @property
    def error(self) -> str | None:
        """The server's word for what is wrong. Its description could repeat a secret, so nobody is shown that."""
        code = self.body.get("error")
        if code is None:
            return None
        return code if isinstance(code, str) and _ERROR.fullmatch(code) else "?"

    def text(self, name: str, pattern: re.Pattern[str]) -> str:
        value = self.body.get(name)
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise SignInFailed(f"The sign-in server at {self.host} gave no usable {name}.")
        return value


@dataclass(frozen=True)
class OAuthHttp:
    """Small answers, little patience, no redirects, no cookies."""

    http: httpx2.AsyncClient = field(repr=False)
    seconds: float = 15

    async def get(self, address: str) -> _OAuthResponse:
        return await self._exchange(self.http.build_request("GET", address, headers=_HEADERS))

    async def post(self, client: OAuthClient, address: str, form: Mapping[str, str]) -> _OAuthResponse:
        form, headers = {"client_id": client.id, **form}, dict(_HEADERS)
        if client.secret is not None and client.basic:
            both = f"{quote_plus(client.id)}:{quote_plus(client.secret)}"
            headers["Authorization"] = "Basic " + base64.b64encode(both.encode()).decode()
        elif client.secret is not None:
            form["client_secret"] = client.secret
        return await self._exchange(self.http.build_request("POST", address, data=form, headers=headers))

    async def _exchange(self, request: httpx2.Request) -> _OAuthResponse:
        host = request.url.host
        # Other workspaces may use the same server.
        request.headers.pop("Cookie", None)
        try:
            async with asyncio.timeout(self.seconds):
                response = await self.http.send(request, stream=True, follow_redirects=False)
                try:
                    body = await _read(response, host)
                finally:
                    await response.aclose()
        except (httpx2.HTTPError, httpx2.StreamError, OSError, TimeoutError) as error:
            message = f"The sign-in server at {host} cannot be reached ({type(error).__name__}). Try again shortly."
            raise SignInUnavailable(message) from None
        _check_status(response.status_code, host)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json" and not kind.endswith("+json"):
            raise SignInFailed(f"The sign-in server at {host} answered with something that is not JSON.")
        return _OAuthResponse(response.status_code, host, _parsed(body, host))


_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity"}


async def _read(response: httpx2.Response, host: str) -> bytes:
    body = b""
    # Raw, so that nothing small can unfold into something large.
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > _BIGGEST:
            raise SignInFailed(f"The sign-in server at {host} sent more than {_BIGGEST} bytes.")
    return body


def _check_status(status: int, host: str) -> None:
    if status >= 500 or status in (408, 429):
        raise SignInUnavailable(f"The sign-in server at {host} answered with HTTP {status}. Try again shortly.")
    if 300 <= status < 400:
        raise SignInFailed(f"The sign-in server at {host} sends Gaby elsewhere, where it does not go.")


def _parsed(body: bytes, host: str) -> Mapping[str, Any]:
    try:
        parsed: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        parsed = None
    if not isinstance(parsed, dict):
        raise SignInFailed(f"The sign-in server at {host} answered with something that is not JSON.")
    return cast("dict[str, Any]", parsed)


def check_address(text: str) -> httpx2.URL:
    """An address that secrets may be sent to: https, or this machine."""
    try:
        url = httpx2.URL(text) if _ADDRESS.fullmatch(text) else None
    except httpx2.InvalidURL:
        url = None
    if url is None or not url.host or url.userinfo or url.fragment:
        raise Invalid("The address of a sign-in server is written https://HOST/PATH, without a user and without a #.")
    if url.scheme != "https" and not _is_loopback(url.host):
        raise Invalid(f"Secrets are sent only over https, and {url.host} is not on this machine.")
    return url


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80)


async def discover(wire: OAuthHttp, issuer: str, client: Callable[..., OAuthClient]) -> OAuthClient:
    """Ask the issuer for its endpoints (RFC 8414, or OpenID Connect). `client` takes them as keywords."""
    url = check_address(issuer)
    path = url.path.rstrip("/")
    base = str(url.copy_with(raw_path=b"/")).rstrip("/")
    oauth = f"{base}/.well-known/oauth-authorization-server{path}"
    failure = SignInFailed()
    for address in (oauth, f"{base}{path}/.well-known/openid-configuration"):
        try:
            return client(**_endpoints(await wire.get(address), url))
        except SignInUnavailable:
            raise
        except SignInFailed as error:
            failure = error
    raise failure


def _endpoints(answer: _OAuthResponse, issuer: httpx2.URL) -> dict[str, Any]:
    named = answer.text("issuer", _ADDRESS)
    if answer.status != 200 or named.rstrip("/") != str(issuer).rstrip("/"):
        raise SignInFailed(f"{answer.host} does not describe this issuer.")
    endpoints = {name: answer.text(name, _ADDRESS) for name in ("device_authorization_endpoint", "token_endpoint")}
    for name, address in endpoints.items():
        if _origin(_checked(address, answer.host)) != _origin(issuer):
            raise SignInFailed(
                f"The {name} of {answer.host} is at another server. If that is right, give both endpoints yourself, "
                "with --device-endpoint and --token-endpoint."
            )
    methods = answer.body.get("token_endpoint_auth_methods_supported")
    offered = cast("list[object]", methods) if isinstance(methods, list) else ["client_secret_post"]
    return {
        "device_endpoint": endpoints["device_authorization_endpoint"],
        "token_endpoint": endpoints["token_endpoint"],
        "basic": "client_secret_basic" in offered and "client_secret_post" not in offered,
    }


def _checked(address: str, host: str) -> httpx2.URL:
    try:
        return check_address(address)
    except Invalid:
        raise SignInFailed(f"The sign-in server at {host} gave an address that cannot be used.") from None


async def ask(wire: OAuthHttp, client: OAuthClient) -> DeviceCode:
    """A new code for a person to enter."""
    form = {"scope": client.scope} if client.scope is not None else {}
    answer = await wire.post(client, client.device_endpoint, form)
    _check_granted(answer)
    address = answer.text("verification_uri" if "verification_uri" in answer.body else "verification_url", _ADDRESS)
    url = _checked(address, answer.host)
    lifetime = _seconds(answer.body.get("expires_in"))
    if lifetime is None:
        raise SignInFailed(f"The sign-in server at {answer.host} gave no usable expires_in.")
    pause = _seconds(answer.body.get("interval")) or _PAUSE
    return DeviceCode(
        user_code=answer.text("user_code", _USER_CODE),
        address=address,
        whole_address=_whole_address(answer.body.get("verification_uri_complete"), url),
        device_code=answer.text("device_code", _TOKEN),
        pause=min(max(pause, _SHORTEST_PAUSE), _LONGEST_PAUSE),
        lifetime=min(lifetime, _LONGEST_WAIT),
    )


def _whole_address(given: object, plain: httpx2.URL) -> str | None:
    """Left out when it leads elsewhere than the address without the code."""
    try:
        return given if isinstance(given, str) and _origin(check_address(given)) == _origin(plain) else None
    except Invalid:
        return None


async def wait(
    wire: OAuthHttp, client: OAuthClient, code: DeviceCode, clock: Clock, sleep: Sleep = asyncio.sleep
) -> IssuedTokens:
    """Until somebody entered the code, refused, or let it run out."""
    form = {"grant_type": _DEVICE_GRANT, "device_code": code.device_code}
    ends_at, pause = clock.monotonic() + code.lifetime, code.pause
    while True:
        await sleep(pause)
        if clock.monotonic() >= ends_at:
            raise SignInCodeExpired
        try:
            answer = await wire.post(client, client.token_endpoint, form)
        except SignInUnavailable:
            pause = min(pause * 2, _LONGEST_PAUSE)
            continue
        if answer.error == "slow_down":
            pause += _SLOWER
        elif answer.error != "authorization_pending":
            return _issued(answer)


async def refresh(wire: OAuthHttp, client: OAuthClient, refresh_token: str) -> IssuedTokens:
    """`SignInRefused` means that only a new sign-in helps; `SignInFailed`, that it may work later."""
    form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    return _issued(await wire.post(client, client.token_endpoint, form))


def _issued(answer: _OAuthResponse) -> IssuedTokens:
    _check_granted(answer)
    kind = answer.body.get("token_type", "bearer")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise SignInFailed(f"The sign-in server at {answer.host} gave a token of a kind that Gaby cannot use.")
    again = answer.text("refresh_token", _TOKEN) if answer.body.get("refresh_token") is not None else None
    return IssuedTokens(answer.text("access_token", _TOKEN), again, _seconds(answer.body.get("expires_in")))


def _check_granted(answer: _OAuthResponse) -> None:
    if (error := answer.error) is not None:
        if error not in _REFUSALS:
            raise SignInFailed(f"The sign-in server at {answer.host} said {error!r}.")
        kind = _REFUSALS[error]
        raise kind(f"{answer.host} refused the sign-in: {error}." if kind is SignInRefused else None)
    if answer.status != 200:
        raise SignInFailed(f"The sign-in server at {answer.host} answered with HTTP {answer.status}.")


def _seconds(value: object) -> float | None:
    """A span that makes sense. Some servers send digits in a string."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value <= _LONGEST_LIFE else None
