"""How often, how large, how long: limits of the one path."""

import json
import sys
from datetime import timedelta

import pytest

from gaby.kernel.clock import ManualClock
from gaby.tools import Done, Failed, RetryLater, ToolCall
from gaby.tools.connectors import NewConnector, PolicyChange
from gaby.tools.launches import CommandSpec
from gaby_connectors.sdk.manifest import ConnectorManifest, ToolManifest
from tests.tools.scenes import SERVERS, Scene

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.mark.promise("S2")
async def test_more_than_the_limit_per_minute_is_told_when_to_try_again(desk: Scene, clock: ManualClock) -> None:
    await desk.limit("desk", PolicyChange(writes_per_minute=2))
    run = desk.run(words="acc-1001")
    for text in ("one", "two"):
        assert isinstance(await desk.invoke(run, "add_note", account_id="acc-1001", text=text), Done)
    third = await desk.invoke(run, "add_note", account_id="acc-1001", text="three")
    assert isinstance(third, RetryLater)
    assert third == RetryLater("rate_limit", "2 changes a minute are allowed for desk.", 60.0, "desk")
    assert third.message == ("2 changes a minute are allowed for desk. Nothing was done; try again in 60 seconds.")
    explained = await desk.gaby.tools.invoker.explain(desk.call("add_note", account_id="acc-1001", text="x"), run)
    assert (explained.outcome, explained.retry_after) == ("wait", 60.0)
    assert "tool.denied" not in await desk.audited()
    assert isinstance(await desk.invoke(run, "list_accounts"), Done)
    clock.advance(timedelta(minutes=1))
    assert isinstance(await desk.invoke(run, "add_note", account_id="acc-1001", text="three"), Done)


@pytest.mark.promise("M8")
async def test_a_cached_answer_is_older_than_a_minute_never(desk: Scene, clock: ManualClock) -> None:
    run = desk.run()
    await desk.invoke(run, "list_accounts")
    clock.advance(timedelta(seconds=59))
    again = await desk.invoke(run, "list_accounts")
    assert isinstance(again, Done)
    assert again.cached
    clock.advance(timedelta(seconds=1))
    later = await desk.invoke(run, "list_accounts")
    assert isinstance(later, Done)
    assert not later.cached


SEARCHING = ConnectorManifest(manifest_version="1.0.0", tools={"search": ToolManifest(scope="read")})
"""What an operator wrote for somebody else's server."""


async def archive_with(scene: Scene, size: int) -> None:
    """Somebody else's server, which knows no limit."""
    env = {"DESK_FOLDER": str(scene.folder), "DESK_SIZE": str(size)}
    way = CommandSpec(command=sys.executable, args=(str(SERVERS / "foreign.py"),), env=env)
    async with scene.gaby.database.write(scene.workspace_id) as session:
        new = NewConnector("archive", "command", way, manifest=SEARCHING)
        await scene.gaby.tools.connectors.add(session, scene.actor, new)
    await scene.accept("archive")


@pytest.mark.promise("M10")
async def test_a_huge_result_is_shown_by_its_ends_and_read_in_pages(scene: Scene) -> None:
    await archive_with(scene, 300_000)
    run = scene.run()
    found = await scene.gaby.tools.invoker.invoke(ToolCall("archive.search", {}, scene.gaby.ids.new()), run)
    assert isinstance(found, Done)
    assert found.spilled is not None
    assert len(found.text) < 20_000
    pages: list[str] = []
    for page in range(found.spilled.pages):
        call = ToolCall("gaby.read_result", {"result_id": found.spilled.id, "page": page}, scene.gaby.ids.new())
        read = await scene.gaby.tools.invoker.invoke(call, run)
        assert isinstance(read, Done)
        pages.append(read.text)
    assert "".join(pages) == "found " + "0123456789" * 30_000
    beyond = ToolCall("gaby.read_result", {"result_id": found.spilled.id, "page": 99}, scene.gaby.ids.new())
    assert isinstance(await scene.gaby.tools.invoker.invoke(beyond, run), Failed)


@pytest.mark.promise("M10")
async def test_what_lies_on_disk_is_sealed(scene: Scene) -> None:
    await archive_with(scene, 300_000)
    call = ToolCall("archive.search", {}, scene.gaby.ids.new())
    await scene.gaby.tools.invoker.invoke(call, scene.run())
    files = [path for path in (scene.gaby.settings.home / "results").rglob("*") if path.is_file()]
    assert len(files) == 1
    assert b"0123456789" not in files[0].read_bytes()
    assert files[0].stat().st_mode & 0o077 == 0


@pytest.mark.promise("M9")
async def test_secrets_of_a_connector_are_sealed_and_never_shown(scene: Scene) -> None:
    secret = "hunter2-and-more"
    way = CommandSpec(
        command=sys.executable, args=(str(SERVERS / "foreign.py"),), env={"DESK_FOLDER": str(scene.folder)}
    )
    new = NewConnector("archive", "command", way, secrets={"ARCHIVE_TOKEN": secret}, manifest=SEARCHING)
    async with scene.gaby.database.write(scene.workspace_id) as session:
        row = await scene.gaby.tools.connectors.add(session, scene.actor, new)
        stored = json.dumps([row.launch, row.secrets, row.scopes])
    assert secret not in stored
    assert secret not in repr(new)
    assert secret not in str(await scene.rows())
    await scene.accept("archive")
    assert isinstance(
        await scene.gaby.tools.invoker.invoke(ToolCall("archive.search", {}, scene.gaby.ids.new()), scene.run()), Done
    )
