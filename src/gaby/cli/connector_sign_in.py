"""`gaby connector sign-in`: new credentials for a connector, typed in or by a device code."""

import asyncio
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, NamedTuple

import typer
from pydantic import ValidationError

from gaby.app import Gaby
from gaby.cli.connector_setup import ConnectorName, ConnectorOptions, new_connector
from gaby.cli.console import SafeConsole
from gaby.cli.output import echo
from gaby.cli.runtime import run
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.actors import Actor
from gaby.kernel.errors import BadRequest
from gaby.tools.connectors import NewConnector
from gaby.tools.device_code import DeviceCode, OAuthClient, OAuthHttp, Sleep, ask, check_address, discover, wait
from gaby.tools.launches import WAY, BundledSpec, RemoteSpec
from gaby.tools.models import ConnectorRecord
from gaby.tools.tokens import OAuthGrant, check_place, open_secrets

Settings = Annotated[list[str] | None, typer.Option("--set", "-s", help="A setting as NAME=VALUE; repeat for more.")]
FromStdin = Annotated[bool, typer.Option("--stdin", help="Read more NAME=VALUE lines from standard input.")]

Waiting = Callable[[DeviceCode], AbstractContextManager[None]]
_NOWHERE = "https://nowhere.invalid"


class TypedCredentials(NamedTuple):
    settings: tuple[str, ...]
    stdin: bool


@dataclass(frozen=True)
class DeviceOptions:
    """What somebody typed about the sign-in server. Left out altogether, the last sign-in is repeated."""

    issuer: str | None = None
    client_id: str | None = None
    scope: str | None = None
    device_endpoint: str | None = None
    token_endpoint: str | None = None
    variable: str | None = None
    secret: str | None = field(default=None, repr=False)


def sign_in(
    name: ConnectorName,
    settings: Settings = None,
    stdin: FromStdin = False,
    device: Annotated[bool, typer.Option("--device", help="Sign in with a code, in a browser anywhere.")] = False,
    issuer: Annotated[str | None, typer.Option(help="The sign-in server, which tells its endpoints.")] = None,
    client_id: Annotated[str | None, typer.Option(help="How the sign-in server knows Gaby.")] = None,
    client_secret: Annotated[bool, typer.Option("--client-secret", help="Ask for the client's secret.")] = False,
    scope: Annotated[str | None, typer.Option(help="What the token is for, in the server's words.")] = None,
    device_endpoint: Annotated[str | None, typer.Option(help="With --token-endpoint, in place of --issuer.")] = None,
    token_endpoint: Annotated[str | None, typer.Option(help="With --device-endpoint, in place of --issuer.")] = None,
    variable: Annotated[str | None, typer.Option("--as", help="The variable in which a program gets it.")] = None,
    workspace: InWorkspace = None,
) -> None:
    """Give a connector new credentials, for instance after they expired.

    By a device code: `gaby connector sign-in NAME --device --issuer URL --client-id ID`. Later `--device` is enough.
    """
    options = DeviceOptions(issuer, client_id, scope, device_endpoint, token_endpoint, variable)
    if not device and options != DeviceOptions():
        raise BadRequest("These options belong to a sign-in by a device code. Add --device.")
    if device and client_secret:
        options = DeviceOptions(issuer, client_id, scope, device_endpoint, token_endpoint, variable, _secret())

    async def authorize_connector(gaby: Gaby) -> ConnectorRecord:
        actor = await operator_in(gaby, workspace)
        if device:
            await sign_in_by_device(gaby, actor, name, options)
        else:
            await _sign_in_by_settings(gaby, actor, name, TypedCredentials(tuple(settings or ()), stdin))
        await gaby.tools.inspect(actor, name)
        async with gaby.database.read(actor.workspace_id) as session:
            return await gaby.tools.connectors.get(session, name)

    row = run(authorize_connector)
    next_step = f" Look at its tools and accept them: `gaby connector accept {name}`." if row.seen is not None else ""
    echo(f"{name} is signed in.{next_step}", err=True)


