"""Runbooks from the command line: what is understood is shown, errors end with 1, a trial changes nothing."""

import sys
from pathlib import Path

import pytest

from tests.support.command import Shell
from tests.tools.scenes import SERVERS

pytestmark = [
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
    pytest.mark.promise("L15"),
]

GOOD = """---
runbook: true
symptoms: [locked out, ausgesperrt]
---
# Locked out

For people who are locked out.

1. Find the requester with `find_account`, `email`: the requester's e-mail address.

If the account's `id` is set: The account is locked.
- Do `unlock`, `account_id`: `id` of the account.
- Tell the requester: Your account `id` was locked.
- Then tell the requester: It is open again.
- Hand it to second level.

Otherwise hand it to second level.
"""
BAD = """---
runbook: true
---
# Locked out

For people who are locked out.

1. Find the requester with `find_account`, `mail`: the requester's e-mail address.
2. Do `delete_account`.

If the account's `colour` is `red`: It is red.
- Restart the machine.
- Tell the requester: It is `shade`.
"""


@pytest.fixture
def desk(shell: Shell, tmp_path: Path) -> Shell:
    assert shell("workspace", "create", "acme", "--name", "Acme").code == 0
    settings = f"DESK_FOLDER={tmp_path}\n\n"
    command = ("--", sys.executable, str(SERVERS / "desk.py"))
    assert shell("connector", "add", "desk", "--stdin", "--yes", *command, stdin=settings).code == 0
    assert shell("connector", "set", "desk", "--autonomy", "act", "--allow-write", "**").code == 0
    return shell


