"""Draft mode is set by a command, shown, and in the audit log."""

import json

import pytest

from tests.support.command import Shell

pytestmark = pytest.mark.promise("L13")


def test_draft_mode_is_set_shown_and_logged(shell: Shell) -> None:
    shell("workspace", "create", "acme")
    assert shell("ticket", "add", "Hello", "How do I export my data?").code == 0
    assert shell("desk", "list", "--json").json()[0]["drafts"] is False
    told = shell("desk", "drafts", "inbox", "on")
    assert told.code == 0
    assert "Every reply waits for a person" in told.err
    assert shell("desk", "show", "inbox", "--json").json()["drafts"] is True
    rows = [json.loads(line) for line in shell("audit", "export").out.splitlines()]
    assert sum("desk.drafts_changed" in json.dumps(row) for row in rows) == 1
    assert shell("desk", "drafts", "inbox", "off").code == 0
    assert shell("desk", "show", "inbox", "--json").json()["drafts"] is False


def test_only_on_and_off_are_understood(shell: Shell) -> None:
    shell("workspace", "create", "acme")
    assert shell("desk", "drafts", "inbox", "maybe").code != 0
    assert shell("desk", "drafts", "nowhere", "on").code != 0
