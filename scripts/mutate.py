"""Breaks the safety rules on purpose, one small change at a time, and reports each change that no test notices."""

import argparse
import ast
import copy
import gc
import importlib
import importlib.abc
import importlib.util
import json
import os
import re
import resource
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import cast

import hypothesis
import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = "gaby.safety"
TESTS: dict[str, tuple[str, ...]] = {
    "arguments": ("arguments", "small_rules"),
    "binding": ("small_rules",),
    "decide": ("decide", "reference"),
    "egress": ("small_rules", "decide"),
    "facts": ("small_rules", "decide"),
    "manifest_guess": ("small_rules", "tool_descriptions"),
    "result_labels": ("result_labels",),
    "value_match": ("value_match", "provenance"),
    "kinds": ("kinds", "result_labels"),
    "provenance": ("provenance", "result_labels"),
    "readers": ("readers", "result_labels"),
    "schemas": ("schemas", "arguments"),
    "scopes": ("scopes",),
    "verdicts": ("decide", "small_rules"),
}
"""Each module with the test files that speak of it, the likeliest to notice first."""
EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("manifest_guess", "'_review'", "'/other*'"): "Any word that is no verb of change does, and `other` is one.",
    (
        "result_labels",
        "''",
        "'/other*'",
    ): "Only the values of a result are learned; how its leaves are called is not used.",
    ("result_labels", "'personal'", "'/other*'"): "Only whether a place is personal is asked, not as what.",
    ("result_labels", "label is ResultLabel.SYSTEM", "True"): "External beats it and created is asked for before it.",
    ("provenance", "self._unread.clear()", "(nothing)"): "It saves time: texts read again yield the same carriers.",
    ("provenance", "self._unread_values.clear()", "(nothing)"): "It saves time, as above.",
    ("readers", "not each[2].allow(reader)", "True"): "What an open page says is known, so that it tells nothing.",
    ("readers", "return []", "(nothing)"): "It saves time: without closed pages nothing is found.",
}
"""Module, what stood there and what was put there instead, and why no test can tell them apart."""
CPU_SECONDS = 8
"""Processor time, not time on the clock, so that a busy machine kills nothing."""


@dataclass(frozen=True)
class Mutant:
    module: str
    line: int
    was: str
    became: str
    code: CodeType = field(repr=False, compare=False)

    @property
    def excuse(self) -> str | None:
        return EQUIVALENT.get((self.module, self.was, self.became))

    def __str__(self) -> str:
        return f"src/gaby/safety/{self.module}.py:{self.line}\n  - {self.was}\n  + {self.became}"


@dataclass
class Score:
    module: str
    mutants: int = 0
    killed: int = 0
    equivalent: int = 0
    seconds: float = 0
    survivors: list[Mutant] = field(default_factory=list[Mutant])


# --- making mutants ---

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_TWINS = {"any": "all", "all": "any", "min": "max", "max": "min"}
_TIDYING = frozenset({"strip", "casefold", "replace", "removeprefix", "removesuffix"})
_GENERIC = frozenset({"Literal", "Annotated", "Mapping", "dict", "list", "set", "tuple"})
_LISTS = {"re.compile": re.compile(r"(?<=[(:|])\w+\||\|\w+(?=\))"), "words_of": re.compile(r"\w+ ?")}
"""Calls that take a list of words in one text, and how one of the words is found."""
_WIDE = 100
_REMOVABLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Return, ast.Delete)


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """Every small change to a module, in the order of its lines; two changes that read the same are made once."""
    tree = ast.parse(source)
    places = sorted(_places(tree), key=lambda place: (place.node.lineno, place.node.col_offset))
    seen = {ast.unparse(tree)}
    for place in places:
        for other in _changes(place):
            place.put(other)
            text = ast.unparse(tree)
            if text not in seen:
                seen.add(text)
                code = compile(ast.fix_missing_locations(copy.deepcopy(tree)), f"<{module}>", "exec")
                yield Mutant(module, place.node.lineno, *_difference(_shown(place.node), _shown(other)), code)
            place.put(place.node)


def _shown(node: ast.AST) -> str:
    return "(nothing)" if isinstance(node, ast.Pass) else " ".join(ast.unparse(node).split("\n")[0].split())


