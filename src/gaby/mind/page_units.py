"""Units of a page: the paragraphs, list items, procedures and table rows that can stand as an answer by themselves.

They are read from a real parse of the Markdown and rendered as plain text. A heading is no unit: it says what the units
below it are about.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

UnitKind = Literal["paragraph", "item", "steps", "row", "code"]

_READ = 12_000
"""Characters of a passage. Passages are shorter; what is longer was not cut by Gaby."""
_MOST_UNITS = 400
_LONGEST_LABEL = 80
_LABEL_WORDS = 8
_LOWEST = 7
"""The level of headings that are emphasised paragraphs."""
_FENCE = "---"
_TEXTUAL = frozenset({"text", "code_inline"})
_BREAKS = frozenset({"softbreak", "hardbreak"})
_WEB = ("https://", "http://")


@dataclass(frozen=True)
class PageUnit:
    kind: UnitKind
    text: str
    """Plain, on one line; a procedure has a line for each step."""
    label: str = ""
    """What the unit is called: the bold words it begins with, the words before a colon, the first cell of a row."""
    headings: tuple[str, ...] = ()
    lead: str = ""
    """The sentence that introduces the list or the table."""
    block: int = 0
    """The list, table or paragraph of the page that it is in. Items of one list share it."""
    section: int = 0
    """Units below the same heading share it."""


@dataclass
class _PageBuilder:
    units: list[PageUnit] = field(default_factory=list[PageUnit])
    headings: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    lead: str = ""
    block: int = 0
    section: int = 0

    def add(self, kind: UnitKind, text: str, label: str = "") -> None:
        if text and len(self.units) < _MOST_UNITS:
            path = tuple(words for _, words in self.headings)
            self.units.append(PageUnit(kind, text, label, path, self.lead, self.block, self.section))


@lru_cache(maxsize=256)
def page_units(markdown: str) -> tuple[PageUnit, ...]:
    """In the order of the page. Any text has units; one that is no Markdown has paragraphs."""
    page = _PageBuilder()
    root = SyntaxTreeNode(_parser().parse(_body(markdown[:_READ])))
    _read(root.children, page)
    return tuple(page.units)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def _body(markdown: str) -> str:
    """Without front matter, which is written for machines."""
    text = markdown.lstrip("\ufeff\r\n")
    if not text.startswith(f"{_FENCE}\n"):
        return text
    end = text.find(f"\n{_FENCE}", len(_FENCE))
    rest = text.find("\n", end + 1) if end >= 0 else -1
    return text[rest + 1 :] if rest >= 0 else "" if end >= 0 else text


def _read(nodes: Sequence[SyntaxTreeNode], page: _PageBuilder) -> None:
    for node in nodes:
        page.block += 1
        match node.type:
            case "heading":
                _open_section(int(node.tag[1:]), node, page)
            case "paragraph" if _is_heading(node):
                _open_section(_LOWEST, node, page)
            case "paragraph":
                text = _inline(node)
                page.lead = ""
                page.add("paragraph", text, _label(node, text))
                page.lead = text if text.endswith(":") else ""
            case "bullet_list" | "ordered_list":
                _list(node, page)
            case "table":
                _table(node, page)
            case "fence" | "code_block":
                page.add("code", node.content.strip("\n"))
                page.lead = ""
            case "blockquote":
                _read(node.children, page)
            case _:
                page.lead = ""


def _is_heading(node: SyntaxTreeNode) -> bool:
    """A paragraph of nothing but emphasised words stands above others as a heading does."""
    inline = node.children[0].children if node.children else []
    said = [each for each in inline if each.children or each.content.strip()]
    return len(said) == 1 and said[0].type in {"em", "strong"} and len(_inline(node)) <= _LONGEST_LABEL


def _open_section(level: int, node: SyntaxTreeNode, page: _PageBuilder) -> None:
    page.headings = [each for each in page.headings if each[0] < level]
    page.headings.append((level, _inline(node)))
    page.section += 1
    page.lead = ""


def _list(node: SyntaxTreeNode, page: _PageBuilder) -> None:
    items = [(_item(each), each) for each in node.children]
    is_ordered = node.type == "ordered_list"
    if is_ordered:
        first = int(node.attrs.get("start", 1))
        page.add("steps", "\n".join(f"{number}. {text}" for number, (text, _) in enumerate(items, first) if text))
    for text, each in items:
        page.add("item", text, _label(each.children[0], text) if each.children else "")
    page.lead = ""


def _item(node: SyntaxTreeNode) -> str:
    """On one line, with what is nested in it."""
    return " ".join(filter(None, (_flat(each) for each in node.children)))


def _flat(node: SyntaxTreeNode) -> str:
    if node.type in {"bullet_list", "ordered_list"}:
        return _ended("; ".join(filter(None, (_item(each).rstrip(" .;") for each in node.children))))
    if node.type in {"paragraph", "heading"}:
        return _inline(node)
    if node.type in {"fence", "code_block"}:
        return " ".join(node.content.split())
    if node.type == "table":
        return "; ".join(text for text, _ in _rows(node))
    return " ".join(filter(None, map(_flat, node.children)))


def _table(node: SyntaxTreeNode, page: _PageBuilder) -> None:
    for text, label in _rows(node):
        page.add("row", text, label)
    page.lead = ""


def _rows(node: SyntaxTreeNode) -> Iterator[tuple[str, str]]:
    """Each row of the body as `header: value` text, with its first cell."""
    heads: list[str] = []
    for part in node.children:
        for row in part.children:
            cells = [_inline(cell) for cell in row.children]
            if part.type == "thead":
                heads = cells
                continue
            named = [
                f"{head}: {cell}" if head else cell
                for head, cell in zip([*heads, *[""] * len(cells)], cells, strict=False)
                if cell
            ]
            if named:
                yield _ended("; ".join(named)), cells[0]


def _ended(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?", ":")) else f"{text}."


def _label(node: SyntaxTreeNode, text: str) -> str:
    """The words in bold or code at the beginning, or those before a colon."""
    opening = _opening(node)
    if opening and len(opening) <= _LONGEST_LABEL:
        return opening.rstrip(" .:")
    before, colon, after = text.partition(": ")
    return before if colon and after and len(before.split()) <= _LABEL_WORDS else ""


def _opening(node: SyntaxTreeNode) -> str:
    inline = next((each for each in node.children if each.type == "inline"), None)
    first = next((each for each in inline.children if each.content or each.children), None) if inline else None
    return _inline(first) if first is not None and first.type in {"strong", "code_inline"} else ""


def _inline(node: SyntaxTreeNode) -> str:
    """The words of a node on one line, without marks. A link to the web keeps its address."""
    return " ".join("".join(_pieces(node)).split())


def _pieces(node: SyntaxTreeNode) -> Iterator[str]:
    if node.type in _TEXTUAL:
        yield node.content
    elif node.type in _BREAKS:
        yield " "
    elif node.type not in {"image", "html_inline"}:
        said = "".join(piece for each in node.children for piece in _pieces(each))
        yield said
        address = str(node.attrs.get("href", "")) if node.type == "link" else ""
        if address.startswith(_WEB) and address != said:
            yield f" ({address})"
