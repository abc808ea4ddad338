"""Python, by its own parser."""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from gaby.knowledge.chunking.code import DEEPEST, CodeNode
from gaby.knowledge.chunking.sizes import SOFT_MAXIMUM

_BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")
_SOURCE = "a document of the knowledge"
_QUIET = ("ignore", None, Warning, re.compile(_SOURCE), 0)


class _LineIndex(NamedTuple):
    lines: list[str]
    starts: list[int]


def python_nodes(text: str) -> list[CodeNode] | None:
    """None when this Python does not understand it."""
    # A lone carriage return ends a line for the parser, and for nobody else here.
    if "\r" in text:
        return None
    # A document's doubtful escapes are its author's affair. Looked up each time, since others may reset the filters.
    if _QUIET not in warnings.filters:
        warnings.filterwarnings("ignore", module=_SOURCE)
    try:
        tree = ast.parse(text, _SOURCE)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    lines = text.split("\n")
    return _nodes(tree.body, _LineIndex(lines, [0, *accumulate(len(line) + 1 for line in lines)]), free=1, depth=0)


def _nodes(body: Sequence[ast.stmt], file: _LineIndex, *, free: int, depth: int) -> list[CodeNode]:
    """`free` is the first line that belongs to no statement yet."""
    nodes: list[CodeNode] = []
    for statement in body:
        begin, end = _span(statement)
        # Several statements on one line stay together.
        if begin >= free:
            while begin > free and file.lines[begin - 2].lstrip().startswith("#"):
                begin -= 1
            nodes.append(_node(statement, file, begin, end, depth))
        free = max(free, end + 1)
    return nodes


def _node(statement: ast.stmt, file: _LineIndex, begin: int, end: int, depth: int) -> CodeNode:
    start = file.starts[begin - 1]
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return CodeNode(start, (statement.name,), whole=True)
    names = (statement.name,) if isinstance(statement, ast.ClassDef) else ()
    inside = list(_statements(statement)) if file.starts[end] - start > SOFT_MAXIMUM else []
    if depth >= DEEPEST:
        return CodeNode(start, names, whole=bool(inside))
    return CodeNode(start, names, members=tuple(_nodes(inside, file, free=statement.lineno + 1, depth=depth + 1)))


def _statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Those in its blocks, in the order of the file."""
    for name in _BLOCKS:
        block: list[ast.AST] = getattr(statement, name, [])
        for each in block:
            if isinstance(each, ast.ExceptHandler | ast.match_case):
                yield from each.body
            elif isinstance(each, ast.stmt):
                yield each


def _span(statement: ast.stmt) -> tuple[int, int]:
    """Its first line, from the first decorator on, and its last."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)]), statement.end_lineno or statement.lineno
