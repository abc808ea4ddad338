"""What strangers wrote is shown as it is: nothing in it moves the cursor, hides, or passes for a line of Gaby's."""

import ast
import json
import unicodedata
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gaby.cli
from gaby.cli import approvals, output
from gaby.cli.approvals import _print_argument  # pyright: ignore[reportPrivateUsage]
from gaby.cli.console import SafeConsole
from gaby.kernel.ids import ApprovalId, RunId
from gaby.tools.approval_schemas import ApprovalDetailOut, ConcernOut

pytestmark = pytest.mark.promise("S6", "W2")

HOSTILE = {
    "\x1b[2K\x1b[1A": "\\x1b[2K\\x1b[1A",
    "\x1b]8;;https://evil.example\x07": "\\x1b]8;;https://evil.example\\x07",
    "\x9b31m": "\\x9b31m",
    "a\rb": "a\\rb",
    "a\x08b": "a\\x08b",
    "\u202egpj.exe": "\\u202egpj.exe",
    "\u2066x\u2069": "\\u2066x\\u2069",
    "pay\u200bpal": "pay\\u200bpal",
    "a\u2060b\ufeffc\u00add": "a\\u2060b\\ufeffc\\xadd",
    "\U000e0041\U000e0042": "\\U000e0041\\U000e0042",
    "\u3164\u115f\uffa0\u2800": "\\u3164\\u115f\\uffa0\\u2800",
    "\ufe00\U000e0100": "\\ufe00\\U000e0100",
    "a\u2028b\u2029c\x85d": "a\\u2028b\\u2029c\\x85d",
    "\ud800": "\\ud800",
    "\ue000": "\\ue000",
    "\x00\x7f": "\\x00\\x7f",
    "x\x0by\x0cz": "x\\x0by\\x0cz",
}
FINE = "Bjørn paid 5\u00a0€ 😀 ❤️ 日本 العربية"


@pytest.mark.parametrize("text", HOSTILE)
def test_every_way_to_print_shows_the_escape(capsys: pytest.CaptureFixture[str], text: str) -> None:
    shown = HOSTILE[text]
    output.echo(f"<{text}>")
    output.secho(f"<{text}>", bold=False, err=True)
    console = SafeConsole(width=200)
    console.print(f"[bold]<{text}>[/bold]", highlight=False)
    output.print_rows([{"why": f"<{text}>"}], as_json=False, empty="")
    output.print_rows([], as_json=False, empty=f"<{text}>")
    out, err = capsys.readouterr()
    assert (out.count(f"<{shown}>"), err.count(f"<{shown}>")) == (3, 2)


def test_ordinary_writing_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    output.echo(FINE)
    assert capsys.readouterr().out == f"{FINE}\n"
    assert output.one_line(FINE) == FINE


def test_a_text_that_must_stay_in_its_line_does() -> None:
    assert output.one_line("fine\nApproved by ada") == "fine\\nApproved by ada"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.recursive(st.text(max_size=20), lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner)))
def test_json_means_the_same_and_shows_everything(capsys: pytest.CaptureFixture[str], value: object) -> None:
    output.print_json(value)
    out = capsys.readouterr().out
    assert json.loads(out) == value
    assert not [
        each for each in out if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") and each != "\n"
    ]


def detail(**changes: object) -> ApprovalDetailOut:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    bad = "\x1b[8m\nhidden\u202e"
    told = {
        "id": ApprovalId(UUID(int=1)),
        "run_id": RunId(UUID(int=2)),
        "tool": f"desk.close{bad}",
        "state": "waiting",
        "dangerous": True,
        "arguments": {},
        "concerns": [ConcernOut.model_validate(CONCERN)],
        "preview": {"text": bad},
        "why": bad,
        "requested_by": f"run{bad}",
        "requested_at": now,
        "expires_at": now + timedelta(days=1),
        "decided_by": f"ada{bad}",
        "decided_at": now,
        "answer": f"no{bad}",
        "modified": False,
        "effect": "",
        "ticket": "",
        "requester": "",
        "requester_verified": False,
        "owners": [],
        "step_id": None,
        "real_arguments": {f"name{bad}": f"value{bad}", "long": "x" * 5000},
    }
    return ApprovalDetailOut.model_validate(told | changes)


CONCERN = {
    "rule": "r",
    "argument": "a\x1b[8m\nhidden",
    "reason": "because\x1b[8m\nhidden",
    "quotes": [{"source": "ticket\x1b[8m\nhidden", "excerpt": "said\x1b[8m\nhidden"}],
}


