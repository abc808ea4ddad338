"""Parts of a text on their way to becoming passages, and how small neighbours find together."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from gaby.knowledge.chunking.sizes import COMPANY, HARD_MAXIMUM, NEGLIGIBLE, SMALL, SOFT_MAXIMUM, TINY, size

Splitter = Callable[[str, int, int], Iterator[tuple[int, int]]]


class AtomicSpan(NamedTuple):
    """Something that is not divided any further."""

    start: int
    end: int
    size: int


class ChunkSpan(NamedTuple):
    """What becomes a passage, unless it is joined with a neighbour."""

    start: int
    end: int
    size: int
    headings: tuple[str, ...]


def piece(text: str, start: int, end: int) -> AtomicSpan:
    return AtomicSpan(start, end, size(text, start, end))


def fitting(text: str, start: int, end: int, splitters: Sequence[Splitter]) -> Iterator[AtomicSpan]:
    """Pieces as large as the first splitters leave them; the later ones are for what is still too large."""
    whole = piece(text, start, end)
    if whole.size <= SOFT_MAXIMUM or not splitters:
        yield whole
        return
    for begin, stop in splitters[0](text, start, end):
        yield from fitting(text, begin, stop, splitters[1:])


def packed(text: str, pieces: Iterable[AtomicSpan], headings: tuple[str, ...]) -> list[ChunkSpan]:
    """Neighbours together up to the soft maximum, the parts about equally large."""
    waiting = list(pieces)
    total = sum(each.size for each in waiting)
    target = total / max(-(-total // SOFT_MAXIMUM), 1)
    parts: list[ChunkSpan] = []
    for each in waiting:
        last = parts[-1] if parts else None
        if last and _takes(text, last, each, target):
            parts[-1] = ChunkSpan(last.start, each.end, last.size + each.size, headings)
        else:
            parts.append(ChunkSpan(each.start, each.end, each.size, headings))
    return parts


def _takes(text: str, last: ChunkSpan, each: AtomicSpan, target: float) -> bool:
    together = last.size + each.size
    if together <= SOFT_MAXIMUM and last.size < target:
        return True
    # White space is no passage of its own.
    return together <= HARD_MAXIMUM and text[each.start : each.end].isspace()


def joined(parts: Iterable[ChunkSpan]) -> list[ChunkSpan]:
    """The parts below one heading, the small ones together. Parts of different headings carry that of their parent."""
    result: list[ChunkSpan] = []
    for part in parts:
        last = result[-1] if result else None
        if last and belong(last.size, part.size):
            result[-1] = together(last, part)
        else:
            result.append(part)
    return result


def belong(first: int, second: int) -> bool:
    """Whether two neighbours of these sizes are better together."""
    smaller, together = min(first, second), first + second
    return (smaller < SMALL and together <= COMPANY) or (smaller < TINY and together <= SOFT_MAXIMUM)


def together(first: ChunkSpan, second: ChunkSpan) -> ChunkSpan:
    """Below the headings that both have. A line or two ahead of something larger say nothing about it."""
    is_lead_in = first.size < NEGLIGIBLE <= second.size
    headings = second.headings if is_lead_in else _common(first.headings, second.headings)
    return ChunkSpan(first.start, second.end, first.size + second.size, headings)


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    if first == second:
        return first
    same = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        same += 1
    return first[:same]
