"""Commands that messages suggest work as they are printed."""

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

import gaby
from gaby.cli import build_app
from gaby.cli.hints import begin, in_named_workspace, remember_workspace
from tests.support.command import Finished, Shell
from tests.tools.scenes import SERVERS

SUGGESTED = re.compile(r"`gaby ([^`]+)`")
NOBODY = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def shared(shell: Shell) -> Shell:
    """Two workspaces, so that every command has to say in which."""
    for slug in ("acme", "globex"):
        assert shell("workspace", "create", slug).code == 0
    return shell


def suggested(ended: Finished) -> list[str]:
    """The first one."""
    return shlex.split(SUGGESTED.findall(ended.err)[0])


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_change_is_asked_approved_and_made_with_what_each_command_suggests(shared: Shell, tmp_path: Path) -> None:
    server = ("--", sys.executable, str(SERVERS / "desk.py"))
    settings = f"DESK_FOLDER={tmp_path}\n\n"
    assert shared("connector", "add", "desk", "-w", "acme", "--stdin", "--yes", *server, stdin=settings).code == 0
    limits = ("--autonomy", "propose", "--allow-write", "**")
    assert shared("connector", "set", "desk", "--workspace", "acme", *limits).code == 0
    asked = shared("tools", "call", "desk.unlock", "-a", "account_id=acc-1001", "-w", "acme")
    decided = shared(*suggested(asked))
    assert decided.code == 0, decided.err
    made = shared(*suggested(decided))
    assert made.code == 0, made.err


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("command", "hint"),
    [
        (("ticket", "list"), "`gaby ticket add TITLE TEXT --workspace acme`"),
        (("runs", "show", NOBODY), "`gaby runs list --workspace acme`"),
        (("knowledge", "show", "wiki"), "`gaby knowledge list --workspace acme`"),
        (("knowledge", "list"), "`gaby knowledge add runbooks folder /srv/runbooks --workspace acme`"),
        (("connector", "list"), "`gaby connector kinds`"),
        (("connector", "list"), "`gaby connector add NAME KIND --workspace acme`"),
    ],
)
def test_a_message_suggests_commands_for_the_workspace_that_was_named(
    shared: Shell, command: tuple[str, ...], hint: str
) -> None:
    assert hint in shared(*command, "-w", "acme").err


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_where_no_workspace_was_named_none_is_suggested(shell: Shell) -> None:
    assert shell("workspace", "create", "acme").code == 0
    assert "`gaby ticket add TITLE TEXT`" in shell("ticket", "list").err
    assert "`gaby workspace list`" in shell("ticket", "list", "-w", "globex").err
    assert "`gaby ticket add TITLE TEXT`" in shell("ticket", "list").err, "what was named before is forgotten"


def test_the_workspace_stands_before_the_command_of_a_server() -> None:
    begin(build_app)
    assert in_named_workspace("`gaby runs list`") == "`gaby runs list`"
    remember_workspace("acme")
    assert in_named_workspace("`gaby connector add NAME -- CMD`") == "`gaby connector add NAME --workspace acme -- CMD`"
    for unchanged in ("`gaby runs list -w x`", "`gaby db upgrade`", "`gaby nonsense`", "gaby runs list", "`gaby runs`"):
        assert in_named_workspace(unchanged) == unchanged


def test_every_command_that_is_suggested_exists() -> None:
    root: Any = typer.main.get_command(build_app())
    texts = [path.read_text() for path in Path(gaby.__file__).parent.rglob("*.py")]
    found = {tuple(each.split()[:2]) for text in texts for each in re.findall(r"`gaby ([a-z][^`{]*)", text)}
    assert found
    for group, *rest in found:
        assert group in root.commands, group
        commands = getattr(root.commands[group], "commands", None)
        if commands is not None and rest and re.fullmatch("[a-z-]+", rest[0]):
            assert rest[0] in commands, (group, rest[0])