@contextmanager
def print_device_code(code: DeviceCode) -> Generator[None]:
    """The code and the address were checked: nothing in them can move a cursor."""
    echo(f"Open {code.address} in any browser and enter this code: {code.user_code}", err=True)
    if code.whole_address is not None:
        echo(f"Or open {code.whole_address} and compare the code.", err=True)
    minutes = max(1, round(code.lifetime / 60))
    waiting = f"Waiting for you; the code is good for {minutes} minute{'s' if minutes > 1 else ''}."
    if not sys.stderr.isatty():
        echo(waiting, err=True)
        yield
        return
    with SafeConsole(stderr=True).status(waiting):
        yield


async def sign_in_by_device(
    gaby: Gaby,
    actor: Actor,
    name: str,
    options: DeviceOptions,
    *,
    waiting: Waiting = print_device_code,
    sleep: Sleep = asyncio.sleep,
) -> None:
    """Ask for a code, wait until somebody entered it, and seal the token with the connector's other secrets."""
    wire = OAuthHttp(gaby.http)
    async with gaby.database.read(actor.workspace_id) as session:
        row = await gaby.tools.connectors.get(session, name)
        before = (await open_secrets(session, gaby.vault, row)).grant
    variable = options.variable or (before.variable if before is not None else None)
    check_place(row, variable)
    client = await _client(wire, options, before)
    code = await ask(wire, client)
    with waiting(code):
        issued = await wait(wire, client, code, gaby.clock, sleep)
    grant = OAuthGrant.from_issued(client, issued, gaby.clock.now(), variable)
    async with gaby.database.write(actor.workspace_id) as session:
        await gaby.tools.connectors.take_token(session, actor, name, grant)


async def _sign_in_by_settings(gaby: Gaby, actor: Actor, name: str, typed: TypedCredentials) -> None:
    async with gaby.database.read(actor.workspace_id) as session:
        fresh = _fresh(await gaby.tools.connectors.get(session, name), typed)
    async with gaby.database.write(actor.workspace_id) as session:
        await gaby.tools.connectors.sign_in(session, actor, name, fresh)


def _fresh(row: ConnectorRecord, typed: TypedCredentials) -> NewConnector:
    way = WAY.validate_python(row.launch)
    if isinstance(way, BundledSpec):
        return new_connector(ConnectorOptions(row.name, (row.kind,), typed.settings, None, stdin=typed.stdin))
    url = way.url if isinstance(way, RemoteSpec) else _NOWHERE
    read = new_connector(ConnectorOptions(row.name, (), typed.settings, url, stdin=typed.stdin))
    # Of a program or an address of one's own all settings are secret, and the rest stays as it was.
    return NewConnector(row.name, row.kind, way, secrets=read.secrets)


async def _client(wire: OAuthHttp, options: DeviceOptions, before: OAuthGrant | None) -> OAuthClient:
    endpoints = (options.device_endpoint, options.token_endpoint)
    if options.client_id is None and options.issuer is None and endpoints == (None, None):
        if before is None:
            raise BadRequest("Say where to sign in: --issuer URL --client-id ID.")
        changed = {"scope": options.scope, "secret": options.secret}
        return before.client.model_copy(update={name: value for name, value in changed.items() if value is not None})
    make = partial(_checked, id=options.client_id, scope=options.scope, secret=options.secret)
    if options.client_id is None:
        raise BadRequest("Say how the sign-in server knows Gaby: --client-id ID.")
    if options.issuer is not None and endpoints == (None, None):
        return await discover(wire, options.issuer, make)
    if options.issuer is not None or options.device_endpoint is None or options.token_endpoint is None:
        raise BadRequest("Give either --issuer, or both --device-endpoint and --token-endpoint.")
    for address in (options.device_endpoint, options.token_endpoint):
        check_address(address)
    return make(device_endpoint=options.device_endpoint, token_endpoint=options.token_endpoint)


def _checked(**values: object) -> OAuthClient:
    try:
        return OAuthClient.model_validate(values)
    except ValidationError:
        raise BadRequest("The client id, its secret and the scope are plain text in one line.") from None


def _secret() -> str:
    if sys.stdin.isatty():
        return typer.prompt("The secret of the client", hide_input=True, err=True)
    return sys.stdin.readline().rstrip("\n")
