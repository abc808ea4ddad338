"""Prints every promise with the tests that show it. Fails when a test names a promise that does not exist."""

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/promises.md"
_ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+) \|$", re.MULTILINE)


def promises() -> dict[str, str]:
    return {match[1]: match[2] for match in _ROW.finditer(PAGE.read_text())}


def shown_by() -> dict[str, list[str]]:
    """Promise id to the tests that carry it."""
    tests: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name, promise in _marks(ast.parse(path.read_text())):
            tests.setdefault(promise, []).append(f"{path.relative_to(ROOT)}::{name}")
    return tests


def _marks(module: ast.Module) -> Iterator[tuple[str, str]]:
    everywhere = [
        promise
        for node in module.body
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "pytestmark" for target in node.targets)
        for promise in _ids(node.value)
    ]
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            own = [promise for decorator in node.decorator_list for promise in _ids(decorator)]
            yield from ((node.name, promise) for promise in dict.fromkeys(everywhere + own))


def _ids(node: ast.AST) -> Iterator[str]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "promise":
            yield from (str(value.value) for value in call.args if isinstance(value, ast.Constant))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    known, tests = promises(), shown_by()
    if parser.parse_args().json:
        print(json.dumps([{"id": key, "promise": text, "tests": tests.get(key, [])} for key, text in known.items()]))
    else:
        for key, text in known.items():
            print(f"{key:4} {text}")
            print(*(f"       {test}" for test in tests.get(key, ["(no test yet)"])), sep="\n")
        print(f"\n{sum(key in tests for key in known)} of {len(known)} promises are shown by tests.")
    if unknown := sorted(set(tests) - set(known)):
        print(f"Tests name promises that do not exist: {', '.join(unknown)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
