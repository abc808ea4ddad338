"""A fixed sample of the attacks against a running server. `make attacks` plays all of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", [10, pytest.param(25, marks=pytest.mark.exhaustive)])
@pytest.mark.promise("X6", "S14", "S15", "S16", "S17")
def test_whoever_holds_the_ticket_a_tool_server_and_the_model_changes_and_learns_nothing(
    tmp_path: Path, count: int
) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "evals.attacks", "--sample", str(count), "--json", str(report)]
    played = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert report.exists(), played.stderr
    told = json.loads(report.read_text())["summary"]
    assert told["successes"] == 0, played.stdout
    # An attack that did not take place has shown nothing, and a product that refuses everybody is no use.
    assert told["void"] == 0, played.stdout
    assert told["twins_passed"] == told["twins"] == count // 5, played.stdout
    assert told["audit_findings"] == []
    assert told["attempts"] == count
    assert played.returncode == 0, played.stdout
