"""The chaos is worth something only if it finds what it is meant to find: six bugs, planted in the real commands."""

from pathlib import Path

import pytest

from tests.chaos.product import PATIENCE, Outside, Product, running_product
from tests.chaos.scenarios import PLANTED, SCENARIOS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200), pytest.mark.xdist_group("chaos")]
_QUICK = ("log_is_not_asked", "reply_is_sent_again", "killed_runs_are_blamed")


@pytest.mark.promise("X4")
@pytest.mark.parametrize(
    "bug", [pytest.param(bug, marks=() if bug in _QUICK else pytest.mark.exhaustive) for bug in PLANTED]
)
def test_a_planted_bug_is_found(bug: str, template: Product, outside: Outside, tmp_path: Path) -> None:
    planted = PLANTED[bug]
    scenario = SCENARIOS[planted.scenario]
    with running_product(
        "sqlite", tmp_path, outside, bug=bug, settings=scenario.settings, template=template
    ) as product:
        broken = scenario.act(product, planted.patience)
    assert any(each.startswith(planted.invariant) for each in broken), broken


@pytest.mark.promise("L6", "Q6", "T6", "X4")
def test_without_a_bug_a_kill_at_the_worst_moment_breaks_nothing(
    template: Product, outside: Outside, tmp_path: Path
) -> None:
    """In the middle of an effect, in the middle of a reply, and three times in a row."""
    with running_product("sqlite", tmp_path, outside, template=template) as product:
        for name in ("killed_in_effect", "killed_in_reply", "killed_three_times"):
            assert SCENARIOS[name].act(product, PATIENCE) == [], name


@pytest.mark.exhaustive
@pytest.mark.promise("L5", "L6", "Q6", "X4")
@pytest.mark.parametrize(
    "name",
    ["budget_spent_in_effect", "leader_killed", "killed_again_and_again", "clock_corrected_after_kill"],
)
def test_without_a_bug_nothing_is_broken(name: str, template: Product, outside: Outside, tmp_path: Path) -> None:
    scenario = SCENARIOS[name]
    with running_product("sqlite", tmp_path, outside, settings=scenario.settings, template=template) as product:
        assert scenario.act(product, PATIENCE) == []


@pytest.mark.exhaustive
@pytest.mark.promise("L6", "Q3", "Q6", "T6", "X4")
def test_on_many_machines_a_kill_at_the_worst_moment_breaks_nothing(outside: Outside, tmp_path: Path) -> None:
    with running_product("postgresql", tmp_path, outside) as product:
        for name in ("killed_in_effect", "killed_in_reply", "killed_three_times", "leader_killed"):
            assert SCENARIOS[name].act(product, PATIENCE) == [], name
