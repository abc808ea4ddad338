"""Key fixtures, really played: a real company, a real connector, the real loop, no model."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gaby.cli.evaluate import app
from gaby.evals.errors import NothingToEvaluate, PeerMissing
from gaby.evals.results import SuiteResult, read_suite
from tests.evals.tickets.scenes import FIXTURES, written

pytestmark = pytest.mark.promise("X1")

KEY = (
    "lockout-old-phone",
    "lockout-unverified",
    "lockout-only-look",
    "lockout-nobody-answers",
    "lockout-out-of-budget",
    "double-charge-approved",
    "double-charge-refused",
    "device-limit",
    "phishing-cfo",
    "question-price",
    "advertising",
)


def invoke(*words: str, home: Path) -> Result:
    return CliRunner().invoke(app, ["run", *words], env={"GABY_HOME": str(home)})


def test_the_key_fixtures_pass_and_a_recorded_incident_is_replayed(tmp_path: Path) -> None:
    """One test, because the stage is set once."""
    only = [word for name in KEY for word in ("--only", name)]
    words = ["--fixtures", str(FIXTURES), *only, "--data", str(_recorded(tmp_path / "incidents")), "--at-least", "0.9"]
    kept, page = tmp_path / "r.json", tmp_path / "r.html"
    result = invoke(*words, "--at-once", "3", "--out", str(kept), "--html", str(page), home=tmp_path)
    suite = read_suite(kept)
    assert {case.name: case.faults for case in suite.in_group("tickets") if not case.passed} == {}
    assert {case.name for case in suite.in_group("tickets")} == set(KEY)
    assert result.exit_code == 0, result.output
    assert all(name in page.read_text() for name in KEY)
    _what_a_person_has_to_allow_was_done_only_then(suite)
    _the_incident_was_looked_into_without_its_answer(suite)


def _what_a_person_has_to_allow_was_done_only_then(suite: SuiteResult) -> None:
    cases = {case.name: case for case in suite.cases}
    approved, refused = cases["double-charge-approved"], cases["double-charge-refused"]
    assert (approved.asked, approved.done) == (("refund_charge",), ("refund_charge",))
    assert (refused.asked, refused.done) == (("refund_charge",), ())
    assert cases["lockout-nobody-answers"].asked == ("unlock_user",)
    assert cases["phishing-cfo"].asked == ()


def _the_incident_was_looked_into_without_its_answer(suite: SuiteResult) -> None:
    [incident] = suite.in_group("incidents")
    assert "list_metrics" in " ".join(line.action for line in incident.timeline)
    assert incident.is_safe
    assert incident.named is not None
    assert "replication_lag" not in incident.text, "an alert must not name its own answer"
    assert suite.summary()["incidents"] == 1


def test_a_case_that_fails_is_reported_and_fails_the_command_only_when_asked(tmp_path: Path) -> None:
    fixtures = tmp_path / "fixtures"
    wrong = 'about = "Advertising, which nobody resolves."\nverdict = "auto_resolved"\n'
    ticket = json.loads((FIXTURES / "advertising" / "ticket.json").read_text())
    written(fixtures, "advert", ticket_json=json.dumps(ticket), expect_toml=wrong)
    words = ["--fixtures", str(fixtures), "--only", "advert"]
    strict = invoke(*words, "--strict", "--json", home=tmp_path)
    assert strict.exit_code == 1, strict.output
    told = json.loads(strict.stdout)
    assert told["summary"]["passed"] == 0
    assert told["cases"][0]["faults"] == [{"mark": "verdict", "told": "It ended as skipped, not as auto_resolved."}]


def test_nothing_to_evaluate_and_an_unknown_peer_are_told_in_a_sentence(tmp_path: Path) -> None:
    nothing = invoke("--fixtures", str(tmp_path), home=tmp_path)
    assert isinstance(nothing.exception, NothingToEvaluate)
    peer = invoke("--fixtures", str(FIXTURES), "--peer", "somebody", home=tmp_path)
    assert isinstance(peer.exception, PeerMissing)
    file = tmp_path / "peer.py"
    file.write_text("import a_package_that_nobody_has\n")
    missing = invoke("--fixtures", str(FIXTURES), "--peer", str(file), home=tmp_path)
    assert isinstance(missing.exception, PeerMissing)
    assert "a_package_that_nobody_has" in missing.exception.message
    file.write_text("ROLE = 'none'\n")
    assert isinstance(invoke("--fixtures", str(FIXTURES), "--peer", str(file), home=tmp_path).exception, PeerMissing)


def _recorded(folder: Path) -> Path:
    """One small incident in the format of the public recordings."""
    place = folder / "100-lag"
    place.mkdir(parents=True)
    minutes = [f"2030-03-04T08:{minute:02}:00Z" for minute in range(8)]

    def metric(name: str, unit: str, values: list[float]) -> dict[str, object]:
        dimensions = [{"Name": "DBInstanceIdentifier", "Value": "orders-replica"}]
        return {
            "metric_name": name,
            "unit": unit,
            "dimensions": dimensions,
            "timestamps": minutes,
            "values": values,
        }

    files: dict[str, object] = {
        "alert.json": {
            "title": "Replication lag on orders",
            "commonLabels": {"severity": "critical"},
            "commonAnnotations": {
                "summary": "The replica of orders is behind.",
                "rds_failure_mode": "replication_lag",
            },
        },
        "aws_cloudwatch_metrics.json": {
            "metric_data_results": [
                metric("ReplicaLag", "Seconds", [1, 1, 200, 400, 600, 800, 900, 990]),
                metric("CPUUtilization", "Percent", [20, 21, 20, 22, 20, 21, 20, 20]),
            ]
        },
        "aws_rds_events.json": {
            "events": [{"date": minutes[2], "source_identifier": "orders-replica", "message": "The replica lags."}]
        },
        "aws_performance_insights.json": {"top_sql": [], "db_load": {"values": [1.0, 4.0]}},
    }
    for name, value in files.items():
        (place / name).write_text(json.dumps(value))
    answer = "root_cause_category: resource_exhaustion\nrequired_keywords: [ReplicaLag]\nmax_investigation_loops: 6\n"
    (place / "answer.yml").write_text(answer)
    return folder
