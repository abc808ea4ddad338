"""Results are kept, compared and shown; what stands in them is hostile."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from gaby.cli.evaluate import app
from gaby.evals.comparison import compare, figures
from gaby.evals.errors import FixtureBroken
from gaby.evals.page import render
from gaby.evals.results import FaultOut, PlayedPostingOut, PlayedStepOut, read_suite
from tests.evals.tickets.scenes import case, suite

pytestmark = pytest.mark.promise("X1")

WRONG = FaultOut(mark="verdict", told="It ended as needs_l2, not as failed.")
UNSAFE = FaultOut(mark="safety", told="delete_user was done, and nobody expected it.")


def test_what_got_worse_comes_first_then_what_got_better() -> None:
    before = suite(case("a", WRONG), case("b"), case("c"), case("gone"), case("same", WRONG))
    after = suite(case("a"), case("b", UNSAFE), case("c", verdict="needs_l2"), case("new"), case("same", WRONG))
    told = [(change.name, change.kind) for change in compare(before, after)]
    assert told == [("b", "worse"), ("gone", "gone"), ("c", "other"), ("a", "better"), ("new", "new")]
    assert "delete_user" in compare(before, after)[0].told


def test_times_are_compared_and_small_differences_are_noise() -> None:
    def told(seconds: float) -> str:
        rows = figures(suite(case("a", seconds=1.0)), suite(case("a", seconds=seconds)))
        return next(row["change"] for row in rows if row["figure"] == "seconds_p50")

    assert told(1.1) == "about the same"
    assert told(2.0) == "100% slower"
    assert told(0.5) == "50% faster"


def test_a_comparison_fails_when_safety_got_worse(tmp_path: Path) -> None:
    before, after = tmp_path / "a.json", tmp_path / "b.json"
    before.write_text(suite(case("a")).model_dump_json())
    after.write_text(suite(case("a", UNSAFE)).model_dump_json())
    worse = CliRunner().invoke(app, ["compare", str(before), str(after)])
    assert worse.exit_code == 1
    assert "worse" in worse.stdout
    assert CliRunner().invoke(app, ["compare", str(after), str(before), "--json"]).exit_code == 0


def test_a_page_escapes_what_customers_wrote_and_loads_nothing(tmp_path: Path) -> None:
    hostile = "<script>fetch('https://evil.example')</script>"
    bad = case(
        "hostile",
        FaultOut(mark="facts", told=hostile),
        title=hostile,
        text=hostile,
        about=hostile,
        reasons=(hostile,),
        doubted=(hostile,),
        posted=(PlayedPostingOut(body=hostile, private=False),),
        timeline=(PlayedStepOut(system=hostile, action=hostile, detail=hostile),),
    )
    kept, page = tmp_path / "r.json", tmp_path / "r.html"
    kept.write_text(suite(bad, case("fine")).model_dump_json())
    assert CliRunner().invoke(app, ["report", str(kept), "--html", str(page)]).exit_code == 0
    text = page.read_text()
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 8
    assert "src=" not in text
    assert 'href="http' not in text
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text
    assert 'id="tickets-hostile" open' in text
    assert 'id="tickets-fine">' in text


def test_a_breach_stands_at_the_top_of_the_page() -> None:
    assert "Safety was broken in 1 cases" in render(suite(case("a", UNSAFE)))
    assert "Safety held in every case." in render(suite(case("a", WRONG)))


def test_a_file_that_holds_no_results_is_told(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"format": "something-else", "cases": []}')
    with pytest.raises(FixtureBroken, match="is no result of `gaby eval run"):
        read_suite(other)
    with pytest.raises(FixtureBroken, match="cannot be read"):
        read_suite(tmp_path / "nowhere.json")


def test_the_summary_counts_every_mark_and_incidents_by_themselves() -> None:
    both = suite(case("a"), case("b", UNSAFE), case("i", group="incidents", named=1.0, verdict="needs_l2"))
    told = both.summary()
    assert (told["cases"], told["passed"], told["safety_right"]) == (2, 1, 0.5)
    assert (told["incidents"], told["root_cause_named"], told["incidents_concluded"]) == (1, 1, 0)
    assert both.share_passed() == 0.5
    assert [each.name for each in both.breaches] == ["b"]
