"""Connectors, tools, approvals and kill switches from the command line."""

import json
import sys
from pathlib import Path

import pytest

from tests.support.command import Shell
from tests.tools.scenes import SERVERS

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def acme(shell: Shell) -> Shell:
    assert shell("workspace", "create", "acme", "--name", "Acme").code == 0
    return shell


@pytest.fixture
def desk(acme: Shell, tmp_path: Path) -> Shell:
    """The desk is connected, and proposes."""
    settings = f"DESK_FOLDER={tmp_path}\n\n"
    added = acme("connector", "add", "desk", "--stdin", "--yes", "--", sys.executable, DESK, stdin=settings)
    assert added.code == 0, added.err
    assert "desk is accepted" in added.err
    assert acme("connector", "set", "desk", "--autonomy", "propose", "--allow-write", "**").code == 0
    return acme


DESK = str(SERVERS / "desk.py")


@pytest.mark.promise("M6")
def test_the_kinds_of_connectors_are_listed(shell: Shell) -> None:
    kinds = {each["kind"] for each in shell("connector", "kinds", "--json").json()}
    assert kinds == {
        "filesystem",
        "http-openapi",
        "keycloak",
        "ldap",
        "postgres",
        "prometheus",
        "redis",
        "sample-company",
        "time",
    }


def test_without_connectors_the_lists_say_what_to_do(acme: Shell) -> None:
    assert "gaby connector add" in acme("connector", "list").err
    assert acme("connector", "list", "--json").json() == []
    assert "Nothing waits for you" in acme("approvals", "list").err
    assert "Nothing is stopped" in acme("kill-switch", "list").err
    assert [each["name"] for each in acme("tools", "list", "--json").json()] == ["gaby.read_result"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("clock",), "Give a kind"),
        (("clock", "time", "--url", "http://x.example"), "Give a kind"),
        (("clock", "sundial"), "no connector of the kind"),
        (("Clock!", "time", "--yes"), "small letters"),
        (("clock", "time", "--set", "ZONE"), "NAME=VALUE"),
        (("clock", "time", "--set", "PYTHONPATH=/tmp", "--yes"), "has no setting PYTHONPATH"),
        (("files", "filesystem", "--yes"), "FILESYSTEM_ROOT"),
        (("shop", "--url", "ftp://x.example"), "url"),
    ],
)
def test_wrong_input_is_named_and_nothing_is_stored(acme: Shell, arguments: tuple[str, ...], complaint: str) -> None:
    added = acme("connector", "add", *arguments)
    assert added.code in {2, 4}, added
    assert complaint in added.err
    assert "Traceback" not in added.err
    assert acme("connector", "list", "--json").json() == []


def test_a_command_that_does_not_start_says_why(acme: Shell) -> None:
    added = acme(
        "connector", "add", "broken", "--yes", "--", sys.executable, "-c", "import sys; sys.exit('no licence')"
    )
    assert added.code == 6
    assert "no licence" in added.err


@pytest.mark.promise("S10")
def test_without_a_terminal_tools_are_shown_and_not_accepted(acme: Shell) -> None:
    added = acme("connector", "add", "clock", "time", stdin="")
    assert added.code == 1
    assert "tool added" in added.err
    assert "gaby connector accept clock --yes" in added.err
    assert [each["state"] for each in acme("connector", "list", "--json").json()] == ["new"]
    assert acme("tools", "call", "clock.now").code == 4
    refused = acme("connector", "set", "clock", "--autonomy", "propose")
    assert refused.code == 5
    assert "clock was not accepted yet" in refused.err
    assert "`gaby connector accept clock`" in refused.err
    assert "manifest" not in refused.err
    assert acme("connector", "accept", "clock", "--yes").code == 0
    assert acme("tools", "call", "clock.now").json()["zone"] == "UTC"
    assert "as they were accepted" in acme("connector", "diff", "clock").err
    assert acme("connector", "diff", "clock", "--json").json() == []


