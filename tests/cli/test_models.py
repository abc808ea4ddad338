"""Models, skills and usage from the command line."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.command import Shell
from tests.support.models.replies import Reply, Status, structured
from tests.support.models.scripted_vendors import KEY, ScriptedModels, scripted_models

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

TRIAGE = {"intent": "bug", "urgency": "low", "worth_investigating": True, "confidence": 0.5, "reasons": ["x"]}


@pytest.fixture
def vendors() -> Generator[ScriptedModels]:
    with scripted_models() as server:
        yield server


@pytest.fixture
def acme(shell: Shell) -> Shell:
    assert shell("workspace", "create", "acme", "--name", "Acme").code == 0
    return shell


@pytest.fixture
def with_model(acme: Shell, vendors: ScriptedModels) -> Shell:
    """One model for everything."""
    address = vendors.address("anthropic")
    routes = ["--route", "small=claude-test", "--route", "big=claude-test"]
    added = acme("model", "add", "anthropic", "--name", "mine", "--url", address, *routes, stdin=f"{KEY}\n")
    assert added.code == 0, added.err
    assert KEY not in added.out + added.err
    return acme


@pytest.mark.promise("G2")
def test_without_a_model_it_says_so_and_how_to_get_one(acme: Shell) -> None:
    assert "gaby model add" in acme("model", "list").err
    assert [each["model"] for each in acme("model", "list", "--json").json()] == ["local/wordllama"]
    assert acme("model", "accounts", "--json").json() == []
    assert "gaby model add" in acme("model", "test").err


@pytest.mark.promise("G1", "G3")
def test_a_model_is_added_listed_tried_and_removed(with_model: Shell) -> None:
    listed = {each["model"]: each for each in with_model("model", "list", "--json").json()}
    assert listed["mine/claude-test"]["used_for"] == ["big", "small"]
    assert "mine/claude-test" in with_model("model", "list").out
    [account] = with_model("model", "accounts", "--json").json()
    assert (account["name"], account["has_key"]) == ("mine", True)
    [tried] = with_model("model", "test", "--json").json()
    assert (tried["answers"], tried["message"]) == (True, "Fine.")
    assert with_model("model", "remove", "mine", "--yes").code == 0
    assert with_model("skill", "run", "triage", "--json").json()["source"] == "offline"


def test_a_model_that_does_not_answer_is_a_failure(with_model: Shell, vendors: ScriptedModels) -> None:
    vendors.say(Status(500))
    tried = with_model("model", "test", "mine/claude-test")
    assert tried.code == 1
    assert with_model("model", "test", "nobody/nothing").code == 1


def test_a_new_key_is_read_from_standard_input(with_model: Shell) -> None:
    assert with_model("model", "key", "mine", stdin="sk-wrong\n").code == 0
    assert with_model("model", "test").code == 1
    assert with_model("model", "key", "mine", stdin=f"{KEY}\n").code == 0
    assert with_model("model", "test").code == 0


@pytest.mark.promise("G3")
def test_routes_are_shown_changed_and_taken_back(with_model: Shell) -> None:
    shown = with_model("model", "route", "triage", "mine/claude-small-test, mine/claude-test", "--json").json()
    assert shown == [{"for": "triage", "chain": ["mine/claude-small-test", "mine/claude-test"]}]
    assert with_model("model", "route", "big", "offline", "--json").json() == [{"for": "big", "chain": ["offline"]}]
    assert with_model("model", "route", "triage", "usual", "--json").json() == []
    assert with_model("model", "route", "nonsense", "mine/x").code == 4
    assert "gaby model add" in with_model("model", "route", "big", "antropic/x").err
    assert with_model("model", "indexing", "--json").json() == []


@pytest.mark.parametrize(
    ("arguments", "stdin", "complaint"),
    [
        (("model", "add", "gipity"), "k\n", "no kind"),
        (("model", "add", "anthropic"), "", "needs a key"),
        (("model", "add", "compatible"), "", "needs the address"),
        (("model", "add", "anthropic", "-o", "colour=red"), "k\n", "no option"),
        (("model", "add", "anthropic", "-o", "colour"), "k\n", "NAME=VALUE"),
        (("model", "key", "nobody"), "k\n", "no model account"),
        (("model", "route", "big", "gpt"), None, "PROVIDER/MODEL"),
        (("model", "price", "mine/x", "lots"), None, "not an amount"),
        (("model", "price", "mine/x", "-1"), None, "price"),
        (("skill", "show", "juggle"), None, "no such skill"),
        (("skill", "run", "triage", "-i", "none.json"), None, "cannot be read"),
        (("usage", "limit"), None, "which limit"),
        (("usage", "limit", "--day-usd", "-5"), None, "day_usd"),
        (("usage", "limit", "--day-usd", "nan"), None, "day_usd"),
        (("usage", "limit", "--run-tokens", "1.5"), None, "run_tokens"),
        (("usage", "plan", "platinum"), None, "no plan"),
    ],
)
def test_wrong_input_gets_a_sentence(
    acme: Shell, arguments: tuple[str, ...], stdin: str | None, complaint: str
) -> None:
    ended = acme(*arguments, stdin=stdin)
    assert ended.code in {1, 2, 4}
    assert complaint in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.promise("G2")
def test_skills_are_listed_and_shown(shell: Shell) -> None:
    listed = shell("skill", "list", "--json").json()
    assert {"triage", "summarise", "plan"} <= {each["name"] for each in listed}
    shown = shell("skill", "show", "triage", "--json").json()
    assert shown["prompt"].startswith("{# version:")
    assert "intent" in shown["gives"]["properties"]
    assert "You sort the support tickets" in shell("skill", "show", "triage").out


def test_a_skill_runs_on_input_and_with_another_prompt(
    with_model: Shell, vendors: ScriptedModels, tmp_path: Path
) -> None:
    given = tmp_path / "ticket.json"
    given.write_text(json.dumps({"title": "Broken", "body": "Write to ada@lanternfish.example."}))
    prompt = tmp_path / "other.md.j2"
    prompt.write_text("{# version: 2 #}{% block system %}Hm.{% endblock %}{% block message %}{{ body }}{% endblock %}")
    vendors.say(structured(TRIAGE))
    ran = with_model("skill", "run", "triage", "-i", str(given), "--prompt", str(prompt), "--json").json()
    assert (ran["value"], ran["source"], ran["prompt"]["version"]) == (TRIAGE, "mine/claude-test", 2)
    sent = vendors.requests[-1].body.decode()
    assert "Hm." in sent
    assert "ada@" not in sent


def test_prose_is_shown_while_it_is_written(with_model: Shell, vendors: ScriptedModels) -> None:
    vendors.say(Reply("The account is locked [directory.find_user#1]."))
    ran = with_model("skill", "run", "summarise")
    assert ran.out.strip() == "The account is locked [directory.find_user#1]."
    assert "mine/claude-test" in ran.err


@pytest.mark.promise("B9", "G7")
def test_usage_adds_up_what_was_asked(with_model: Shell, vendors: ScriptedModels) -> None:
    assert "Nothing was asked" in with_model("usage").err
    assert with_model("model", "price", "mine/claude-test", "3", "15").code == 0
    vendors.say(structured(TRIAGE))
    ran = with_model("skill", "run", "triage", "--json").json()
    told = with_model("usage", "--by", "model", "--json").json()
    assert told["total"]["calls"] == 1
    assert told["total"]["usd"] == pytest.approx(ran["usd"])
    assert [line["name"] for line in told["lines"]] == ["mine/claude-test"]
    chart = with_model("usage").out
    assert "█" in chart
    assert "total" in chart
    [call] = with_model("usage", "calls", "--json").json()
    assert (call["skill"], call["state"]) == ("triage", "done")
    assert "triage" in with_model("usage", "calls").out


@pytest.mark.promise("G6", "B8")
def test_at_the_limit_the_command_says_so_and_spends_nothing(with_model: Shell, vendors: ScriptedModels) -> None:
    limits = with_model("usage", "limit", "--run-tokens", "10", "--day-usd", "5", "--json").json()
    assert (limits["run_tokens"], limits["day_usd"]) == (10, 5.0)
    ran = with_model("skill", "run", "triage")
    assert ran.code == 6
    assert "gaby usage limit" in ran.err
    assert vendors.requests == []
    assert with_model("usage", "limit", "--run-tokens", "usual", "--json").json()["run_tokens"] == 200_000
    assert with_model("usage", "plan", "free", "--json").json()["runs_per_month"] == 50
    assert with_model("usage", "limits", "--json").json()["tiers"] == ["small"]
    assert with_model("usage", "plan", "usual", "--json").json()["plan"] == "business"


@pytest.mark.promise("G11")
def test_what_a_model_was_asked_can_be_read_call_by_call(with_model: Shell, vendors: ScriptedModels) -> None:
    vendors.say(Reply("no JSON \x1b[2K\u202e at all"), structured(TRIAGE))
    assert with_model("skill", "run", "triage", "--json").code == 0
    run = with_model("usage", "calls", "--json").json()[0]["run_id"]
    first, second = with_model("runs", "trace", run, "--json").json()
    assert [first["number"], first["outcome"], second["outcome"]] == [1, "unacceptable", "answered"]
    listed = with_model("runs", "trace", run)
    assert "unacceptable" in listed.out
    shown = with_model("runs", "trace", run, "--call", "1")
    assert shown.code == 0
    assert "\x1b[2K" not in shown.out
    assert "no JSON \\x1b[2K\\u202e at all" in shown.out
    for heading in ("call 1: triage by mine/claude-test, unacceptable", "system", "message 1, user", "what was wrong"):
        assert f"\n{heading}\n" in f"\n{shown.out}"
    told = with_model("runs", "trace", run, "--call", "2", "--json").json()
    assert told["prompt"]["messages"][-1]["text"].startswith("Your answer cannot be used")
    assert json.loads(told["answer"]["text"]) == TRIAGE
    assert with_model("runs", "trace", run, "--call", "3").code != 0
    assert "No model was asked" in with_model("runs", "trace", "0192ab34-0000-7000-8000-000000000000").err
