"""Signing in by device code: a person enters a code elsewhere, and the token is sealed, used and renewed."""

import gzip
from collections.abc import AsyncGenerator, Generator
from functools import partial
from typing import Any

import httpx2
import pytest
from starlette.responses import JSONResponse, Response

from gaby.kernel.clock import ManualClock
from gaby.kernel.errors import GabyError, Invalid
from gaby.tools.device_code import (
    IssuedTokens,
    OAuthClient,
    OAuthHttp,
    SignInCodeExpired,
    SignInDenied,
    SignInFailed,
    SignInRefused,
    SignInUnavailable,
    ask,
    check_address,
    discover,
    refresh,
    wait,
)
from gaby.tools.tokens import OAuthGrant
from tests.mcp.over_http import free_port
from tests.support.oauth import CLIENT_SECRET, OAuth, Person, dripping, elsewhere, huge, oauth_server

pytestmark = pytest.mark.promise("M9")


@pytest.fixture
def oauth() -> Generator[OAuth]:
    with oauth_server() as server:
        yield server


@pytest.fixture
async def wire() -> AsyncGenerator[OAuthHttp]:
    async with httpx2.AsyncClient() as http:
        yield OAuthHttp(http)


@pytest.fixture
def person(clock: ManualClock, oauth: OAuth) -> Person:
    return Person(clock, oauth)


def client_of(oauth: OAuth, **more: Any) -> OAuthClient:
    return OAuthClient(id="gaby", device_endpoint=f"{oauth.url}/device", token_endpoint=f"{oauth.url}/token", **more)


async def signed_in(wire: OAuthHttp, oauth: OAuth, person: Person) -> IssuedTokens:
    client = client_of(oauth, secret=CLIENT_SECRET)
    return await wait(wire, client, await ask(wire, client), person.clock, person.sleep)


async def test_polling_keeps_to_the_pause_and_slows_down_when_told(
    wire: OAuthHttp, oauth: OAuth, person: Person
) -> None:
    oauth.errors = ["authorization_pending", "slow_down", "authorization_pending"]
    issued = await signed_in(wire, oauth, person)
    assert person.pauses == [5, 5, 10, 10]
    assert (issued.access_token, issued.lifetime) == (oauth.issued[0], 3600)


async def test_a_server_that_fails_for_a_moment_is_asked_less_often(
    wire: OAuthHttp, oauth: OAuth, person: Person
) -> None:
    client = client_of(oauth)
    code = await ask(wire, client)
    oauth.instead["/token"] = Response(status_code=503)

    async def sleep(seconds: float) -> None:
        await person.sleep(seconds)
        if len(person.pauses) == 3:
            oauth.instead.clear()

    await wait(wire, client, code, person.clock, sleep)
    assert person.pauses == [5, 10, 20]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("access_denied", SignInDenied),
        ("expired_token", SignInCodeExpired),
        ("invalid_client", SignInRefused),
        ("server_on_fire", SignInFailed),
        ("\x1b[2J", SignInFailed),
    ],
)
async def test_a_refusal_ends_the_wait_and_repeats_no_secret(
    wire: OAuthHttp, oauth: OAuth, person: Person, error: str, expected: type[GabyError]
) -> None:
    oauth.errors = [error]
    with pytest.raises(expected) as told:
        await signed_in(wire, oauth, person)
    assert len(person.pauses) == 1
    assert_clean(told.value, oauth)


async def test_a_code_that_nobody_enters_runs_out(wire: OAuthHttp, oauth: OAuth, person: Person) -> None:
    person.agrees_after, oauth.device_answer = 1000, {"expires_in": 21}
    with pytest.raises(SignInCodeExpired):
        await signed_in(wire, oauth, person)
    assert oauth.polls == 4


@pytest.mark.parametrize("interval", [b"-5", b"0", b"1e300", b'"soon"', b"null", b"true", b"[1]", b"0.001", b'"7"'])
async def test_no_interval_makes_gaby_hurry_or_sleep_for_ever(wire: OAuthHttp, oauth: OAuth, interval: bytes) -> None:
    oauth.instead["/device"] = raw(DEVICE % interval)
    assert 1 <= (await ask(wire, client_of(oauth))).pause <= 60


