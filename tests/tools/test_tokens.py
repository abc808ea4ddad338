"""Tokens of connectors that were signed in by device code: sealed, used, renewed, and told of when they are gone."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from starlette.responses import Response

from gaby.app import Gaby
from gaby.cli.connector_sign_in import DeviceOptions, sign_in_by_device
from gaby.kernel.actors import Actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.errors import Forbidden, GabyError, Invalid
from gaby.mcp import ServerKey
from gaby.tools import Done, Failed, RetryLater, ToolCall, ToolOutcome
from gaby.tools.connectors import NewConnector, PolicyChange
from gaby.tools.device_code import OAuthHttp
from gaby.tools.launches import CommandSpec, RemoteSpec
from gaby.tools.models import ConnectorRecord
from gaby.tools.tokens import OAuthGrant, TokenRefresher, check_place, open_secrets
from gaby_connectors.sdk.manifest import Autonomy, ConnectorManifest, ErrorKind
from tests.mcp.over_http import Gate, free_port, serving
from tests.mcp.scenes import ROOT, until
from tests.support.command import Shell
from tests.support.oauth import CLIENT_SECRET, OAuth, Person, oauth_server
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
def person(clock: ManualClock, oauth: OAuth) -> Person:
    return Person(clock, oauth)


@dataclass
class Crm:
    """A server over HTTP that accepts only the newest token."""

    scene: Scene
    oauth: OAuth
    person: Person
    gate: Gate
    url: str
    numbers: "count[int]" = field(default_factory=count)

    async def sign_in(self, name: str = "crm", **more: Any) -> None:
        gaby, options = self.scene.gaby, DeviceOptions(**(more or {"issuer": self.oauth.url, "client_id": "gaby"}))
        waiting, sleep = self.person.look, self.person.sleep
        await sign_in_by_device(gaby, self.scene.actor, name, options, waiting=waiting, sleep=sleep)

    async def add(self, way: RemoteSpec | CommandSpec, name: str = "crm") -> None:
        new = NewConnector(name, "test", way, secrets={"X-Team": "blue"}, manifest=MANIFEST)
        async with self.scene.gaby.database.write(self.scene.workspace_id) as session:
            await self.scene.gaby.tools.connectors.add(session, self.scene.actor, new)

    async def accept(self, name: str = "crm") -> None:
        await self.scene.accept(name)
        await self.scene.limit(name, PolicyChange(Autonomy.ACT, EVERYTHING))

    async def call(self, tool: str = "crm.add", **arguments: Any) -> ToolOutcome:
        gaby = self.scene.gaby
        # Never the same twice, since answers are remembered for a minute.
        call = ToolCall(tool, arguments or {"a": next(self.numbers), "b": 1}, gaby.ids.new())
        return await gaby.tools.invoker.invoke(call, self.scene.run(words="hello"))

    async def events(self, name: str) -> list[dict[str, Any]]:
        return [payload for event, payload in await self.scene.rows() if event == name]

    async def answered(self, count: int) -> None:
        for _ in range(2000):
            if len(await self.events("tool.call.outcome")) >= count:
                return
            await asyncio.sleep(0.01)
        pytest.fail("the calls were not answered in time")

    async def grant(self) -> OAuthGrant:
        gaby = self.scene.gaby
        async with gaby.database.read(self.scene.workspace_id) as session:
            grant = (await open_secrets(session, gaby.vault, await gaby.tools.connectors.get(session, "crm"))).grant
        assert grant is not None
        return grant


def tokens_of(gaby: Gaby) -> TokenRefresher:
    return TokenRefresher(gaby.database, gaby.vault, gaby.clock, OAuthHttp(gaby.http))


@pytest.fixture
async def bare(scene: Scene, oauth: OAuth, person: Person) -> AsyncGenerator[Crm]:
    """The server is there, and nothing is connected."""
    gate = Gate(token="nobody has this one")

    def now_only(token: str) -> None:
        gate.token = token

    oauth.told = now_only
    scene.gaby.tools.launcher.renewed_by(tokens_of(scene.gaby))
    async with serving(gate, free_port(), json_response=True) as url:
        yield Crm(scene, oauth, person, gate, url)
        await scene.gaby.tools.launcher.finish()
        await scene.gaby.tools.launcher.gone(ServerKey(scene.workspace_id, "crm"))


@pytest.fixture
async def crm(bare: Crm) -> Crm:
    """Signed in and accepted."""
    await bare.add(RemoteSpec(url=bare.url))
    await bare.sign_in()
    await bare.accept()
    return bare


async def test_a_token_is_used_renewed_before_it_runs_out_and_used_again(crm: Crm) -> None:
    assert crm.person.codes[0].user_code == "WDJB-MJHT"
    assert isinstance(await crm.call(), Done)
    crm.person.clock.advance(timedelta(minutes=59, seconds=1))
    assert isinstance(await crm.call(), Done)
    assert (crm.oauth.refreshes, crm.gate.token) == (1, crm.oauth.issued[1])
    assert len(await crm.events("connector.renewed")) == 1
    assert await crm.events("connector.auth_expired") == []


@only_sqlite
async def test_a_token_that_is_refused_early_is_renewed_and_the_read_repeated(crm: Crm) -> None:
    crm.gate.token = "somebody else's"
    assert isinstance(await crm.call(), Done)
    crm.gate.token = "somebody else's"
    assert isinstance(await crm.call(), Done)
    assert crm.oauth.refreshes == 2
    assert await crm.events("connector.auth_expired") == []


@only_sqlite
async def test_a_change_is_not_repeated_though_the_token_is_renewed(crm: Crm) -> None:
    assert isinstance(await crm.call("crm.echo", text="hello"), Done)
    crm.gate.token = "somebody else's"
    refused = await crm.call("crm.echo", text="hello")
    assert isinstance(refused, Failed)
    assert (refused.kind, crm.gate.calls) == (ErrorKind.TRANSIENT, 1)
    assert isinstance(await crm.call("crm.echo", text="hello"), Done)
    assert crm.oauth.refreshes == 1


@only_sqlite
@pytest.mark.parametrize("early", [False, True])
async def test_a_revoked_sign_in_is_told_once_with_how_to_sign_in_again(crm: Crm, early: bool) -> None:
    await crm.call()
    crm.oauth.good.clear()
    crm.gate.token = "somebody else's"
    if not early:
        crm.person.clock.advance(timedelta(hours=2))
    for _ in range(3):
        outcome = await crm.call()
        assert isinstance(outcome, Failed)
        assert outcome.kind is ErrorKind.AUTH_EXPIRED
    told = {"connector": "crm", "sign_in": "gaby connector sign-in crm --device", "path": "/connectors/crm/sign-in"}
    assert await crm.events("connector.auth_expired") == [told]
    assert crm.oauth.refreshes == 1
    await crm.sign_in(scope="tickets")
    assert isinstance(await crm.call(), Done)
    assert (await crm.grant()).client.scope == "tickets"


@only_sqlite
@pytest.mark.parametrize("early", [False, True])
async def test_many_calls_at_once_renew_once(crm: Crm, early: bool) -> None:
    await crm.call()
    if early:
        crm.gate.token = "somebody else's"
    else:
        crm.person.clock.advance(timedelta(hours=2))
    crm.oauth.go_on.clear()
    calls = asyncio.gather(*(crm.call() for _ in range(12)))
    await until(lambda: crm.oauth.refreshes > 0)
    # All of them were refused before the first has a new token.
    await crm.answered(13 if early else 1)
    crm.oauth.go_on.set()
    outcomes = await calls
    assert [type(each) for each in outcomes] == [Done] * 12
    assert crm.oauth.refreshes == 1


@only_sqlite
async def test_trouble_on_the_way_to_the_sign_in_server_is_no_expiry(crm: Crm) -> None:
    crm.oauth.instead["/token"] = Response("<html>", 502, media_type="text/html")
    crm.person.clock.advance(timedelta(minutes=59, seconds=10))
    assert isinstance(await crm.call(), Done)
    crm.person.clock.advance(timedelta(minutes=5))
    outcome = await crm.call()
    assert isinstance(outcome, RetryLater)
    assert outcome.rule == "connector.unavailable"
    crm.oauth.instead.clear()
    again = await crm.call()
    assert isinstance(again, RetryLater)
    assert crm.oauth.refreshes == 0
    crm.person.clock.advance(timedelta(seconds=10))
    assert isinstance(await crm.call(), Done)
    assert await crm.events("connector.auth_expired") == []


@only_sqlite
async def test_a_call_that_is_given_up_does_not_lose_the_new_token(crm: Crm) -> None:
    crm.oauth.go_on.clear()
    crm.person.clock.advance(timedelta(hours=2))
    call = asyncio.create_task(crm.call())
    await until(lambda: crm.oauth.refreshes == 1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    crm.oauth.go_on.set()
    assert isinstance(await crm.call(), Done)
    assert (crm.oauth.refreshes, (await crm.grant()).access_token) == (1, crm.oauth.issued[1])


@only_sqlite
async def test_a_token_that_another_process_renewed_is_taken_over(crm: Crm) -> None:
    await crm.call()
    old = await crm.grant()
    key = ServerKey(crm.scene.workspace_id, "crm")
    assert await tokens_of(crm.scene.gaby).renew(key, old)
    assert isinstance(await crm.call(), Done)
    assert crm.oauth.refreshes == 1


@only_sqlite
async def test_a_server_that_keeps_its_refresh_token_is_asked_with_it_again(crm: Crm) -> None:
    crm.oauth.rotates = False
    for _ in range(3):
        crm.person.clock.advance(timedelta(hours=2))
        assert isinstance(await crm.call(), Done)
    assert crm.oauth.refreshes == 3


@only_sqlite
async def test_nothing_secret_is_seen_anywhere(crm: Crm, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    client = {"device_endpoint": f"{crm.oauth.url}/device", "token_endpoint": f"{crm.oauth.url}/token"}
    await crm.sign_in(client_id="gaby", secret=CLIENT_SECRET, **client)
    await crm.call()
    crm.person.clock.advance(timedelta(hours=2))
    await crm.call()
    crm.oauth.good.clear()
    crm.person.clock.advance(timedelta(hours=2))
    failed = await crm.call()
    grant = await crm.grant()
    assert {form.get("client_secret") for form in crm.oauth.forms} == {None, CLIENT_SECRET}
    files = contents(tmp_path)
    everything = [*files, str(await crm.scene.rows()).encode(), repr((grant, failed)).encode()]
    everything += [part.encode() for part in capfd.readouterr()]
    assert len(crm.oauth.secrets) > 6
    assert not [secret for secret in crm.oauth.secrets for text in everything if secret.encode() in text]


@only_sqlite
async def test_a_program_gets_the_token_in_the_variable_that_was_named(bare: Crm) -> None:
    way = CommandSpec(command=sys.executable, args=("-m", "tests.mcp.servers.good"), env={"PYTHONPATH": str(ROOT)})
    await bare.add(way)
    with pytest.raises(Invalid, match="--as"):
        await bare.sign_in()
    await bare.sign_in(issuer=bare.oauth.url, client_id="gaby", variable="CRM_TOKEN")
    await bare.accept()
    for token in (0, 1):
        outcome = await bare.call("crm.whoami")
        assert isinstance(outcome, Done)
        assert outcome.structured["CRM_TOKEN"] == bare.oauth.issued[token]
        assert "refresh-" not in str(outcome.structured)
        bare.person.clock.advance(timedelta(hours=2))


@only_sqlite
async def test_who_does_not_manage_the_installation_cannot_send_it_to_addresses(crm: Crm) -> None:
    admin = Actor("user", "ada@acme.example", crm.scene.workspace_id)
    with pytest.raises(Forbidden):
        async with crm.scene.gaby.database.write(crm.scene.workspace_id) as session:
            await crm.scene.gaby.tools.connectors.take_token(session, admin, "crm", await crm.grant())


@only_sqlite
@pytest.mark.slow
async def test_a_new_token_that_could_not_be_stored_is_stored_later(crm: Crm) -> None:
    old, tokens, key = await crm.grant(), tokens_of(crm.scene.gaby), ServerKey(crm.scene.workspace_id, "crm")
    other = crm.scene.gaby.database.raw_connection()
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(GabyError):
        await tokens.renew(key, old)
    assert (await crm.grant()).access_token == old.access_token
    other.execute("ROLLBACK")
    other.close()
    assert await tokens.renew(key, old)
    assert (crm.oauth.refreshes, (await crm.grant()).access_token) == (1, crm.oauth.issued[1])


def row_of(transport: str, kind: str) -> ConnectorRecord:
    return ConnectorRecord(
        workspace_id=UUID(int=1),
        id=UUID(int=2),
        name="crm",
        kind=kind,
        launch={"transport": transport},
        autonomy=Autonomy.INVESTIGATE,
        scopes={},
        reads_per_minute=1,
        writes_per_minute=1,
        created_at=datetime(2030, 1, 2, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("transport", "kind", "variable"),
    [
        ("http", "http", "CRM_TOKEN"),
        ("stdio", "command", None),
        ("bundled", "prometheus", "PYTHONPATH"),
        ("bundled", "prometheus", "PROMETHEUS_URL"),
        ("bundled", "time", "TOKEN"),
    ],
)
def test_a_token_goes_only_where_it_belongs(transport: str, kind: str, variable: str | None) -> None:
    with pytest.raises(Invalid):
        check_place(row_of(transport, kind), variable)
    check_place(row_of("bundled", "prometheus"), "PROMETHEUS_TOKEN")


@only_sqlite
async def test_settings_cannot_pretend_to_be_a_token(bare: Crm) -> None:
    new = NewConnector("crm", "http", RemoteSpec(url=bare.url), secrets={"gaby:oauth": "{}"})
    with pytest.raises(Invalid):
        async with bare.scene.gaby.database.write(bare.scene.workspace_id) as session:
            await bare.scene.gaby.tools.connectors.add(session, bare.scene.actor, new)


@pytest.fixture
def shell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str, tmp_path: Path
) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(monkeypatch, capsys, GABY_DATABASE_URL=database_url, GABY_HOME=str(tmp_path / "home"), COLUMNS="200")


@only_sqlite
@pytest.mark.slow
def test_the_command_shows_the_code_waits_and_signs_in(shell: Shell, oauth: OAuth) -> None:
    assert shell("workspace", "create", "acme", "--name", "Acme").code == 0
    own = ("--", sys.executable, "-m", "tests.mcp.servers.good")
    assert shell("connector", "add", "crm", "--yes", "--set", f"PYTHONPATH={ROOT}", *own).code == 0
    oauth.approved, oauth.device_answer = True, {"interval": 1}
    where = ("--issuer", oauth.url, "--client-id", "gaby", "--client-secret", "--as", "CRM_TOKEN")
    assert shell("connector", "sign-in", "crm", *where).code == 2
    done = shell("connector", "sign-in", "crm", "--device", *where, stdin=f"{CLIENT_SECRET}\n")
    assert done.code == 0, done.err
    assert f"Open {oauth.url}/enter in any browser and enter this code: WDJB-MJHT" in done.err
    assert "crm is signed in." in done.err
    assert not [secret for secret in oauth.secrets if secret in done.out + done.err]
    again = shell("connector", "sign-in", "crm", "--device")
    assert (again.code, len(oauth.issued)) == (0, 2), again.err
    keys = shell("connector", "sign-in", "crm", "--stdin", stdin=f"PYTHONPATH={ROOT}\nCRM_TOKEN=typed\n")
    assert keys.code == 0, keys.err
    assert shell("connector", "sign-in", "crm", "--device").code == 2


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
