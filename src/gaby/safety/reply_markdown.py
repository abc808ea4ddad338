"""Replies as Markdown that loads nothing and shows where every link leads. Read and written by CommonMark's grammar.

What a desk makes of a text is decided by a parser, so what is taken out of it is decided by one too: the reply is
parsed, and written anew from what is harmless in it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

_LONGEST = 50_000
_PARSER = MarkdownIt("commonmark", {"maxNesting": 20})
_TOUCHY = re.compile(
    r"[\\`*<]|(?<!\s)>|>(?!\s)|_(?![A-Za-z0-9])|(?<![A-Za-z0-9])_|!(?=\[)|\](?=[(\[:])|&(?=#?\w{1,40};)|~(?=~)"
)
_LINE_START = re.compile(r"^(\s*)([#>+-]|\d{1,9}(?=[.)])|={2,}|~{3,}|`{3,}|\|)", re.MULTILINE)
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_DANGERS = frozenset({"image", "link_open", "html_block", "html_inline"})
"""What loads, leads elsewhere than it shows, or is HTML."""
_TAG = re.compile(r"<[^>]{0,5000}>?")


# The message and the note are often the same.
@lru_cache(maxsize=16)
def clean_reply(text: str) -> str:
    """Images become their descriptions, links show their targets, HTML becomes the words in it."""
    cleaned = text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()} …"
    cleaned = _written(_parsed(cleaned))
    if any(token.type in _DANGERS for token in _tokens(_PARSER.parse(cleaned))):
        # Nothing that a parser could take for more than letters is left in this.
        cleaned = _PUNCTUATION.sub(r"\\\1", cleaned)
    return cleaned


def _parsed(text: str) -> SyntaxTreeNode:
    return SyntaxTreeNode(_PARSER.parse(text))


def _tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _tokens(token.children or ())


def _written(node: SyntaxTreeNode) -> str:
    """The blocks of a node, an empty line between them."""
    return "\n\n".join(filter(None, (_block(child) for child in node.children)))


def _block(node: SyntaxTreeNode) -> str:
    match node.type:
        case "paragraph":
            text = _LINE_START.sub(r"\1\\\2", _inline(node))
        case "heading":
            text = f"{'#' * int(node.tag[1:])} {' '.join(_inline(node).split())}"
        case "bullet_list" | "ordered_list":
            text = _list(node)
        case "blockquote":
            text = _indented(_written(node), "> ", "> ")
        case "fence" | "code_block":
            text = _indented(node.content.rstrip("\n"), "    ", "    ")
        case "hr":
            text = "---"
        case "html_block":
            text = _escaped(" ".join(_TAG.sub(" ", node.content).split()))
        case _:
            text = _written(node)
    return text


def _list(node: SyntaxTreeNode) -> str:
    first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    lines: list[str] = []
    for number, item in enumerate(node.children):
        mark = "- " if first is None else f"{first + number}. "
        # Items stand close together, as people write them.
        parts = [_block(child) for child in item.children]
        lines.append(_indented("\n".join(filter(None, parts)), mark, " " * len(mark)))
    return "\n".join(lines)


def _indented(text: str, first: str, rest: str) -> str:
    head, *tail = text.split("\n")
    return "\n".join([f"{first}{head}", *(f"{rest}{line}" if line else line for line in tail)])


def _inline(node: SyntaxTreeNode) -> str:
    return "".join(_span(child) for child in node.children)


def _span(node: SyntaxTreeNode) -> str:
    match node.type:
        case "inline":
            text = _inline(node)
        case "softbreak" | "hardbreak":
            text = "\n" if node.type == "softbreak" else "  \n"
        case "code_inline":
            text = _code(node.content)
        case "em" | "strong":
            mark = "*" if node.type == "em" else "**"
            inner = _inline(node)
            text = f"{mark}{inner}{mark}" if inner.strip() == inner and inner else inner
        case "image":
            text = _escaped(node.content)
        case "link":
            text = _link(node)
        case "html_inline":
            text = ""
        case _:
            text = _escaped(node.content)
    return text


def _link(node: SyntaxTreeNode) -> str:
    target = str(node.attrs.get("href", ""))
    words = _inline(node)
    shown = "".join(child.content for child in node.children if child.type == "text")
    if target in {shown, f"mailto:{shown}"}:
        return words
    return f"{words} ({_code(target)})" if target else words


def _code(content: str) -> str:
    """In a span that the content cannot end."""
    fence = "`" * (max((len(run) for run in re.findall(r"`+", content)), default=0) + 1)
    space = " " if content.startswith("`") or content.endswith("`") else ""
    return f"{fence}{space}{' '.join(content.split())}{space}{fence}" if content.strip() else ""


def _escaped(text: str) -> str:
    return _TOUCHY.sub(r"\\\g<0>", text)
