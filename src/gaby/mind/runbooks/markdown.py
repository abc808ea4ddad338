"""The blocks of a Markdown page with their lines: headings, list items with their indentation, and paragraphs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•]|[0-9]{1,3}[.)]|[a-z][.)])[ \t]+(\S.*)")
_FENCE = re.compile(r"[ \t]*(`{3}|~{3})")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]*)+")
_COMMENT = re.compile(r"[ \t]*<!--.*-->[ \t]*")
LONGEST_BLOCK = 2000
"""Characters of a block. Nobody writes a longer sentence by hand."""
MOST_LINES = 2400
_TAB = 4

BlockKind = Literal["heading", "item", "paragraph", "code", "rest"]


@dataclass(frozen=True)
class MarkdownBlock:
    kind: BlockKind
    text: str
    """On one line."""
    depth: int
    """Of a heading its level, of an item how far in it stands."""
    line: int
    too_long: bool = False


def blocks(text: str, first: int = 0) -> Iterator[MarkdownBlock]:
    """From line `first` on, counted from 0. A block of code is one block: whoever reads strictly has to know of it.
    `rest` stands for all lines after the most that are read."""
    reader = _BlockParser()
    lines = text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines[first : first + MOST_LINES], first + 1):
        yield from reader.take(line[: LONGEST_BLOCK + 1], number)
    yield from reader.flush()
    if len(lines) > first + MOST_LINES:
        yield MarkdownBlock("rest", lines[first + MOST_LINES][:80], 0, first + MOST_LINES + 1)


class _BlockParser:
    def __init__(self) -> None:
        self._held: list[str] = []
        self._size = 0
        self._kind: Literal["item", "paragraph"] = "paragraph"
        self._depth = self._begins = 0
        self._fence = ""

    def take(self, line: str, number: int) -> Iterator[MarkdownBlock]:
        if self._fence or _FENCE.match(line):
            yield from self._code(line, number)
        elif not line.strip() or _COMMENT.fullmatch(line):
            yield from self.flush()
        elif heading := _HEADING.match(line):
            yield from self.flush()
            yield MarkdownBlock("heading", heading[2].strip(" #"), len(heading[1]), number)
        elif item := _ITEM.match(line):
            yield from self.flush()
            self._begin("item", len(item[1].expandtabs(_TAB)) + 1, number, item[2])
        else:
            line = _QUOTE.sub("", line, count=1) if line.lstrip().startswith(">") else line
            if not self._held:
                expanded = line.expandtabs(_TAB)
                self._begin("paragraph", len(expanded) - len(expanded.lstrip()), number, line.strip())
            elif self._size <= LONGEST_BLOCK:
                self._hold(line.strip())

    def flush(self) -> Iterator[MarkdownBlock]:
        if self._held:
            whole = " ".join(" ".join(self._held).split())
            too_long = len(whole) > LONGEST_BLOCK
            yield MarkdownBlock(self._kind, whole[:LONGEST_BLOCK], self._depth, self._begins, too_long=too_long)
            self._held, self._size = [], 0

    def _begin(self, kind: Literal["item", "paragraph"], depth: int, number: int, text: str) -> None:
        self._kind, self._depth, self._begins = kind, depth, number
        self._hold(text)

    def _hold(self, text: str) -> None:
        self._held.append(text)
        self._size += len(text) + 1

    def _code(self, line: str, number: int) -> Iterator[MarkdownBlock]:
        mark = _FENCE.match(line)
        if not self._fence and mark:
            yield from self.flush()
            yield MarkdownBlock("code", line.strip(), 0, number)
            self._fence = mark[1]
        elif mark and mark[1] == self._fence:
            self._fence = ""
