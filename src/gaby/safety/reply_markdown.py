"""Replies as Markdown that loads nothing and shows where every link leads. Read and written by CommonMark's grammar.

What a desk makes of a text is decided by a parser, so what is taken out of it is decided by one too: the reply is
parsed, and written anew from what is harmless in it.
"""

import html
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

_LONGEST = 50_000
_PARSER = MarkdownIt("commonmark", {"maxNesting": 20})
_TOUCHY = re.compile(r"[\\`*<>]|_(?![A-Za-z0-9])|(?<![A-Za-z0-9])_|!(?=\[)|\](?=[(\[:])|&(?=#?\w{1,40};)|~(?=~)")
_LINE_START = re.compile(r"^(\s*)([#>+-]|\d{1,9}(?=[.)])|={2,}|~{3,}|`{3,}|\|)", re.MULTILINE)
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_ADDRESS = re.compile(
    r"(?:src|srcset|href|poster|data|action|background)\s*=\s*[\"']?([^\"'\s>]{1,2000})", re.IGNORECASE
)
_TAG = re.compile(r"<[^>]{0,5000}>?")


class CleanedReply(NamedTuple):
    text: str
    images: tuple[str, ...]
    """The addresses of what would have been loaded."""
    links: tuple[str, ...]
    """The targets of links that showed something else."""


def clean_reply(text: str) -> CleanedReply:
    """Images become their descriptions, links show their targets, HTML becomes the words in it."""
    found = _Found([], [])
    cleaned = text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()} …"
    cleaned = _written(_parsed(cleaned), found)
    if any(_dangers(cleaned)):
        # Nothing that a parser could take for more than letters is left in this.
        cleaned = _PUNCTUATION.sub(r"\\\1", cleaned)
    return CleanedReply(cleaned, tuple(dict.fromkeys(found.images)), tuple(dict.fromkeys(found.links)))


def loaded_addresses(text: str) -> list[str]:
    """What a program that shows the text would load by itself."""
    return [address for kind, address in _dangers(text[:_LONGEST]) if kind == "image"]


class _Found(NamedTuple):
    images: list[str]
    links: list[str]


def _parsed(text: str) -> SyntaxTreeNode:
    return SyntaxTreeNode(_PARSER.parse(text))


def _dangers(text: str) -> Iterator[tuple[str, str]]:
    """Everything in a text that loads, leads elsewhere than it shows, or is HTML."""
    for token in _tokens(_PARSER.parse(text)):
        match token.type:
            case "image":
                yield "image", str(token.attrs.get("src", ""))
            case "link_open":
                yield "link", str(token.attrs.get("href", ""))
            case "html_block" | "html_inline":
                yield from (("image", html.unescape(address)) for address in _ADDRESS.findall(token.content))
                yield "html", token.content
            case _:
                pass


def _tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _tokens(token.children or ())


def _written(node: SyntaxTreeNode, found: _Found) -> str:
    """The blocks of a node, an empty line between them."""
    return "\n\n".join(filter(None, (_block(child, found) for child in node.children)))


def _block(node: SyntaxTreeNode, found: _Found) -> str:
    match node.type:
        case "paragraph":
            text = _LINE_START.sub(r"\1\\\2", _inline(node, found))
        case "heading":
            text = f"{'#' * int(node.tag[1:])} {' '.join(_inline(node, found).split())}"
        case "bullet_list" | "ordered_list":
            text = _list(node, found)
        case "blockquote":
            text = _indented(_written(node, found), "> ", "> ")
        case "fence" | "code_block":
            text = _indented(node.content.rstrip("\n"), "    ", "    ")
        case "hr":
            text = "---"
        case "html_block":
            found.images.extend(map(html.unescape, _ADDRESS.findall(node.content)))
            text = _escaped(" ".join(_TAG.sub(" ", node.content).split()))
        case _:
            text = _written(node, found)
    return text


def _list(node: SyntaxTreeNode, found: _Found) -> str:
    first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    lines: list[str] = []
    for number, item in enumerate(node.children):
        mark = "- " if first is None else f"{first + number}. "
        # Items stand close together, as people write them.
        parts = [_block(child, found) for child in item.children]
        lines.append(_indented("\n".join(filter(None, parts)), mark, " " * len(mark)))
    return "\n".join(lines)


def _indented(text: str, first: str, rest: str) -> str:
    head, *tail = text.split("\n")
    return "\n".join([f"{first}{head}", *(f"{rest}{line}" if line else line for line in tail)])


def _inline(node: SyntaxTreeNode, found: _Found) -> str:
    return "".join(_span(child, found) for child in node.children)


def _span(node: SyntaxTreeNode, found: _Found) -> str:
    match node.type:
        case "inline":
            text = _inline(node, found)
        case "softbreak" | "hardbreak":
            text = "\n" if node.type == "softbreak" else "  \n"
        case "code_inline":
            text = _code(node.content)
        case "em" | "strong":
            mark = "*" if node.type == "em" else "**"
            inner = _inline(node, found)
            text = f"{mark}{inner}{mark}" if inner.strip() == inner and inner else inner
        case "image":
            found.images.append(str(node.attrs.get("src", "")))
            text = _escaped(node.content)
        case "link":
            text = _link(node, found)
        case "html_inline":
            found.images.extend(map(html.unescape, _ADDRESS.findall(node.content)))
            text = ""
        case _:
            text = _escaped(node.content)
    return text


def _link(node: SyntaxTreeNode, found: _Found) -> str:
    target = str(node.attrs.get("href", ""))
    words = _inline(node, found)
    shown = "".join(child.content for child in node.children if child.type == "text")
    if target in {shown, f"mailto:{shown}"}:
        return words
    found.links.append(target)
    return f"{words} ({_code(target)})" if target else words


def _code(content: str) -> str:
    """In a span that the content cannot end."""
    fence = "`" * (max((len(run) for run in re.findall(r"`+", content)), default=0) + 1)
    space = " " if content.startswith("`") or content.endswith("`") else ""
    return f"{fence}{space}{' '.join(content.split())}{space}{fence}" if content.strip() else ""


def _escaped(text: str) -> str:
    return _TOUCHY.sub(r"\\\g<0>", text)
