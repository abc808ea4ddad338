"""Workspaces, people and keys from the command line."""

import pytest

from tests.support.command import Shell

PASSWORD = "correct horse battery\n"


@pytest.mark.promise("O4", "P3")
def test_a_workspace_is_made_and_listed(shell: Shell) -> None:
    assert shell("workspace", "list").err.startswith("No workspace yet")
    assert shell("workspace", "create", "acme", "--name", "Acme Ltd").code == 0
    listed = shell("workspace", "list", "--json").json()
    assert [(each["slug"], each["name"]) for each in listed] == [("acme", "Acme Ltd")]
    again = shell("workspace", "create", "acme")
    assert again.code == 5
    assert "acme already" in again.err
    assert shell("workspace", "create", "Not A Slug").code == 2


@pytest.mark.promise("O4", "P3")
def test_somebody_is_added_and_their_password_reset(shell: Shell) -> None:
    shell("workspace", "create", "acme")
    added = shell("user", "add", "ada@acme.example", "--role", "admin", "--password-stdin", stdin=PASSWORD)
    assert added.code == 0, added.err
    assert [each["role"] for each in shell("user", "list", "--json").json()] == ["admin"]
    assert "ada@acme.example" in shell("user", "list").out
    reset = shell("user", "password", "ada@acme.example", "--password-stdin", stdin="another long passphrase\n")
    assert reset.code == 0, reset.err
    assert shell("user", "password", "eve@acme.example", "--password-stdin", stdin=PASSWORD).code == 4


def test_a_weak_password_is_refused_and_nothing_is_written(shell: Shell) -> None:
    shell("workspace", "create", "acme")
    weak = shell("user", "add", "ada@acme.example", "--password-stdin", stdin="short\n")
    assert weak.code == 2
    assert "at least 12 characters" in weak.err
    assert shell("user", "list", "--json").json() == []


def test_without_a_terminal_the_password_must_come_from_standard_input(shell: Shell) -> None:
    shell("workspace", "create", "acme")
    refused = shell("user", "add", "ada@acme.example", stdin="")
    assert refused.code == 2
    assert "--password-stdin" in refused.err


@pytest.mark.promise("O4", "P1")
def test_a_key_is_shown_once_listed_without_its_secret_and_revoked(shell: Shell) -> None:
    shell("workspace", "create", "acme")
    created = shell("key", "create", "collector", "--scope", "audit:read", "--days", "30", "--json").json()
    secret = created["key"].partition(".")[2]
    listed = shell("key", "list", "--json")
    assert [each["scopes"] for each in listed.json()] == [["audit:read"]]
    assert secret not in listed.out
    assert shell("key", "revoke", created["id"], "--yes").code == 0
    assert shell("key", "revoke", created["id"][:13], "--yes").code == 4
    assert shell("key", "revoke", "not-an-id", "--yes").code == 2


def test_with_several_workspaces_one_must_be_named(shell: Shell) -> None:
    shell("workspace", "create", "acme")
    shell("workspace", "create", "globex")
    unclear = shell("user", "list")
    assert unclear.code == 4
    assert "--workspace" in unclear.err
    assert shell("user", "list", "--workspace", "globex", "--json").json() == []
    assert shell("user", "list", "--workspace", "nowhere").code == 4


@pytest.mark.promise("P4")
def test_an_account_that_an_invitation_made_is_not_the_one_that_is_added_here(shell: Shell) -> None:
    shell("workspace", "create", "acme")
    typed = "correct horse battery\n"
    missing = shell("user", "password", "bob@acme.example", "--workspace", "acme", "--password-stdin", stdin=typed)
    assert missing.code == 4
    assert shell("user", "add", "bob@acme.example", "--password-stdin", stdin=typed).code == 0
    again = shell("user", "password", "bob@acme.example", "--workspace", "acme", "--password-stdin", stdin=typed)
    assert again.code == 4
    assert "--workspace" in again.err
    assert shell("user", "password", "bob@acme.example", "--password-stdin", stdin=typed).code == 0
