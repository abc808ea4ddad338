"""Manifests from the command line: drafted, looked at, accepted in part, edited in a file, and shown."""

import asyncio
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gaby.app import Gaby, build
from gaby.cli.connector_draft import read_draft, review
from gaby.kernel.actors import system_actor
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.settings import load
from tests.support.command import Shell
from tests.tools.scenes import SERVERS

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def archive(shell: Shell, tmp_path: Path) -> Shell:
    """Somebody else's server, whose tools were accepted: it has no manifest."""
    assert shell("workspace", "create", "acme", "--name", "Acme").code == 0
    command = ("--", sys.executable, str(SERVERS / "foreign.py"))
    added = shell("connector", "add", "archive", "--set", f"DESK_FOLDER={tmp_path}", "--yes", *command)
    assert added.code == 0, added.err
    assert "3 tools have no manifest: reads ask each time, and changes are refused." in added.err
    assert "gaby connector draft archive --accept-reads" in added.err
    return shell


def rules(shell: Shell) -> dict[str, str]:
    return {each["tool"]: each["unasked"] for each in shell("connector", "show", "archive", "--json").json()["rules"]}


@pytest.mark.promise("S16")
def test_accepting_the_reads_lets_them_run_and_nothing_else(archive: Shell, tmp_path: Path) -> None:
    assert archive("tools", "call", "archive.search", "-a", "text=x", "--json").json()["outcome"] == "asked"
    assert set(rules(archive).values()) == {
        "nothing: it has no manifest, so a read asks",
        "nothing: it has no manifest",
    }
    accepted = archive("connector", "draft", "archive", "--accept-reads")
    assert accepted.code == 0, accepted.err
    assert "The manifest of 1 tools of archive is accepted. 2 stay without one" in accepted.err
    assert archive("tools", "call", "archive.search", "-a", "text=x").code == 0
    assert archive("tools", "call", "archive.publish", "-a", "text=x").code == 3
    assert (tmp_path / "effects").read_text() == "search\n"
    assert rules(archive) == {
        "search": "reads",
        "get_page": "nothing: it has no manifest",
        "publish": "nothing: it has no manifest",
    }


@pytest.mark.promise("S16")
def test_what_was_accepted_before_stays_and_is_not_drafted_again(archive: Shell) -> None:
    assert archive("connector", "draft", "archive", "--accept-reads").code == 0
    left = archive("connector", "draft", "archive", "--json").json()
    assert [each["name"] for each in left["tools"]] == ["get_page", "publish"]
    assert archive("connector", "draft", "archive", "--accept-all").code == 0
    assert rules(archive)["search"] == "reads"
    assert "Every tool of archive has a manifest." in archive("connector", "draft", "archive").err


@pytest.mark.promise("S16", "M3")
def test_a_draft_is_written_edited_and_given_back(archive: Shell, tmp_path: Path) -> None:
    printed = archive("connector", "draft", "archive")
    assert printed.out.startswith("# A draft for archive")
    file = tmp_path / "archive.yaml"
    assert archive("connector", "draft", "archive", "--out", str(file)).code == 0
    assert file.read_text() == printed.out
    again = archive("connector", "draft", "archive", "--out", str(file))
    assert (again.code, "cannot be written" in again.err) == (2, True)
    assert archive("connector", "manifest", "archive", str(file)).code == 0
    file.write_text(printed.out.replace("  search:", "  serach:").replace("content: [text]", "content: [txt]"))
    wrong = archive("connector", "manifest", "archive", str(file))
    assert wrong.code == 2
    assert "did you mean search?" in wrong.err
    assert "did you mean text?" in wrong.err
    assert archive("connector", "draft", "archive", "--out", "x", "--accept-all").code == 2


@pytest.mark.promise("M3")
def test_what_could_not_be_checked_is_said(archive: Shell, tmp_path: Path) -> None:
    file = tmp_path / "archive.yaml"
    file.write_text('manifest_version: 1.0.0\ntools: {search: {scope: read, owner: {"pages[]": email}}}')
    stored = archive("connector", "manifest", "archive", str(file))
    assert stored.code == 0
    assert "nobody could check pages[], pages[].email" in stored.err


