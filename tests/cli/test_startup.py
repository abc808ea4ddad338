"""What commands load: time cannot be tested on a busy machine, but what takes it can."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from tests.support.command import Shell

pytestmark = pytest.mark.promise("O4")

HEAVY = ("gaby.mind", "numpy", "fastapi", "uvicorn", "structlog", "rich.console", "jinja2", "alembic", "mcp", "httpx2")
"""Each takes as long to load as a small command does to run."""
LISTS = [("ticket", "list"), ("runs", "list"), ("approvals", "list"), ("workspace", "list")]
_LOADED = "import sys, gaby.cli; sys.argv = ['gaby', *sys.argv[1:]]\ntry: gaby.cli.main()\nfinally: print(*sys.modules)"


def loaded_by(home: Path, *arguments: str, **environment: str) -> set[str]:
    variables = {**os.environ, "GABY_HOME": str(home), **environment}
    command = [sys.executable, "-c", _LOADED, *arguments]
    ended = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    return set(ended.stdout.splitlines()[-1].split())


def heavy(modules: set[str]) -> list[str]:
    return [name for name in HEAVY if any(each == name or each.startswith(f"{name}.") for each in modules)]


@pytest.mark.parametrize("command", LISTS, ids=" ".join)
def test_a_list_loads_nothing_heavy(bare_shell: Shell, tmp_path: Path, command: tuple[str, ...]) -> None:
    assert bare_shell("ticket", "list").code == 0
    assert heavy(loaded_by(tmp_path / "home", *command)) == []


def test_help_loads_no_command(tmp_path: Path) -> None:
    modules = loaded_by(tmp_path, "--help")
    assert heavy(modules) == []
    assert "sqlalchemy" not in modules
    assert "gaby.cli.ticket" not in modules


def test_a_tab_loads_only_the_command_that_was_typed(tmp_path: Path) -> None:
    words = {"_GABY_COMPLETE": "complete_bash", "COMP_WORDS": "gaby workspace cr", "COMP_CWORD": "2"}
    modules = loaded_by(tmp_path, **words)
    assert "gaby.cli.workspace" in modules
    assert "gaby.cli.connector" not in modules
    assert heavy(modules) == []


@pytest.mark.parametrize("package", ["api", "app", "audit", "identity", "mcp", "safety", "tools"])
def test_what_a_package_exports_is_found_when_it_is_asked_for(package: str) -> None:
    module = import_module(f"gaby.{package}")
    modules = {each.name for each in iter_modules(module.__path__)}
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert name not in modules, "importing the module would hide what is exported"
    with pytest.raises(AttributeError, match="no attribute"):
        _ = module.nothing_of_this_name
