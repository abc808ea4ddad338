"""Notion's blocks to Markdown."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gaby.knowledge.sources.api import entries, items, text, within

_HEADINGS = {"heading_1": "#", "heading_2": "##", "heading_3": "###"}
_MARKS = {"bulleted_list_item": "- ", "numbered_list_item": "1. "}
_QUOTED = frozenset({"quote", "callout"})
_LISTED = frozenset({"bulleted_list_item", "numbered_list_item", "to_do", "child_page", "child_database"})


@dataclass(frozen=True)
class NotionBlock:
    kind: str
    data: Mapping[str, Any]
    children: Sequence["NotionBlock"] = ()


def as_markdown_text(blocks: Sequence[NotionBlock]) -> str:
    return "\n".join(_lines(blocks)) + "\n"


def rich(value: object) -> str:
    """Words with their links and code; how they look is left out."""
    return "".join(map(_words, entries(value)))


def _words(part: Mapping[str, Any]) -> str:
    words = text(part.get("plain_text"))
    if within(part, "annotations", "code") is True and words.strip():
        return f"`{words}`"
    address = text(part.get("href"))
    return f"[{words}]({address})" if address.startswith(("https://", "http://")) else words


def _lines(blocks: Sequence[NotionBlock]) -> list[str]:
    lines: list[str] = []
    before = ""
    for block in blocks:
        block_lines = _block(block)
        if not block_lines:
            continue
        # Entries of one list stay together; everything else has a line of air.
        if lines and not (block.kind in _LISTED and before in _LISTED):
            lines.append("")
        lines += block_lines
        before = block.kind
    return lines


def _block(block: NotionBlock) -> list[str]:
    words = rich(block.data.get("rich_text"))
    if block.kind in _HEADINGS:
        return [f"{_HEADINGS[block.kind]} {' '.join(words.split())}", *_below(block)]
    if block.kind in _MARKS:
        return _entry(_MARKS[block.kind], words, block)
    if block.kind in _QUOTED:
        return [f"> {line}".rstrip() for line in (*words.split("\n"), *_below(block))]
    if block.kind in _MADE:
        return _MADE[block.kind](block)
    plain = words.split("\n") if words.strip() else []
    return [*plain, *(_below(block) if plain else _lines(block.children))]


def _below(block: NotionBlock) -> list[str]:
    inner = _lines(block.children)
    return ["", *inner] if inner else []


def _entry(mark: str, words: str, block: NotionBlock) -> list[str]:
    indent = "   " if mark.startswith("1") else "  "
    first, *rest = words.split("\n")
    inner = [*rest, *_lines(block.children)]
    return [mark + first, *(f"{indent}{line}".rstrip() for line in inner)]


def _to_do(block: NotionBlock) -> list[str]:
    return _entry("- [x] " if block.data.get("checked") is True else "- [ ] ", rich(block.data.get("rich_text")), block)


def _toggle(block: NotionBlock) -> list[str]:
    return [f"**{rich(block.data.get('rich_text')).strip()}**", *_below(block)]


def _child(block: NotionBlock) -> list[str]:
    return [f"- {text(block.data.get('title'))}"]


def _address(block: NotionBlock) -> list[str]:
    return [text(block.data.get("url"))] if block.data.get("url") else []


def _caption(block: NotionBlock) -> list[str]:
    caption = rich(block.data.get("caption"))
    return [caption] if caption else []


def _equation(block: NotionBlock) -> list[str]:
    return [f"$${text(block.data.get('expression'))}$$"]


def _divider(_: NotionBlock) -> list[str]:
    return ["---"]


def _code(block: NotionBlock) -> list[str]:
    words, language = rich(block.data.get("rich_text")), text(block.data.get("language"))
    longest = max((len(ticks) for ticks in re.findall(r"`+", words)), default=0)
    fence = "`" * max(3, longest + 1)
    name = language if re.fullmatch(r"[\w+#-]{1,30}", language) else ""
    return [f"{fence}{name}", *words.split("\n"), fence]


def _table(block: NotionBlock) -> list[str]:
    rows = [_cells(row) for row in block.children if row.kind == "table_row"]
    if not rows:
        return []
    width = max(len(row) for row in rows)
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in rows]
    return [lines[0], "|" + " --- |" * width, *lines[1:]]


def _cells(row: NotionBlock) -> list[str]:
    return [" ".join(rich(cell).split()).replace("|", "\\|") for cell in items(row.data.get("cells"))]


_MADE: Mapping[str, Callable[[NotionBlock], list[str]]] = {
    "to_do": _to_do,
    "toggle": _toggle,
    "code": _code,
    "table": _table,
    "equation": _equation,
    "divider": _divider,
    **dict.fromkeys(("child_page", "child_database"), _child),
    **dict.fromkeys(("bookmark", "embed", "link_preview"), _address),
    **dict.fromkeys(("image", "file", "pdf", "video", "audio"), _caption),
}