def test_what_is_understood_is_shown_and_errors_end_with_one(desk: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "runbooks"
    folder.mkdir()
    (folder / "good.md").write_text(GOOD)
    (folder / "prose.md").write_text("# Parking\n\nThe garage is open from 8 to 20.\n")
    shown = desk("runbook", "check", str(folder))
    assert shown.code == 0, shown.err
    for line in ("find_account(email = the requester's address)", "account_id = `id` of account", "without errors"):
        assert line in shown.out
    assert "1 other pages are no runbooks" in shown.err
    (folder / "bad.md").write_text(BAD)
    shown = desk("runbook", "check", str(folder / "bad.md"), "--json")
    assert shown.code == 1
    (runbook,) = shown.json()
    found = {(each["line"], each["severity"]): each["why"] for each in runbook["problems"]}
    assert found[8, "error"] == "`find_account` has no argument `mail`"
    assert "did you mean `email`?" in shown.out
    assert found[12, "error"] == "this sentence is not understood"
    assert found[11, "error"] == "no tool of this runbook gives `colour`"
    assert found[13, "error"] == "no tool of this runbook gives `shade`"
    assert found[9, "error"].startswith(("`delete_account` changes something", "nothing gives `account_id`"))


def test_a_trial_makes_the_reads_and_changes_nothing(desk: Shell, tmp_path: Path) -> None:
    page = tmp_path / "good.md"
    page.write_text(GOOD)
    told = desk("runbook", "try", str(page), "--text", "I am locked out", "--from", "ada@acme.example", "--json")
    assert told.code == 0, told.err
    tried = told.json()
    assert [(each["tool"], each["outcome"]) for each in tried["calls"]] == [
        ("desk.find_account", "done"),
        ("desk.unlock", "simulated"),
    ]
    assert tried["calls"][1]["arguments"] == {"account_id": "acc-1001"}
    assert tried["causes"][0]["holds"] is True
    assert tried["causes"][0]["conditions"][0]["values"] == ["id: acc-1001"]
    assert tried["reply"][:2] == ["Your account acc-1001 was locked.", "It is open again."]
    assert (tmp_path / "effects").read_text() == "looked for ada@acme.example\n"
    shown = desk("runbook", "try", str(page), "--text", "Ich bin ausgesperrt", "--from", "eve@evil.example")
    assert "not followed for this requester" in shown.out
    assert "unlock" not in (tmp_path / "effects").read_text()


@pytest.mark.parametrize(
    ("text", "change", "arguments", "why"),
    [
        ("How long do people stay locked out?", "- Do", {"account_id": "acc-1001"}, "the ticket only asks a question"),
        ("I am locked out", "- Treat it as a security matter.\n- Do", {"account_id": "acc-1001"}, "a security matter"),
        (
            "I am locked out",
            "- Do `unlock` for each account whose `note` is `x`.\n- Do",
            {},
            "none whose `note` is `x`",
        ),
    ],
)
def test_a_change_that_is_not_made_is_shown_with_the_reason(
    desk: Shell, tmp_path: Path, text: str, change: str, arguments: dict[str, str], why: str
) -> None:
    page = tmp_path / "good.md"
    page.write_text(GOOD.replace("- Do", change, 1))
    sent = ("--text", text, "--from", "ada@acme.example")
    tried = desk("runbook", "try", str(page), *sent, "--json").json()
    assert (tried["withheld"][0]["arguments"], why in tried["withheld"][0]["why"]) == (arguments, True)
    shown = desk("runbook", "try", str(page), *sent)
    assert f"not made: {tried['withheld'][0]['tool']}" in shown.out
    assert why in shown.out


def test_a_trial_names_the_runbook_that_an_investigation_would_follow(desk: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "runbooks"
    folder.mkdir()
    (folder / "locked.md").write_text(GOOD)
    assert desk("knowledge", "add", "book", "folder", str(folder)).code == 0
    page = tmp_path / "doors.md"
    page.write_text(GOOD.replace("locked out", "at the door").replace("Locked out", "Doors that stay shut"))
    sent = ("--text", "I am locked out", "--from", "ada@acme.example")
    tried = desk("runbook", "try", str(page), *sent, "--json").json()
    assert tried["live"] == {"this": False, "runbook": "Locked out", "page": "book/locked.md", "fit": 1.0}
    assert tried["fit"] < 0.3
    shown = desk("runbook", "try", str(page), *sent).out
    assert f"“Locked out” (book/locked.md), which fits 1.00; this one fits {tried['fit']:.2f}" in shown
    tried = desk("runbook", "try", str(folder / "locked.md"), *sent, "--json").json()
    assert tried["live"]["this"]
    assert "follows no runbook" in desk("runbook", "try", str(page), "--text", "x", "--from", "eve@evil.example").out


def test_a_consent_that_another_page_wants_is_asked_for_in_a_trial(desk: Shell, tmp_path: Path) -> None:
    page = tmp_path / "note.md"
    page.write_text(GOOD.replace("`unlock`", "`add_note`, `text`: `seen`"))
    sent = ("--text", "I am locked out", "--from", "ada@acme.example", "--json")
    (_, call) = desk("runbook", "try", str(page), *sent).json()["calls"]
    assert call["reason"].startswith("it would be done")
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "rules.md").write_text("# Notes\n\nUse `add_note` only after a colleague has read the file.\n")
    assert desk("knowledge", "add", "book", "folder", str(folder)).code == 0
    (_, call) = desk("runbook", "try", str(page), *sent).json()["calls"]
    assert call["reason"].startswith("a person would be asked first")


def test_a_ticket_can_be_tried_and_a_runbook_with_errors_cannot(desk: Shell, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(GOOD)
    add = ("ticket", "add", "Help", "I am locked out.", "--requester", "ada@acme.example", "--verified", "--id", "h-1")
    assert desk(*add).code == 0
    (row,) = desk("ticket", "list", "--json").json()
    tried = desk("runbook", "try", str(page), "--ticket", "h-1", "--json").json()
    assert [each["tool"] for each in tried["calls"]] == ["desk.find_account", "desk.unlock"]
    assert (tried["fit"], tried["withheld"]) == (1.0, [])
    assert desk("runbook", "try", str(page)).code == 2
    assert desk("runbook", "try", str(page), "--ticket", row["id"], "--from", "x@y.example").code == 2
    assert desk("runbook", "try", str(page), "--ticket", "nothing").code == 4
    page.write_text(BAD)
    refused = desk("runbook", "try", str(page), "--text", "locked out", "--from", "ada@acme.example")
    assert refused.code == 2
    assert "line 12: this sentence is not understood" in refused.err


def test_runbooks_of_the_knowledge_are_listed_with_their_state(desk: Shell, tmp_path: Path) -> None:
    assert "No runbooks yet" in desk("runbook", "list").err
    folder = tmp_path / "runbooks"
    folder.mkdir()
    (folder / "declared.md").write_text(GOOD)
    (folder / "recognised.md").write_text(GOOD.partition("---\n#")[2].join(["#", ""]))
    (folder / "errors.md").write_text(BAD)
    (folder / "undeclared-errors.md").write_text(BAD.partition("---\n#")[2].join(["#", ""]))
    (folder / "off.md").write_text(GOOD.replace("runbook: true", "runbook: false"))
    assert desk("knowledge", "add", "book", "folder", str(folder)).code == 0
    found = {each["page"]: each["state"] for each in desk("runbook", "list", "--json").json()}
    assert found == {
        "book/declared.md": "declared",
        "book/recognised.md": "recognised",
        "book/errors.md": "with errors",
    }


def test_a_draft_has_a_line_for_each_sentence_and_is_not_followed_before_it_is_worked_out(
    desk: Shell, tmp_path: Path
) -> None:
    page = tmp_path / "prose.md"
    page.write_text(
        "# Locked out\n\nFor people who cannot get in.\n\nFind them with `find_account`. Have a look around.\n\n"
        "If `id` is set, do `unlock`. Otherwise hand it to the night shift.\n"
    )
    drafted = desk("runbook", "draft", str(page))
    assert drafted.code == 0
    assert "1. Find them with `find_account`." in drafted.out
    assert "- TODO: Have a look around." in drafted.out
    page.write_text(drafted.out)
    checked = desk("runbook", "check", str(page))
    assert checked.code == 1
    assert "this is still to be written" in checked.out


@pytest.mark.parametrize(
    ("text", "code"),
    [(b"\xff\xfe", 2), (b"\x00" * 1000, 1), (b"x" * 3_000_000, 2), (b"", 1)],
    ids=["no text", "nuls", "huge", "empty"],
)
def test_files_that_are_no_runbooks_end_with_a_sentence(desk: Shell, tmp_path: Path, text: bytes, code: int) -> None:
    (tmp_path / "page.md").write_bytes(text)
    told = desk("runbook", "check", str(tmp_path / "page.md"))
    assert told.code == code
    assert "Traceback" not in told.err + told.out
    assert desk("runbook", "check", str(tmp_path / "missing.md")).code == 4
