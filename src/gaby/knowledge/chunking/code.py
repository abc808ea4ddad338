"""Source code: a passage for each function or class, small neighbours together, and never a cut inside a function."""

from collections.abc import Sequence
from typing import NamedTuple

from gaby.knowledge.chunking.chunk_spans import AtomicSpan, ChunkSpan, fitting, joined, packed
from gaby.knowledge.chunking.prose import LINES
from gaby.knowledge.chunking.sizes import HARD_MAXIMUM, SOFT_MAXIMUM, size

DEEPEST = 16
"""Code that is nested deeper than this was not written to be read, and stays as it is."""


class CodeNode(NamedTuple):
    """A stretch of code with the comments above it. What lies between two nodes belongs to the first."""

    start: int
    names: tuple[str, ...] = ()
    """Of the function or class that it is; nothing when it is a mere statement."""
    whole: bool = False
    """Whether it is, or contains, a function, so that it is only divided between its members."""
    members: tuple["CodeNode", ...] = ()
    """What it may be divided into when it is too large."""


def code_parts(text: str, nodes: Sequence[CodeNode]) -> list[ChunkSpan]:
    return joined(_parts(text, nodes, 0, len(text), ()))


def _parts(text: str, nodes: Sequence[CodeNode], start: int, end: int, names: tuple[str, ...]) -> list[ChunkSpan]:
    parts: list[ChunkSpan] = []
    loose: list[AtomicSpan] = []
    for node, begin, stop in _stretches(nodes, start, end):
        if node is None or not (node.names or node.members or node.whole):
            loose += fitting(text, begin, stop, LINES)
            continue
        parts += packed(text, loose, names)
        loose = []
        weight = size(text, begin, stop)
        inner = names + node.names
        if weight > SOFT_MAXIMUM and node.members:
            parts += joined(_parts(text, node.members, begin, stop, inner))
        elif weight > HARD_MAXIMUM and not node.whole:
            parts += packed(text, fitting(text, begin, stop, LINES), inner)
        else:
            parts.append(ChunkSpan(begin, stop, weight, inner))
    return parts + packed(text, loose, names)


def _stretches(nodes: Sequence[CodeNode], start: int, end: int) -> list[tuple[CodeNode | None, int, int]]:
    """Every character once: what is before the first node, and each node up to the next."""
    begins = [node.start for node in nodes]
    first = begins[0] if begins else end
    stretches: list[tuple[CodeNode | None, int, int]] = [(None, start, first)]
    stretches += [(node, node.start, stop) for node, stop in zip(nodes, [*begins[1:], end], strict=False)]
    return [each for each in stretches if each[2] > each[1]]
