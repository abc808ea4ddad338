"""Tickets, desks and investigations from the command line."""

import json
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from tests.support.command import Shell

pytestmark = [pytest.mark.promise("O4"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]
BODY = "How do I change the colour of the page? Write to ada@acme.example."


@pytest.fixture
def acme(shell: Shell) -> Shell:
    shell("workspace", "create", "acme")
    return shell


@pytest.mark.promise("T1")
def test_a_ticket_is_added_listed_shown_and_answered(acme: Shell) -> None:
    assert "gaby ticket add" in acme("ticket", "list").err
    added = acme("ticket", "add", "Colour", BODY, "--id", "C-1", "--priority", "high", "--json")
    assert added.code == 0, added.err
    assert (added.json()["status"], added.json()["priority"]) == ("queued", "high")
    assert acme("ticket", "add", "Colour", BODY, "--id", "C-1", "--json").json()["id"] == added.json()["id"]
    assert [each["external_id"] for each in acme("ticket", "list", "--json").json()] == ["C-1"]
    assert acme("ticket", "list", "--status", "needs_tech", "--json").json() == []

    assert acme("ticket", "reply", "C-1", "The blue one.", "--as-requester").code == 0
    shown = acme("ticket", "show", "C-1")
    assert "The blue one." in shown.out
    assert "ada@acme.example" not in shown.out
    assert "ada@acme.example" in acme("ticket", "show", added.json()["id"], "--real").out


def test_a_list_of_tickets_has_one_line_for_each_with_an_id_that_commands_take(
    acme: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    requester = "a.rather.long.name.of.somebody@accounting.acme.example"
    acme("ticket", "add", "Colour " * 20, BODY, "--id", "C-1", "--requester", "ada@acme.example")
    acme("ticket", "add", "Colour\nof the sky", BODY, "--requester", requester)
    acme("ticket", "add", "Unknown", BODY, "--id", "20261117")
    assert acme("investigate", "C-1").code == 0
    full = {each["title"].split()[0]: each for each in acme("ticket", "list", "--json").json()}
    heading, *lines = acme("ticket", "list").out.splitlines()
    assert heading.split() == ["ticket", "requester", "state", "verdict", "title"]
    assert len(lines) == 3
    assert all(len(line) <= 100 for line in lines)
    by_name = {line.split()[0]: line for line in lines}
    assert by_name.keys() == {"T-1", "T-2", "T-3"}
    named = by_name["T-1"]
    assert "ada@acme.example" in named
    [told] = [each for each in acme("ticket", "list", "--json").json() if each["external_id"] == "C-1"]
    assert told["verdict"] is not None
    assert named.split()[2:4] == [told["status"], told["verdict"]]
    assert "@accounting.acme.example" in "".join(by_name.values())
    for name in ["C-1", full["Unknown"]["external_id"], *by_name]:
        shown = acme("ticket", "show", name, "--json")
        assert shown.code == 0, shown.err
        assert UUID(shown.json()["id"])
        run = acme("runs", "show", name, "--json")
        assert run.json()["ticket_id"] == shown.json()["id"]


def test_the_references_that_are_listed_mean_one_run_each(acme: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for number in range(5):
        acme("ticket", "add", f"Colour {number}", BODY)
    _, *lines = acme("runs", "list").out.splitlines()
    runs = [each["id"] for each in acme("runs", "list", "--json").json()]
    assert all(len(line) <= 100 for line in lines)
    names = [line.split()[0] for line in lines]
    assert [acme("runs", "show", name, "--json").json()["id"] for name in names] == runs
    several = acme("runs", "show", runs[0][:8])
    assert (several.code, "Several runs" in several.err) == (2, True)
    assert "Several tickets" in acme("ticket", "show", runs[0][:8]).err


@pytest.mark.promise("K7")
def test_a_ticket_is_closed_and_rated(acme: Shell) -> None:
    acme("ticket", "add", "Colour", BODY, "--id", "C-1")
    early = acme("ticket", "rate", "C-1", "5")
    assert (early.code, "nothing to rate" in early.err) == (5, True)
    assert acme("ticket", "rate", "C-1", "6").code == 2
    assert "closed" in acme("ticket", "reply", "C-1", "In the settings.", "--close").err
    assert acme("ticket", "close", "C-1").code == 0
    assert acme("ticket", "list", "--json").json()[0]["closed_at"] is not None

    added = acme("knowledge", "add", "past", "tickets", "desk", "--json")
    assert (added.code, added.json()["documents"]) == (0, 1), added.err

    assert acme("investigate", "C-1").code == 0
    rated = acme("ticket", "rate", "C-1", "5", "--json").json()
    assert (rated["staged"], rated["run"]["rating"], rated["run"]["verdict"]) == (False, 5, "skipped")
    assert "Nothing is learned" in acme("ticket", "rate", "C-1", "4").err


def test_wrong_words_about_tickets_are_answered_with_what_to_do(acme: Shell) -> None:
    urgent = acme("ticket", "add", "Colour", "--priority", "urgent")
    assert (urgent.code, "'low', 'medium', 'high', 'critical'" in urgent.err) == (2, True)
    unknown = acme("ticket", "show", "nothing")
    assert (unknown.code, "gaby ticket list" in unknown.err) == (4, True)
    assert acme("ticket", "show", str(uuid4())).code == 4
    acme("ticket", "add", "Colour", "--id", "C-1")
    assert acme("ticket", "reply", "C-1", " ").code == 2


@pytest.mark.promise("T2")
def test_a_desk_whose_settings_are_lists_is_added(acme: Shell) -> None:
    given = ["--set", "token=secret", "--set", "priorities=now:critical, later: low", "--every", "never"]
    repositories = ["--set", "repositories=acme/shop, acme/site", "--set", "repositories=acme/desk"]
    added = acme("desk", "add", "issues", "github", *given, *repositories, "--no-check", "--json")
    assert added.code == 0, added.err
    config = json.loads(added.out)["config"]
    assert config["repositories"] == ["acme/shop", "acme/site", "acme/desk"]
    assert config["priorities"] == {"now": "critical", "later": "low"}


@pytest.mark.promise("T2")
def test_a_desk_is_added_checked_polled_and_its_dead_letters_are_read(acme: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "drop"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps({"title": "No ink"}))
    (folder / "b.json").write_text("{ torn")
    assert "inbox" in acme("desk", "kinds").out
    assert "folder" in acme("desk", "kinds", "inbox").out
    added = acme("desk", "add", "drop", "inbox", "--set", f"folder={folder}", "--every", "5m")
    assert added.code == 0, added.err
    assert "/api/webhooks/desks/" in added.err
    assert "2 files" in acme("desk", "check", "drop").out
    assert acme("desk", "poll", "drop", "--json").json() == {"new": 1, "messages": 0, "unreadable": 1}

    [dead_letter] = acme("desk", "letters", "drop", "--json").json()
    assert (dead_letter["external_id"], dead_letter["state"], dead_letter["tries"]) == ("b", "trying", 1)
    [listed] = acme("desk", "list", "--json").json()
    assert (listed["name"], listed["every_seconds"]) == ("drop", 300)
    assert acme("desk", "remove", "drop", "--yes").code == 5
    assert acme("desk", "pause", "drop").code == 0
    assert acme("desk", "list", "--json").json()[0]["every_seconds"] is None


def test_wrong_words_about_desks_are_answered_with_what_to_do(acme: Shell, tmp_path: Path) -> None:
    fax = acme("desk", "add", "office", "fax")
    assert (fax.code, "There are: email" in fax.err) == (2, True)
    assert "NAME=VALUE" in acme("desk", "add", "drop", "inbox", "--set", "folder").err
    assert "colour" in acme("desk", "add", "drop", "inbox", "--set", "colour=red").err
    assert "small letters" in acme("desk", "add", "My Desk", "inbox").err
    assert "twice" in acme("desk", "add", "drop", "inbox", "--set", "folder=a", "--set", "folder=b").err
    assert acme("desk", "add", "drop", "inbox", "--set", f"folder={tmp_path / 'nowhere'}", "--no-check").code == 0
    assert acme("desk", "add", "drop", "inbox").code == 5
    gone = acme("desk", "poll", "drop")
    assert gone.code != 0
    assert "Make it" in gone.err
    assert "gaby desk list" in acme("desk", "poll", "other").err
    assert "secret" in acme("desk", "kinds", "github").out


@pytest.mark.promise("L3")
def test_a_ticket_is_looked_into_here_and_now_and_can_be_stepped_through_again(acme: Shell, tmp_path: Path) -> None:
    file = tmp_path / "ticket.json"
    file.write_text(json.dumps({"title": "Colour", "body": BODY, "external_id": "C-1"}))
    ended = acme("investigate", str(file), "--json")
    assert ended.code == 0, ended.err
    run = ended.json()
    assert run["state"] == "done"
    assert run["verdict"] in {"needs_tech", "needs_client", "needs_l2"}

    assert [each["id"] for each in acme("runs", "list", "--json").json()] == [run["id"]]
    assert acme("runs", "list", "--state", "open", "--json").json() == []
    assert run["verdict"] in acme("runs", "show", run["id"]).out
    edges = acme("runs", "replay", run["id"], "--json").json()
    assert [each["n"] for each in edges] == list(range(1, run["edges"] + 1))
    assert edges[-1]["state"]["name"] == "done"
    lines = [json.loads(line) for line in acme("watch", "--once", "--json").out.splitlines()]
    assert {line["run_id"] for line in lines} == {run["id"]}
    assert len(lines) == len(run["steps"])
    assert acme("runs", "halt", run["id"], "It is over.").code == 5

    assert acme("investigate", "C-1").code == 0
    assert len(acme("runs", "list", "--json").json()) == 2


def test_a_run_that_waits_is_halted_and_resumed(acme: Shell) -> None:
    acme("ticket", "add", "Colour", BODY, "--id", "C-1")
    [run] = acme("runs", "list", "--state", "open", "--json").json()
    assert run["state"] == "created"
    assert acme("runs", "resume", run["id"]).code == 0
    assert acme("runs", "halt", run["id"], "Wrong ticket.").code == 0
    ended = acme("investigate", "C-1", "--json").json()
    assert (ended["state"], ended["verdict"]) == ("halted", "failed")
    assert "Wrong ticket." in ended["reason"]
    assert acme("ticket", "show", "C-1", "--json").json()["status"] == "failed"


def test_wrong_words_about_runs_are_answered_with_what_to_do(acme: Shell, tmp_path: Path) -> None:
    for command in (("show",), ("resume",), ("replay",)):
        assert acme("runs", *command, str(uuid4())).code == 4
        bad = acme("runs", *command, "nothing")
        assert (bad.code, "gaby runs list" in bad.err) == (4, True)
    for content in ("not JSON", "[]", "{}", '{"title": "x", "colour": 1}'):
        file = tmp_path / "bad.json"
        file.write_text(content)
        refused = acme("investigate", str(file))
        assert (refused.code, "is not a ticket" in refused.err) == (2, True)
        assert "Traceback" not in refused.err
    assert acme("investigate", str(tmp_path / "missing.json")).code == 2
    assert acme("investigate", "nothing").code == 4


@pytest.mark.promise("L8", "T7")
def test_how_gaby_investigates_is_shown_and_changed(acme: Shell) -> None:
    usual = acme("agent", "show", "--json").json()
    assert (usual["iterations"], usual["bounds"]["passages"], usual["escalates_to"]) == (20, 6, None)
    assert acme("agent", "set", "--iterations", "5", "--passages", "3", "--no-triage").code == 0
    assert acme("agent", "escalate", "webhook:https://acme.example/hook", "--secret-stdin", stdin="s" * 20).code == 0
    shown = acme("agent", "show", "--json")
    mine = shown.json()
    assert (mine["iterations"], mine["bounds"]["passages"], mine["triage"]) == (5, 3, False)
    assert (mine["escalates_to"], mine["seconds"]) == ("webhook", usual["seconds"])
    assert "acme.example/hook" not in shown.out
    assert acme("agent", "escalate", "nobody").code == 0
    assert acme("agent", "show", "--json").json()["escalates_to"] is None

    assert acme("agent", "set").code == 2
    assert acme("agent", "set", "--iterations", "0").code == 2
    wrong = acme("agent", "escalate", "pigeon:roof")
    assert wrong.code == 2
    assert "slack" in wrong.err


@pytest.mark.promise("S17")
def test_who_vouches_for_the_requesters_of_a_desk_is_chosen_shown_and_changed(acme: Shell, tmp_path: Path) -> None:
    folder = f"folder={tmp_path}"
    added = acme("desk", "add", "drop", "inbox", "--set", folder, "--every", "never", "--vouched-by", "nobody")
    assert (added.code, "verified by nobody" in added.err) == (0, True)
    usual = acme("desk", "add", "usual", "inbox", "--set", folder, "--every", "never", "--json")
    assert usual.json()["vouched_by"] == "desk"
    listed = {each["name"]: each["vouched_by"] for each in acme("desk", "list", "--json").json()}
    assert listed == {"drop": "nobody", "usual": "desk"}
    assert "vouched by" in acme("desk", "list").out
    assert acme("desk", "vouch", "drop", "desk").code == 0
    shown = acme("desk", "show", "drop")
    assert ("desk's own sign-in" in shown.err, "vouched_by" in shown.out) == (True, True)
    assert acme("desk", "show", "drop", "--json").json()["vouched_by"] == "desk"
    refused = acme("desk", "vouch", "drop", "mail")
    assert (refused.code != 0, "cannot be vouched for by mail" in refused.err) == (True, True)


@pytest.mark.promise("S17")
def test_a_reply_in_the_requesters_name_is_verified_only_if_somebody_vouches(acme: Shell) -> None:
    acme("ticket", "add", "Colour", BODY, "--id", "C-1", "--requester", "ada@acme.example", "--verified")
    for flag in ("--verified", "--no-verified"):
        assert acme("ticket", "reply", "C-1", f"More {flag}", "--as-requester", flag).code == 0
    found = acme("ticket", "show", "C-1", "--json").json()["messages"]
    assert [(each["author_email"], each["verified"], each["verified_by"]) for each in found] == [
        ("ada@acme.example", True, "desk"),
        ("ada@acme.example", False, "nobody"),
    ]
