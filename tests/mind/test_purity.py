"""The offline mind is pure: no database, no network, no event loop, no file but its own data."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gaby.mind

pytestmark = pytest.mark.promise("G2")

ROOT = Path(gaby.mind.__file__).parent
ALLOWED = {
    "ast", "bisect", "collections", "dataclasses", "datetime", "difflib", "functools", "importlib", "itertools", "math",
    "re", "threading", "typing", "unicodedata", "numpy", "orjson", "jsonschema_rs", "markdown_it",
}  # fmt: skip
ALLOWED_PACKAGES = ("gaby.mind", "gaby.kernel", "gaby.safety", "gaby.llm.embeddings.embed")


def imported() -> Iterator[tuple[str, str]]:
    for file in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            yield from ((file.name, name) for name in names)


def test_it_imports_nothing_that_could_reach_out() -> None:
    strange = [
        (file, name)
        for file, name in imported()
        if name.partition(".")[0] not in ALLOWED and not name.startswith(ALLOWED_PACKAGES)
    ]
    assert strange == []


def test_no_file_is_opened_but_its_own_data() -> None:
    calls = [
        file.name
        for file in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Name) and node.id in {"open", "exec", "eval", "__import__"}
    ]
    assert calls == []


def test_whoever_only_starts_the_command_line_does_not_pay_for_it() -> None:
    code = "import sys, gaby.cli; sys.exit('gaby.mind' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