@pytest.mark.parametrize("lifetime", [-1, 0, "soon", None, True, 1e300, [60], {}])
async def test_a_token_with_an_absurd_lifetime_is_used_until_it_is_refused(
    wire: OAuthHttp, oauth: OAuth, person: Person, lifetime: object
) -> None:
    oauth.lifetime = lifetime
    issued = await signed_in(wire, oauth, person)
    assert issued.lifetime is None
    assert not OAuthGrant.from_issued(client_of(oauth), issued, person.clock.now()).is_due(person.clock.now())


@pytest.mark.parametrize(
    "change",
    [
        {"user_code": "A\x1b]0;owned\x07"},
        {"user_code": "line\nline"},
        {"user_code": "\u202eTHJM"},
        {"user_code": ""},
        {"user_code": "x" * 65},
        {"user_code": 7},
        {"user_code": ...},
        {"verification_uri": "https://a.example/\x1b[2J"},
        {"verification_uri": "https://good.example@evil.example/"},
        {"verification_uri": "http://evil.example/"},
        {"verification_uri": "javascript:alert(1)"},
        {"verification_uri": "https://\u0430pple.example/"},
        {"verification_uri": ...},
        {"device_code": "a b"},
        {"device_code": ...},
        {"expires_in": 0},
        {"expires_in": -900},
        {"expires_in": 1e300},
        {"expires_in": ...},
        {"error": {"deep": "er"}},
    ],
)
async def test_a_code_that_could_fool_a_terminal_or_a_person_is_never_shown(
    wire: OAuthHttp, oauth: OAuth, change: dict[str, Any]
) -> None:
    oauth.device_answer = change
    with pytest.raises(SignInFailed) as told:
        await ask(wire, client_of(oauth))
    assert_clean(told.value, oauth)


async def test_an_address_with_the_code_is_shown_only_if_it_leads_to_the_same_place(
    wire: OAuthHttp, oauth: OAuth
) -> None:
    for whole, expected in (
        (f"{oauth.url}/enter?code=WDJB-MJHT", f"{oauth.url}/enter?code=WDJB-MJHT"),
        ("https://evil.example/enter?code=WDJB-MJHT", None),
        ("\x1b[2J", None),
        (7, None),
    ):
        oauth.device_answer = {"verification_uri_complete": whole}
        assert (await ask(wire, client_of(oauth))).whole_address == expected


def hostile(oauth: OAuth) -> list[tuple[Response, type[GabyError]]]:
    token = '"access_token": "stolen-access", "token_type": "bearer"'
    return [
        (huge(), SignInFailed),
        (dripping(), SignInUnavailable),
        (elsewhere("http://127.0.0.1:9/token"), SignInFailed),
        (Response("<html>sign in here</html>", media_type="text/html"), SignInFailed),
        (Response(f"{{{token}}}", media_type="text/plain"), SignInFailed),
        (Response(GZIPPED, media_type="application/json", headers={"content-encoding": "gzip"}), SignInFailed),
        (raw(b"["), SignInFailed),
        (raw(b"[]"), SignInFailed),
        (raw(b"\xff\xfe"), SignInFailed),
        (raw(b"[" * 50_000), SignInFailed),
        (raw(b"{}"), SignInFailed),
        (raw(b'{"access_token": 7}'), SignInFailed),
        (raw(b'{"access_token": "a\\r\\nX-Evil: 1"}'), SignInFailed),
        (raw(b'{"access_token": "a", "token_type": "mac"}'), SignInFailed),
        (raw(b'{"access_token": "a", "refresh_token": "\\u0000"}'), SignInFailed),
        (JSONResponse({"error": "invalid_grant", "error_description": oauth.secrets[0]}, 400), SignInRefused),
        (JSONResponse({"error": oauth.secrets[0]}, 400), SignInFailed),
        (Response("busy", 429), SignInUnavailable),
        (Response("<html>", 502, media_type="text/html"), SignInUnavailable),
    ]


