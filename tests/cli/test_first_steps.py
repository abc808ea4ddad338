"""The first commands of a newcomer, and those that change or remove something."""

from pathlib import Path

import pytest

from gaby.cli.progress import busy
from tests.support.command import Shell

pytestmark = pytest.mark.promise("O4")


def test_any_command_prepares_a_fresh_home(bare_shell: Shell, tmp_path: Path) -> None:
    listed = bare_shell("ticket", "list")
    assert (listed.code, listed.out) == (0, "")
    assert f"a new installation, at {tmp_path / 'home'}" in listed.err
    assert "new installation" not in bare_shell("ticket", "list").err


def test_the_first_workspace_is_made_by_itself(bare_shell: Shell) -> None:
    assert bare_shell("ticket", "add", "It is broken", "Help.").code == 0
    assert [each["slug"] for each in bare_shell("workspace", "list", "--json").json()] == ["main"]


def test_a_workspace_is_chosen_by_the_environment(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for slug in ("acme", "globex"):
        shell("workspace", "create", slug)
    several = shell("ticket", "list")
    assert (several.code, "acme, globex" in several.err) == (4, True)
    monkeypatch.setenv("GABY_WORKSPACE", "globex")
    assert shell("ticket", "add", "Theirs", "Broken.").code == 0
    assert len(shell("ticket", "list", "--workspace", "globex", "--json").json()) == 1
    assert shell("ticket", "list", "--workspace", "acme", "--json").json() == []
    monkeypatch.setenv("GABY_WORKSPACE", "initech")
    assert "GABY_WORKSPACE names it" in shell("ticket", "list").err


@pytest.mark.parametrize(
    "command",
    [
        ("ticket", "list", "--status", "nope"),
        ("runs", "list", "--state", "nope"),
        ("approvals", "list", "--state", "nope"),
        ("ticket", "add", "T", "B", "--priority", "nope"),
    ],
)
def test_a_filter_refuses_what_it_does_not_know(shell: Shell, command: tuple[str, ...]) -> None:
    shell("workspace", "create", "acme")
    refused = shell(*command)
    assert (refused.code, "nope" in refused.err) == (2, True)


@pytest.mark.parametrize(
    "command",
    [
        ("desk", "remove", "box"),
        ("model", "remove", "anthropic"),
        ("key", "revoke", "0123456789abcdef"),
        ("connector", "remove", "crm"),
        ("knowledge", "remove", "handbook"),
    ],
)
def test_removing_asks_first(shell: Shell, command: tuple[str, ...]) -> None:
    shell("workspace", "create", "acme")
    asked = shell(*command, stdin="n\n")
    assert (asked.code, "[y/N]" in asked.err, "Aborted" in asked.err) == (1, True, True)
    assert "[y/N]" not in shell(*command, "--yes").err


def test_a_desk_is_talked_to_before_it_is_stored(shell: Shell, tmp_path: Path) -> None:
    shell("workspace", "create", "acme")
    missing = shell("desk", "add", "box", "inbox", "--set", f"folder={tmp_path / 'nowhere'}")
    assert missing.code != 0
    assert shell("desk", "list", "--json").json() == []
    assert shell("desk", "add", "box", "inbox", "--set", f"folder={tmp_path / 'nowhere'}", "--no-check").code == 0


def test_settings_of_a_desk_can_be_changed(shell: Shell, tmp_path: Path) -> None:
    shell("workspace", "create", "acme")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    assert shell("desk", "add", "box", "inbox", "--set", f"folder={tmp_path / 'one'}").code == 0
    changed = shell("desk", "set", "box", "--set", f"folder={tmp_path / 'two'}")
    assert (changed.code, "can be read" in changed.err) == (0, True)
    assert shell("desk", "show", "box", "--json").json()["config"]["folder"] == str(tmp_path / "two")
    assert shell("desk", "set", "box", "--set", f"folder={tmp_path / 'nowhere'}").code != 0
    assert shell("desk", "set", "box").code == 2


def test_the_doctor_looks_at_every_workspace(shell: Shell, tmp_path: Path) -> None:
    for slug in ("acme", "globex"):
        shell("workspace", "create", slug)
    shell("ticket", "add", "It is broken", "Help.", "--workspace", "globex")
    shell("desk", "add", "box", "inbox", "-s", f"folder={tmp_path / 'nowhere'}", "--no-check", "-w", "acme")
    checks = {(each["name"], each["message"].partition(":")[0]): each for each in shell("doctor", "--json").json()}
    for area in ("connectors", "desks", "escalations", "models", "knowledge"):
        assert {(area, "acme"), (area, "globex")} <= checks.keys()
    assert checks["desks", "acme"]["health"] == "warn"
    assert "--workspace acme" in checks["desks", "acme"]["fix"]
    assert checks["desks", "globex"]["health"] == "ok"
    assert {"disk", "master key", "signing key"} <= {name for name, _ in checks}


@pytest.mark.parametrize(
    ("words", "offered"),
    [("gaby ticket show ", "T-1"), ("gaby runs show R", "R-1"), ("gaby desk show in", "inbox")],
)
def test_a_tab_offers_names_and_references(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: str, offered: str
) -> None:
    shell("workspace", "create", "acme")
    shell("ticket", "add", "It is broken", "Help.")
    monkeypatch.setenv("_GABY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    assert shell().out.split() == [offered]


def test_what_takes_long_shows_that_it_goes_on_only_to_people(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with busy("Checking every row"):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with busy("Checking every row"):
        pass
    assert "Checking every row" in capsys.readouterr().err
