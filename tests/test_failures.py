"""The table of failures names a test for each of its rows, and each of them exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(test_\w+))?`")


@pytest.mark.promise("O3")
def test_every_row_of_the_table_of_failures_is_shown_by_a_test_that_exists() -> None:
    lines = (ROOT / "docs/reference/failures.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| what")]
    assert len(rows) > 20
    for row in rows:
        named = _TEST.findall(row)
        assert named, row
        for path, name in named:
            text = (ROOT / path).read_text()
            assert re.search(rf"def {name}\b" if name else r"def test_", text), f"{path}::{name}"