async def test_no_answer_to_a_renewal_is_believed_waited_for_or_repeated(oauth: OAuth) -> None:
    async with httpx2.AsyncClient() as http:
        for answer, expected in hostile(oauth):
            oauth.instead["/token"] = answer
            with pytest.raises(expected) as told:
                await refresh(OAuthHttp(http, seconds=0.5), client_of(oauth, secret=CLIENT_SECRET), "refresh-me-1234")
            assert type(told.value) is expected
            assert "refresh-me-1234" not in str(told.value)
            assert_clean(told.value, oauth)


async def test_nobody_there_is_a_passing_fault(wire: OAuthHttp) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    client = OAuthClient(id="gaby", device_endpoint=nowhere, token_endpoint=nowhere)
    with pytest.raises(SignInUnavailable):
        await ask(wire, client)


@pytest.mark.parametrize("path", ["", "/", "/realm"])
async def test_the_endpoints_are_discovered(wire: OAuthHttp, oauth: OAuth, path: str) -> None:
    oauth.metadata = {"issuer": f"{oauth.url}{path}", "token_endpoint_auth_methods_supported": ["client_secret_basic"]}
    client = await discover(wire, f"{oauth.url}{path}", partial(OAuthClient, id="gaby", secret=CLIENT_SECRET))
    assert (client.device_endpoint, client.token_endpoint) == (f"{oauth.url}/device", f"{oauth.url}/token")
    await ask(wire, client)
    assert oauth.headers[-1]["authorization"].startswith("Basic ")
    assert "client_secret" not in oauth.forms[-1]


@pytest.mark.parametrize(
    "metadata",
    [
        {"token_endpoint": "https://evil.example/token"},
        {"device_authorization_endpoint": "http://127.0.0.1:9/device"},
        {"token_endpoint": "file:///etc/passwd"},
        {"token_endpoint": None},
        {"device_authorization_endpoint": None},
        {"issuer": "https://evil.example"},
        {"issuer": ["x"]},
    ],
)
async def test_a_description_that_leads_elsewhere_is_refused(
    wire: OAuthHttp, oauth: OAuth, metadata: dict[str, Any]
) -> None:
    oauth.metadata = metadata
    with pytest.raises(SignInFailed):
        await discover(wire, oauth.url, partial(OAuthClient, id="gaby"))


async def test_a_description_is_not_fetched_from_where_a_redirect_points(wire: OAuthHttp, oauth: OAuth) -> None:
    for path in ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"):
        oauth.instead[path] = elsewhere(f"{oauth.url}/realm/.well-known/openid-configuration")
    with pytest.raises(SignInFailed, match="elsewhere"):
        await discover(wire, oauth.url, partial(OAuthClient, id="gaby"))
    assert len(oauth.headers) == 2


@pytest.mark.parametrize(
    "address",
    [
        "http://sso.example",
        "ftp://sso.example",
        "https://",
        "https://a@sso.example",
        "https://sso.example/#x",
        "sso",
        "https://sso.example/\n",
        "https://sso.example\\@evil.example",
        "http://127.0.0.1.evil.example",
        "https://[::1",
    ],
)
def test_secrets_go_only_to_clear_addresses_over_https_or_on_this_machine(address: str) -> None:
    with pytest.raises(Invalid):
        check_address(address)
    assert check_address("https://sso.example:8443/realm?x=1").port == 8443
    assert check_address("http://[::1]:8080/").host == "::1"


GZIPPED = gzip.compress(b'{"access_token": "a", "pad": "' + b"x" * 50_000_000 + b'"}', 1)
DEVICE = (
    b'{"device_code": "d", "user_code": "A-B", "verification_uri": "https://a.example/", "expires_in": 9, '
    b'"interval": %s}'
)


def raw(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def assert_clean(error: BaseException, oauth: OAuth) -> None:
    """Its words, and those of what led to it, can be printed and hold nothing secret."""
    seen: BaseException | None = error
    while seen is not None:
        text = f"{seen!r} {seen}"
        assert text.isprintable()
        assert not [secret for secret in oauth.secrets if secret in text]
        seen = seen.__cause__