def _difference(was: str, became: str) -> tuple[str, str]:
    """Both from a little before the first letter in which they differ."""
    pairs = enumerate(zip(was, became, strict=False))
    alike = next((at for at, (one, other) in pairs if one != other), min(len(was), len(became)))
    if len(was) <= _WIDE or alike <= _WIDE // 4:
        return was[:_WIDE], became[:_WIDE]
    start = alike - _WIDE // 4
    return f"…{was[start : start + _WIDE]}", f"…{became[start : start + _WIDE]}"


@dataclass(frozen=True)
class Place:
    """A node and where it hangs, so that another can be put there."""

    parent: ast.AST
    name: str
    index: int | None
    node: ast.expr | ast.stmt

    def put(self, other: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.name, other)
        else:
            getattr(self.parent, self.name)[self.index] = other


_TYPES = frozenset({"annotation", "returns", "type_params", "decorator_list"})


def _places(parent: ast.AST) -> Iterator[Place]:
    """Whatever runs: no annotations, no docstrings, no names of types, and of the messages only what is filled in."""
    for name, value in ast.iter_fields(parent):
        if name in _TYPES:
            continue
        listed = isinstance(value, list)
        for index, child in enumerate(cast("list[object]", value) if listed else [value]):
            if not isinstance(child, ast.AST) or _is_only_said(parent, child):
                continue
            if isinstance(child, ast.expr | ast.stmt):
                yield Place(parent, name, index if listed else None, child)
            yield from _places(child)


def _is_only_said(parent: ast.AST, child: ast.AST) -> bool:
    match child:
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Constant():
            typed = isinstance(parent, ast.Call) and ast.unparse(parent.func) == "cast"
            return typed or isinstance(parent, ast.JoinedStr)
        case ast.Subscript(value=ast.Name(id=name)):
            return name in _GENERIC
        case ast.keyword(arg="strict"):
            return True
        case _:
            return isinstance(child, ast.Import | ast.ImportFrom)


def _changes(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.stmt):
        yield from _changed_statement(place, node)
    else:
        yield from _changed_value(node)
        yield from _changed_operation(node)
        yield from _changed_collection(node)
        yield from _changed_list(place.parent, node)
    if place.name == "test" and not isinstance(place.parent, ast.IfExp):
        yield from _negated(node)
    if place.name == "ifs":
        yield ast.Constant(value=True)
        yield from _negated(node)


def _changed_statement(place: Place, node: ast.stmt) -> Iterator[ast.AST]:
    if not isinstance(node, _REMOVABLE):
        return
    siblings: Sequence[ast.stmt] = getattr(place.parent, place.name)
    says_nothing = isinstance(node, ast.Return) and (node.value is None or ast.unparse(node.value) == "None")
    ends_function = siblings[-1] is node and isinstance(place.parent, ast.FunctionDef)
    if not (says_nothing and ends_function):
        yield ast.copy_location(ast.Pass(), node)


def _changed_value(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=str(value)):
            yield ast.Constant("/other*")
        case ast.Call(func=ast.Name(id=name)) if name in _TWINS:
            yield ast.Call(ast.Name(_TWINS[name], ast.Load()), node.args, node.keywords)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _TIDYING:
            yield value
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case _:
            return


