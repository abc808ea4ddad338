"""The blocks of a Markdown document: headings, list items with how far in they stand, and paragraphs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•]|[0-9]{1,3}[.)]|[a-z][.)])[ \t]+(\S.*)")
_FENCE = re.compile(r"[ \t]*(?:`{3}|~{3})")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]*)+")
_LONGEST = 2000
_MOST = 600
_TAB = 4


@dataclass(frozen=True)
class Block:
    kind: Literal["heading", "item", "paragraph"]
    text: str
    """On one line."""
    depth: int
    """Of a heading its level, of an item how far in it stands."""
    citation: str


def blocks(text: str, citation: str) -> Iterator[Block]:
    """Blocks of code and front matter are left out: they show what to type and say nothing of when."""
    held: list[str] = []
    kind: Literal["item", "paragraph"] = "paragraph"
    depth = 0

    def flush() -> Iterator[Block]:
        if held:
            yield Block(kind, " ".join(" ".join(held).split())[:_LONGEST], depth, citation)
            held.clear()

    for line in _lines(text):
        if not line.strip():
            yield from flush()
        elif heading := _HEADING.match(line):
            yield from flush()
            yield Block("heading", heading[2].strip(" #")[:_LONGEST], len(heading[1]), citation)
        elif item := _ITEM.match(line):
            yield from flush()
            kind, depth = "item", len(item[1].expandtabs(_TAB)) + 1
            held.append(item[2])
        else:
            if not held:
                indent = len(line.expandtabs(_TAB)) - len(line.expandtabs(_TAB).lstrip())
                kind, depth = "paragraph", indent
            held.append(line.strip())
    yield from flush()


def _lines(text: str) -> Iterator[str]:
    fenced = False
    lines = text.splitlines()[: _MOST * 4]
    start = _after_front_matter(lines)
    for line in lines[start:]:
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield _QUOTE.sub("", line[:_LONGEST]) if line.lstrip().startswith(">") else line[:_LONGEST]


def _after_front_matter(lines: list[str]) -> int:
    if not lines or lines[0].strip() != "---":
        return 0
    return next((place + 1 for place, line in enumerate(lines[1:40], 1) if line.strip() == "---"), 0)