def test_an_approval_is_shown_whole_and_in_its_own_lines(capsys: pytest.CaptureFixture[str]) -> None:
    approvals.print_approval(detail())
    out = capsys.readouterr().out
    assert "\x1b" not in out.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert "\u202e" not in out
    # A value of several lines has each behind a bar.
    assert "    | hidden" in out
    assert out.count("\\x1b[8m\\nhidden") + out.count("\\u001b[8m\\nhidden") == 10
    assert "x" * 5000 in out
    # One line for each thing that is told, whatever stands in it.
    assert not [line for line in out.splitlines() if line.startswith("hidden")]


def test_what_the_approval_is_about_is_shown_where_it_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    about = detail(
        ticket="T-1: Locked\x1b[8m out",
        requester="ann@client.example",
        effect="crm.close: Close an account",
        owners=[{"argument": "id", "value": "7\x1b[8m", "behind": "only seen in the ticket"}],
    )
    approvals.print_approval(about)
    lines = capsys.readouterr().out.splitlines()
    assert "Ticket: T-1: Locked\\x1b[8m out" in lines
    assert "Requester: ann@client.example (not verified)" in lines
    assert "  id 7\\x1b[8m: only seen in the ticket" in lines
    assert "What will happen: crm.close: Close an account" in lines


OTHERS = {"output.py"}


def test_commands_print_in_this_way_alone() -> None:
    found: list[str] = []
    for path in sorted(Path(gaby.cli.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and path.name not in OTHERS:
                called = ast.unparse(node.func)
                if called in ("typer.echo", "typer.secho", "print", "Console", "sys.stdout.write", "rich.print"):
                    found.append(f"{path.name}:{node.lineno} {called}")
    assert found == []


@pytest.mark.promise("S6")
@pytest.mark.parametrize("width", [80, 120])
def test_a_list_of_approvals_names_ticket_and_requester_and_breaks_no_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    ann = detail(
        id=UUID(int=1),
        tool="shop.refund_order",
        ticket="T-1042",
        requester="ann@client.example",
        requester_verified=True,
        concerns=[],
        why="The order came twice, " + "and was sent back, " * 20,
    )
    bob = detail(id=UUID(int=2), tool="desk.reply", ticket="T" * 90, requester="bob@client.example")
    shortened = {ann.id: "019a8f3c1b2d", bob.id: "019a8f3c1b3e"}
    now = ann.requested_at + timedelta(hours=3, minutes=5)
    approvals.print_approvals([ann, bob], shortened, now=now, with_state=False)
    heading, *lines = capsys.readouterr().out.splitlines()
    assert [word for word in ("approval", "ticket", "requester", "tool", "age") if word not in heading] == []
    assert lines[0].split() == ["019a8f3c1b2d", "T-1042", "ann@client.example", "shop.refund_order", "3h"]
    assert lines[1].startswith("  The order came twice, and was sent back")
    assert lines[1].endswith("…")
    assert len(lines[1]) <= width
    assert lines[2].split()[:3] == ["019a8f3c1b3e", f"{'T' * (width * 4 // 25 - 1)}…", "bob@client.example"]
    assert lines[3].startswith("  The requester is not verified. because")
    assert max(map(len, [heading, *lines])) <= width


@pytest.mark.promise("S6")
def test_look_alike_letters_in_an_approval_are_pointed_out(capsys: pytest.CaptureFixture[str]) -> None:
    deceiving = {"account_id": "\u0430cc-1001", "n\u043ete": "fine", "plain": "acc-1001"}
    approvals.print_approval(detail(requester="\u0430nn@client.example", real_arguments=deceiving))
    warned = [line for line in capsys.readouterr().out.splitlines() if "Careful, look-alike letters in" in line]
    assert [line.partition(" in ")[2].partition(":")[0] for line in warned] == [
        "the requester",
        "account_id",
        "the name of this argument",
    ]
    assert all("Cyrillic" in line for line in warned)


def test_a_text_of_several_lines_is_shown_line_by_line_and_none_passes_for_ours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _print_argument("body", "Dear Ada,\n\nRequester: eve@evil.example (verified)\x1b[2J\nGaby")
    assert capsys.readouterr().out.splitlines() == [
        "  body:",
        "    | Dear Ada,",
        "    | ",
        "    | Requester: eve@evil.example (verified)\\x1b[2J",
        "    | Gaby",
    ]
