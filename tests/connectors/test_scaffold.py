"""A new connector is complete, tidy, and never written over something that is there."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gaby_connectors.scaffold import create

pytestmark = pytest.mark.promise("M5")


def test_everything_that_is_needed_is_there(tmp_path: Path) -> None:
    made = create("acme-orders", tmp_path)
    assert sorted(str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()) == [
        "README.md",
        "acme_orders_connector/__init__.py",
        "acme_orders_connector/__main__.py",
        "acme_orders_connector/config.py",
        "acme_orders_connector/tools.py",
        "pyproject.toml",
        "samples.json",
        "tests/test_contract.py",
    ]
    assert tomllib.loads((made / "pyproject.toml").read_text())["project"]["name"] == "acme-orders-connector"
    assert not any("${" in path.read_text() for path in made.rglob("*") if path.is_file())


def test_it_is_written_in_good_style(tmp_path: Path) -> None:
    made = create("shop", tmp_path)
    for command in (["check", "--select", "E,F,I,UP,B"], ["format", "--check"]):
        ended = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "."], cwd=made, capture_output=True, check=False
        )
        assert ended.returncode == 0, ended.stdout.decode()


@pytest.mark.parametrize("name", ["", "Acme", "1shop", "../shop", "a b", "class", "-x", "x" * 41, "a__b", "shop-"])
def test_a_name_that_will_not_do_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="no name for a connector"):
        create(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    create("shop", tmp_path)
    with pytest.raises(FileExistsError):
        create("shop", tmp_path)