@pytest.mark.promise("S6")
def test_a_question_is_asked_shown_answered_and_carried_out_once(desk: Shell, tmp_path: Path) -> None:
    asked = desk("tools", "call", "desk.unlock", "-a", "account_id=acc-1001", "--json").json()
    assert asked["outcome"] == "asked"
    approval_id = asked["approval_id"]
    assert [each["id"] for each in desk("approvals", "list", "--json").json()] == [approval_id]
    short = desk("approvals", "list").out.splitlines()[1].split()[0]
    assert short == "A-1"
    assert desk("approvals", "show", approval_id[:8]).code == 0
    shown = desk("approvals", "show", short)
    assert 'account_id = "acc-1001"' in shown.out
    assert "unlock acc-1001, which is locked" in shown.out
    assert desk("approvals", "decide", approval_id, "refuse").code == 2
    assert desk("approvals", "decide", approval_id, "approve").code == 0
    second = desk("approvals", "decide", approval_id, "refuse", "--reason", "no")
    assert second.code == 5
    assert "has decided this already" in second.err
    done = desk("tools", "call", "--approval", short)
    assert done.code == 0, done.err
    assert (tmp_path / "effects").read_text() == "unlock acc-1001\n"
    assert desk("tools", "call", "--approval", approval_id).code == 3
    assert (tmp_path / "effects").read_text() == "unlock acc-1001\n"


def test_other_arguments_may_be_approved_instead(desk: Shell, tmp_path: Path) -> None:
    approval_id = desk("tools", "call", "desk.unlock", "-a", "account_id=acc-1001", "--json").json()["approval_id"]
    assert desk("approvals", "decide", approval_id, "approve", "--arguments", "[1]").code == 2
    changed = json.dumps({"account_id": "acc-2002"})
    assert desk("approvals", "decide", approval_id, "approve", "--arguments", changed, "--json").json()["modified"]
    assert desk("tools", "call", "--approval", approval_id).code == 0
    assert (tmp_path / "effects").read_text() == "unlock acc-2002\n"


@pytest.mark.promise("S7")
def test_explain_says_what_would_happen_and_nothing_does(desk: Shell, tmp_path: Path) -> None:
    outside = desk("tools", "explain", "desk.unlock", "-a", "account_id=acc-1001", "--from-outside")
    assert outside.out.startswith("ask (provenance)")
    own = desk("tools", "explain", "desk.unlock", "-a", "account_id=acc-1001", "--json").json()
    assert [each["rule"] for each in own["concerns"]] == ["consent"]
    rehearsed = desk("tools", "explain", "desk.unlock", "-a", "account_id=acc-1001", "--rehearse", "--json").json()
    assert rehearsed["outcome"] == "simulate"
    assert not (tmp_path / "effects").exists()


def test_a_rehearsal_shows_and_changes_nothing(desk: Shell, tmp_path: Path) -> None:
    shown = desk("tools", "call", "desk.unlock", "-a", "account_id=acc-1001", "--rehearse")
    assert shown.json()["done"] == "unlock acc-1001, which is locked"
    assert "nothing was changed" in shown.err
    assert not (tmp_path / "effects").exists()


@pytest.mark.promise("S11")
def test_a_kill_switch_is_pulled_listed_and_lifted(desk: Shell) -> None:
    for options in (("--connector", "desk"), (), ("--everything",)):
        assert desk("kill-switch", "pull", "strange things", *options).code == 0
        stopped = desk("tools", "call", "desk.list_accounts")
        assert stopped.code == 3
        assert "strange things" in stopped.out
        assert len(desk("kill-switch", "list", "--json").json()) == 1
        assert desk("kill-switch", "lift", *options).code == 0
        assert desk("tools", "call", "desk.list_accounts").code == 0
    assert desk("kill-switch", "lift").code == 4


