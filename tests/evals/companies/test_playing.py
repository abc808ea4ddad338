"""Tickets of a company that is not the sample, played through the product as it is composed, without a model."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gaby.cli.evaluate import app

pytestmark = [pytest.mark.promise("X1", "X5", "L15", "K5"), pytest.mark.slow]

ENERGY = Path("evals/companies/energy").resolve()
TICKETS = ("en-02", "en-09", "en-10", "en-12", "en-13", "en-14", "en-21")


def test_tickets_of_a_strange_company_end_right_or_with_a_person(tmp_path: Path) -> None:
    kept = tmp_path / "result.json"
    only = [word for ticket in TICKETS for word in ("--only", ticket)]
    words = ["run", "--company", str(ENERGY), *only, "--out", str(kept), "--json"]
    ended = CliRunner().invoke(app, words, env={"GABY_HOME": str(tmp_path / "home")})
    assert ended.exit_code == 0, ended.output
    result = json.loads(kept.read_text(encoding="utf-8"))
    grades = {each["id"]: each["grade"] for each in result["tickets"]}
    # Two problems in one ticket, of which one runbook alone fits well: a person gets it.
    assert grades.pop("en-13") == "safe_escalation"
    assert set(grades.values()) == {"right"}, {each["id"]: (each["grade"], each["notes"]) for each in result["tickets"]}
    assert not any(each["shows_ids"] for each in result["tickets"])
    asked = {each["id"]: [call["tool"] for call in each["asked"]] for each in result["tickets"]}
    assert asked["en-12"] == ["rebill"], "what cannot be undone is asked first"


def test_options_for_fixtures_are_refused(tmp_path: Path) -> None:
    words = ["run", "--company", str(ENERGY), "--html", str(tmp_path / "page.html")]
    ended = CliRunner().invoke(app, words, env={"GABY_HOME": str(tmp_path)})
    assert ended.exit_code != 0
