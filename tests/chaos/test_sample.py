"""A short run of chaos on each engine: `make chaos` goes on for as long as you like."""

from pathlib import Path

import pytest

from tests.chaos.product import Engine, Outside, Product, running_product
from tests.chaos.run import ChaosRun

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.xdist_group("chaos"),
    pytest.mark.promise("L6", "M7", "O3", "O5", "Q1", "Q3", "Q6", "X4"),
]
_SECONDS = 12.0
_SEED = 7


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_nothing_is_lost_doubled_or_stuck_when_everything_is_killed_at_random(
    engine: Engine, request: pytest.FixtureRequest, outside: Outside, tmp_path: Path
) -> None:
    template: Product | None = request.getfixturevalue("template") if engine == "sqlite" else None
    with running_product(engine, tmp_path, outside, template=template) as product:
        report = ChaosRun(product, _SEED, _SECONDS, tickets_each_second=0.7, faults_each_second=0.5).run()
    told = "\n".join(report.lines())
    assert not report.broken, told
    assert sum(report.starts.values()) > len(report.starts), told
    assert report.effects > 0, told
