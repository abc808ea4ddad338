"""Short references: T-1, R-1, A-1, in lists and wherever an id is taken."""

import pytest

from tests.support.command import Shell

pytestmark = pytest.mark.promise("O4")


@pytest.fixture
def acme(shell: Shell) -> Shell:
    assert shell("workspace", "create", "acme").code == 0
    for title in ("The first one", "The second one"):
        assert shell("ticket", "add", title, "It is broken.", "--requester", "ada@example.com").code == 0
    return shell


def test_tickets_and_runs_are_numbered_in_their_order(acme: Shell) -> None:
    tickets = acme("ticket", "list", "--json").json()
    runs = acme("runs", "list", "--json").json()
    assert [(each["reference"], each["title"]) for each in reversed(tickets)] == [
        ("T-1", "The first one"),
        ("T-2", "The second one"),
    ]
    assert [(each["reference"], each["ticket"], each["title"]) for each in reversed(runs)] == [
        ("R-1", "T-1", "The first one"),
        ("R-2", "T-2", "The second one"),
    ]


def test_whoever_adds_a_ticket_is_told_its_reference(acme: Shell) -> None:
    assert acme("ticket", "add", "The third one", "Also broken.").out.startswith("T-3  queued")


@pytest.mark.parametrize("which", ["T-2", "t-2", "R-2"])
def test_a_run_is_found_by_its_reference_and_by_its_ticket(acme: Shell, which: str) -> None:
    assert acme("runs", "show", which, "--json").json()["reference"] == "R-2"


def test_a_ticket_is_found_by_its_reference_and_by_the_beginning_of_its_id(acme: Shell) -> None:
    ticket = acme("ticket", "show", "T-2", "--json").json()
    assert ticket["title"] == "The second one"
    assert acme("ticket", "show", ticket["id"].replace("-", "")[:20], "--json").json()["reference"] == "T-2"


def test_numbers_count_for_each_workspace(acme: Shell) -> None:
    assert acme("workspace", "create", "globex").code == 0
    assert acme("ticket", "add", "Theirs", "Broken.", "--workspace", "globex").out.startswith("T-1 ")


def test_a_desks_own_name_that_looks_like_another_tickets_reference_is_not_guessed(acme: Shell) -> None:
    assert acme("ticket", "add", "A third", "Broken.", "--id", "T-1").code == 0
    found = acme("ticket", "show", "T-1")
    assert (found.code, "Give the whole id" in found.err) == (2, True)


@pytest.mark.parametrize("which", ["R-9", "T-9", "A-1"])
def test_what_is_not_there_is_said_so(acme: Shell, which: str) -> None:
    assert acme("runs", "show", which).code == 4


def test_no_line_is_wider_than_the_terminal(acme: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    acme(
        "ticket", "add", "The gateway of the branch in Zürich " * 4, "Help.", "--requester", f"{'ada' * 20}@example.com"
    )
    monkeypatch.setenv("COLUMNS", "80")
    acme("key", "create", "reporting", "--scope", "tickets:read", "--scope", "usage:read")
    for command in (
        "ticket list",
        "runs list",
        "workspace list",
        "desk list",
        "desk kinds github",
        "key list",
        "doctor",
    ):
        shown = acme(*command.split()).out.splitlines()
        assert max(map(len, shown)) <= 80, command