@pytest.mark.promise("S16", "S14")
def test_show_says_what_runs_unasked_and_who_may_be_told(archive: Shell, tmp_path: Path) -> None:
    file = tmp_path / "archive.yaml"
    file.write_text(
        "manifest_version: 1.0.0\ntools:\n"
        '  search: {scope: read, audience: customers, owner: {"pages[]": email}, readers: {note: staff}}\n'
        "  get_page: {scope: read}\n"
        "  publish: {scope: write, steering: [text]}\n"
    )
    assert archive("connector", "manifest", "archive", str(file)).code == 0
    shown = archive("connector", "show", "archive")
    told = "every verified requester; whoever is email of pages[]; note: colleagues only"
    assert told in shown.out
    assert rules(archive)["publish"] == "nothing: no rule lets it write publish"
    assert archive("connector", "set", "archive", "--allow-write", "**").code == 0
    assert rules(archive)["publish"] == "nothing: the connector only investigates"
    assert archive("connector", "set", "archive", "--autonomy", "propose").code == 0
    assert rules(archive)["publish"] == "nothing: a person is asked each time at propose"
    assert archive("connector", "set", "archive", "--autonomy", "act").code == 0
    assert rules(archive)["publish"] == "changes, if text come from somebody trusted"
    assert archive("kill-switch", "pull", "strange").code == 0
    assert set(rules(archive).values()) == {"nothing: a kill switch is pulled"}
    assert archive("connector", "show", "nothing").code == 4


@pytest.mark.promise("S16")
@pytest.mark.parametrize(
    ("keys", "accepted"),
    [
        ("r", {"search": "read staff"}),
        ("a", {"search": "read staff", "get_page": "dangerous staff", "publish": "dangerous staff"}),
        ("q", {}),
        ("x?\x1b", {}),
        ("stala", {"search": "read customers", "publish": "dangerous staff"}),
        ("sttalda", {"search": "read public", "publish": "write staff"}),
        ("sdaq", {"search": "read staff"}),
        ("sllq", {}),
    ],
)
def test_a_person_accepts_by_single_keys(
    archive: Shell, database_url: str, tmp_path: Path, keys: str, accepted: dict[str, str]
) -> None:
    left = iter(keys)

    async def work(gaby: Gaby) -> None:
        async with gaby.running(background=False):
            async with gaby.database.read(SYSTEM) as session:
                [place] = await gaby.identity.workspaces.all(session)
            actor = system_actor("test", WorkspaceId(place.id))
            await review(gaby, actor, await read_draft(gaby, actor, "archive"), lambda: next(left))
            async with gaby.database.read(actor.workspace_id) as session:
                written = (await gaby.tools.connectors.get(session, "archive")).manifest
        tools: dict[str, Any] = written["tools"] if written is not None else {}
        assert {
            name: f"{'dangerous' if each['dangerous'] else each['scope']} {each['audience']}"
            for name, each in tools.items()
        } == accepted

    settings = load({"GABY_DATABASE_URL": database_url, "GABY_HOME": str(tmp_path / "home")}, env_file=None).settings
    asyncio.run(work(build(settings)))


@pytest.mark.promise("S16")
def test_in_a_terminal_one_key_accepts_the_reads(archive: Shell) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "gaby", "connector", "draft", "archive"]
    started = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ)
    os.close(theirs)
    try:
        shown = _read_until(ours, b"accept the reads")
        shown += _read_until(ours, b"is accepted", press=b"r")
        assert started.wait(timeout=60) == 0
    finally:
        started.kill()
        started.wait()
        os.close(ours)
    assert b"who may be told" in shown
    assert rules(archive)["search"] == "reads"


def _read_until(terminal: int, wanted: bytes, press: bytes = b"") -> bytes:
    """A key is pressed again while nothing happens: what is typed before the program listens for keys is lost."""
    seen = b""
    end = time.monotonic() + 90
    while wanted not in seen and time.monotonic() < end:
        os.write(terminal, press)
        ready, _, _ = select.select([terminal], [], [], 1)
        if ready:
            try:
                seen += os.read(terminal, 4096)
            except OSError:
                break
    assert wanted in seen, seen
    return seen
