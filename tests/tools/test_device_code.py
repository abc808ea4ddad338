"""Signing in by device code: a person enters a code elsewhere, and the token is sealed, used and renewed."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.responses import JSONResponse, Response

from gaby.app import Gaby
from gaby.cli.connector_sign_in import DeviceOptions, sign_in_by_device
from gaby.kernel.actors import Actor
from gaby.kernel.clock import HeldClock
from gaby.kernel.errors import Forbidden, GabyError, Invalid
from gaby.mcp import ServerKey
from gaby.tools import Call, Done, Failed, ToolOutcome
from gaby.tools.connectors import NewConnector, PolicyChange
from gaby.tools.device_code import (
    Client,
    Code,
    Issued,
    SignInCodeExpired,
    SignInDenied,
    SignInFailed,
    SignInRefused,
    SignInUnavailable,
    Wire,
    ask,
    check_address,
    discover,
    refresh,
    wait,
)
from gaby.tools.launches import Command, Remote
from gaby.tools.tokens import Grant, Tokens, open_secrets
from gaby_connectors.sdk.manifest import Autonomy, ConnectorManifest, ErrorKind
from tests.mcp.over_http import Gate, free_port, serving
from tests.mcp.scenes import ROOT, until
from tests.support.command import Shell
from tests.support.oauth import CLIENT_SECRET, OAuth, dripping, elsewhere, huge, oauth_server
from tests.tools.scenes import EVERYTHING, Scene

pytestmark = pytest.mark.promise("M9")
only_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

MANIFEST = ConnectorManifest.model_validate(
    {
        "manifest_version": "1.0.0",
        "tools": {
            **{name: {"scope": "read"} for name in ("add", "whoami", "wait", "big", "fail")},
            "echo": {"scope": "write"},
        },
    }
)


@pytest.fixture
def oauth() -> Generator[OAuth]:
    with oauth_server() as server:
        yield server


@pytest.fixture
async def wire() -> AsyncGenerator[Wire]:
    async with httpx2.AsyncClient() as http:
        yield Wire(http)


@dataclass
class Person:
    """Waits without waiting, and looks at the code on the screen."""

    clock: HeldClock
    oauth: OAuth
    agrees_after: int = 1
    pauses: list[float] = field(default_factory=list[float])
    codes: list[Code] = field(default_factory=list[Code])

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.clock.advance(timedelta(seconds=seconds))
        self.oauth.approved = len(self.pauses) >= self.agrees_after

    def look(self, code: Code) -> AbstractContextManager[None]:
        self.codes.append(code)
        return nullcontext()


@pytest.fixture
def person(clock: HeldClock, oauth: OAuth) -> Person:
    return Person(clock, oauth)


def client_of(oauth: OAuth, **more: Any) -> Client:
    return Client(id="gaby", device_endpoint=f"{oauth.url}/device", token_endpoint=f"{oauth.url}/token", **more)


async def signed_in(wire: Wire, oauth: OAuth, person: Person) -> Issued:
    client = client_of(oauth, secret=CLIENT_SECRET)
    return await wait(wire, client, await ask(wire, client), person.clock, person.sleep)


# The wire.


async def test_polling_keeps_to_the_pause_and_slows_down_when_told(wire: Wire, oauth: OAuth, person: Person) -> None:
    oauth.errors = ["authorization_pending", "slow_down", "authorization_pending"]
    issued = await signed_in(wire, oauth, person)
    assert person.pauses == [5, 5, 10, 10]
    assert (issued.access_token, issued.lifetime) == (oauth.issued[0], 3600)


async def test_a_server_that_fails_for_a_moment_is_asked_less_often(wire: Wire, oauth: OAuth, person: Person) -> None:
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
    wire: Wire, oauth: OAuth, person: Person, error: str, expected: type[GabyError]
) -> None:
    oauth.errors = [error]
    with pytest.raises(expected) as told:
        await signed_in(wire, oauth, person)
    assert len(person.pauses) == 1
    assert_clean(told.value, oauth)


async def test_a_code_that_nobody_enters_runs_out(wire: Wire, oauth: OAuth, person: Person) -> None:
    person.agrees_after, oauth.device_answer = 1000, {"expires_in": 21}
    with pytest.raises(SignInCodeExpired):
        await signed_in(wire, oauth, person)
    assert oauth.polls == 4


@pytest.mark.parametrize("interval", [-5, 0, 10**400, 1e300, "soon", None, True, [1], 0.001])
async def test_no_interval_makes_gaby_hurry_or_sleep_for_ever(wire: Wire, oauth: OAuth, interval: object) -> None:
    text = f'{{"interval": {"1e400" if interval == 10**400 else __import__("json").dumps(interval)}}}'
    assert text
    oauth.device_answer = {"interval": interval}
    assert 1 <= (await ask(wire, client_of(oauth))).pause <= 60


def assert_clean(error: BaseException, oauth: OAuth) -> None:
    """Its words, and those of what led to it, can be printed and hold nothing secret."""
    seen: BaseException | None = error
    while seen is not None:
        text = f"{seen!r} {seen}"
        assert text.isprintable()
        assert not [secret for secret in oauth.secrets if secret in text]
        seen = seen.__cause__