def _changed_operation(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left, ops, comparators):
            for at, op in enumerate(ops):
                for other in _COMPARISONS[type(op)]:
                    yield ast.Compare(left, [*ops[:at], other(), *ops[at + 1 :]], comparators)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for at in range(len(values)):
                rest = values[:at] + values[at + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC:
            yield ast.BinOp(left, _ARITHMETIC[type(op)](), right)
            yield left
            yield right
        case _:
            return


def _changed_collection(node: ast.AST) -> Iterator[ast.AST]:
    """Without each of its members. A constant is changed in its own place."""
    match node:
        case ast.Tuple(elts, ast.Load()) | ast.List(elts, ast.Load()):
            for at, member in enumerate(elts):
                if not isinstance(member, ast.Constant):
                    yield type(node)(elts[:at] + elts[at + 1 :], ast.Load())
        case ast.Set(elts):
            for at, member in enumerate(elts):
                if not isinstance(member, ast.Constant):
                    yield ast.Set(elts[:at] + elts[at + 1 :])
        case ast.Dict(keys, values):
            for at in range(len(keys)):
                yield ast.Dict(keys[:at] + keys[at + 1 :], values[:at] + values[at + 1 :])
        case _:
            return


def _changed_list(parent: ast.AST, node: ast.expr) -> Iterator[ast.AST]:
    """A text that lists words, without each of them."""
    if isinstance(parent, ast.Call) and isinstance(node, ast.Constant) and isinstance(node.value, str):
        pattern = _LISTS.get(ast.unparse(parent.func))
        for match in pattern.finditer(node.value) if pattern else ():
            yield ast.Constant(node.value[: match.start()] + node.value[match.end() :])


def _negated(test: ast.AST) -> Iterator[ast.AST]:
    """A single comparison is negated where it stands."""
    if isinstance(test, ast.expr) and not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        yield ast.UnaryOp(ast.Not(), test)


# --- running the tests against them ---


class _Shadow(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Loads one module from the mutant instead of its file. Nothing is written anywhere."""

    def __init__(self, name: str, code: CodeType) -> None:
        self._name, self._code = name, code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self._name else None

    def get_code(self, fullname: str) -> CodeType:
        return self._code

    def get_source(self, fullname: str) -> None:
        """A mutant has no source, only its code."""


def _warm_up() -> None:
    """Everything that no mutant touches is loaded once; each mutant is then tried in a fork of this process."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    package = importlib.import_module(PACKAGE)
    for name in package.__all__:
        getattr(package, name)  # Packages load their modules when they are first asked for a name.
    hypothesis.settings.register_profile("mutate", database=None, derandomize=True, deadline=None, max_examples=30)
    hypothesis.settings.load_profile("mutate")
    for name in [*(f"{PACKAGE}.{module}" for module in TESTS), f"{PACKAGE}.exfiltration", PACKAGE]:
        sys.modules.pop(name, None)
    gc.freeze()


def _start(module: str, code: CodeType) -> int:
    """The id of a process that ends with 0 if no test notices."""
    child = os.fork()
    if child:
        return child
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        sys.meta_path.insert(0, _Shadow(f"{PACKAGE}.{module}", code))
        os._exit(_run_tests(module))
    finally:
        os._exit(99)


def _run_tests(module: str) -> int:
    files = [f"tests/safety/test_{name}.py" for name in TESTS[module]]
    bare = ["--noconftest", f"--config-file={os.devnull}", f"--rootdir={ROOT}", "--import-mode=importlib"]
    return pytest.main(["-xq", "-pno:cacheprovider", "--assert=plain", "--tb=no", *bare, *files])


def score(module: str, *, workers: int) -> Score:
    started = time.monotonic()
    source = (ROOT / f"src/gaby/safety/{module}.py").read_text()
    whole = compile(source, f"<{module}>", "exec")
    if os.waitpid(_start(module, whole), 0)[1]:
        raise SystemExit(f"The tests of {module} fail without any change. Mend that first: pytest tests/safety")
    found = Score(module)
    running: dict[int, Mutant] = {}
    for mutant in mutants(module, source):
        if len(running) == workers:
            _finish_one(running, found)
        running[_start(module, mutant.code)] = mutant
    while running:
        _finish_one(running, found)
    found.survivors.sort(key=lambda mutant: (mutant.line, mutant.was, mutant.became))
    found.seconds = round(time.monotonic() - started, 1)
    return found


def _finish_one(running: dict[int, Mutant], found: Score) -> None:
    child, status = os.wait()
    mutant = running.pop(child)
    found.mutants += 1
    if status:
        found.killed += 1
    elif mutant.excuse is None:
        found.survivors.append(mutant)
    else:
        found.equivalent += 1


def _row(found: Score) -> Mapping[str, object]:
    survivors = [{"line": mutant.line, "was": mutant.was, "became": mutant.became} for mutant in found.survivors]
    return vars(found) | {"survivors": survivors}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--module", choices=sorted(TESTS), action="append", help="only this one; may be repeated")
    parser.add_argument("--workers", type=int, default=2, help="how many mutants are tried at once")
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args()
    os.chdir(ROOT)
    _warm_up()
    scores: list[Score] = []
    for module in asked.module or TESTS:
        found = score(module, workers=asked.workers)
        scores.append(found)
        for mutant in found.survivors:
            print(f"No test notices {mutant}", file=sys.stderr)
        counts = f"{found.mutants:4} mutants, {found.killed:4} noticed, {found.equivalent:2} equivalent"
        print(f"{module:12}{counts}, {len(found.survivors):2} survive, {found.seconds:5} s", file=sys.stderr)
    if asked.json:
        print(json.dumps([_row(found) for found in scores], indent=1))
    return 1 if any(found.survivors for found in scores) else 0


if __name__ == "__main__":
    sys.exit(main())
