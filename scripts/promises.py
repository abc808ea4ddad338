"""Prints every promise with its state and the tests that show it. Fails when page and tests disagree."""

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/promises.md"
_ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+) \| (kept|partly: .+|open) \|$", re.MULTILINE)


class Promise(NamedTuple):
    text: str
    state: str
    """`kept`, `open`, or `partly: ` and what there is."""


def promises() -> dict[str, Promise]:
    return {match[1]: Promise(match[2], match[3]) for match in _ROW.finditer(PAGE.read_text())}


def disagreements(known: dict[str, Promise], tests: dict[str, list[str]]) -> Iterator[str]:
    for promise in sorted(set(tests) - set(known)):
        yield f"A test names promise {promise}, which docs/reference/promises.md does not have."
    for promise, (_, state) in known.items():
        if state == "open" and promise in tests:
            yield f"Promise {promise} is open in docs/reference/promises.md, and {tests[promise][0]} shows it."
        if state != "open" and promise not in tests:
            yield f"Promise {promise} is {state} in docs/reference/promises.md, and no test shows it."


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
        rows = [{"id": key, **each._asdict(), "tests": tests.get(key, [])} for key, each in known.items()]
        print(json.dumps(rows))
    else:
        for key, (text, state) in known.items():
            print(f"{key:4} {text} [{state}]")
            print(*(f"       {test}" for test in tests.get(key, ())), sep="\n")
        counted = Counter(each.state.partition(":")[0] for each in known.values())
        print(f"\n{counted['kept']} of {len(known)} promises are kept, {counted['partly']} partly.")
    wrong = list(disagreements(known, tests))
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