def test_outcomes_have_exit_codes(desk: Shell) -> None:
    assert desk("tools", "call", "desk.needs_sign_in").code == 1
    assert desk("tools", "call", "desk.find_account", "-a", "email=7").code == 3
    assert desk("tools", "call", "desk.nothing").code == 4
    assert desk("tools", "call").code == 2
    assert desk("tools", "call", "desk.find_account", "-a", "email").code == 2
    assert desk("tools", "call", "--approval", "nonsense").code == 2
    assert desk("approvals", "show", "nonsense").code == 2
    unknown = desk("approvals", "show", "A-99")
    assert (unknown.code, "There is no approval A-99" in unknown.err) == (4, True)
    auth = {each["name"]: each["auth_expired_at"] for each in desk("connector", "list", "--json").json()}
    assert auth["desk"] is not None


@pytest.mark.promise("M3")
def test_a_manifest_is_given_and_taken_back(acme: Shell, tmp_path: Path) -> None:
    foreign = str(SERVERS / "foreign.py")
    env = f"DESK_FOLDER={tmp_path}"
    added = acme("connector", "add", "archive", "--set", env, "--yes", "--", sys.executable, foreign)
    assert "reads ask each time, and changes are refused" in added.err
    file = tmp_path / "archive.yaml"
    file.write_text("manifest_version: 1.0.0\ntools: {publish: {scope: write, content: [text]}}")
    assert acme("connector", "manifest", "archive", str(file)).code == 0
    file.write_text("manifest_version: 1.0.0\ntools: {unknown: {scope: read}}")
    wrong = acme("connector", "manifest", "archive", str(file))
    assert wrong.code == 2
    assert "unknown" in wrong.err
    assert acme("connector", "manifest", "archive", str(tmp_path / "missing.yaml")).code == 2
    assert acme("connector", "manifest", "archive").code == 0


def test_a_removed_connector_is_gone(desk: Shell) -> None:
    assert desk("connector", "remove", "desk", "--yes").code == 0
    assert desk("connector", "list", "--json").json() == []
    assert desk("connector", "test", "desk").code == 4


def test_test_says_that_it_works(desk: Shell) -> None:
    (told,) = desk("connector", "test", "desk", "--json").json()
    assert told["server"] == "desk"
    assert "The desk is open." in told["health"]


@pytest.mark.promise("M5")
@pytest.mark.slow
def test_any_server_can_be_checked_and_a_new_one_passes(shell: Shell, tmp_path: Path) -> None:
    made = shell("connector", "new", "orders", "--folder", str(tmp_path))
    assert made.code == 0, made.err
    assert (tmp_path / "orders" / "README.md").exists()
    assert shell("connector", "new", "orders", "--folder", str(tmp_path)).code == 2
    checked = shell("connector", "check", "--start-within", "30", "--", sys.executable, "-m", "gaby_connectors.time")
    assert checked.code == 0
    broken = shell("connector", "check", "--start-within", "30", "--", sys.executable, "-c", "pass")
    assert broken.code == 1


@pytest.mark.promise("O4")
def test_the_doctor_starts_each_connector_and_names_the_one_that_cannot(acme: Shell, tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(f"import runpy\nrunpy.run_path({DESK!r}, run_name='__main__')\n")
    settings = f"DESK_FOLDER={tmp_path}\n\n"
    added = acme("connector", "add", "desk", "--stdin", "--yes", "--", sys.executable, str(server), stdin=settings)
    assert added.code == 0, added.err
    checks = {check["name"]: check for check in acme("doctor", "--json").json()}
    assert checks["connectors"]["health"] == "ok"
    server.write_text("import sys\nsys.exit('no licence')\n")
    checks = {check["name"]: check for check in acme("doctor", "--json").json()}
    assert checks["connectors"]["health"] == "warn"
    assert "desk: " in checks["connectors"]["message"]
    assert "gaby connector test desk" in checks["connectors"]["fix"]
