"""Other languages than Python, by their grammars."""

import re
from collections.abc import Sequence
from functools import cache
from time import thread_time

from tree_sitter import Language, Parser, Point
from tree_sitter import Node as Found

from gaby.knowledge.chunking.code import DEEPEST, CodeNode
from gaby.knowledge.chunking.languages import GRAMMARS, Grammar
from gaby.knowledge.chunking.sizes import SOFT_MAXIMUM

_FOREIGN = re.compile(r"[^\x00-\x7f]")
# Written above what they belong to.
_ABOVE = frozenset(("comment", "line_comment", "block_comment", "attribute_item", "decorator"))
_NAMES = frozenset(("constant", "name", "word", "generic_type", "scope_resolution", "namespace_name"))
_MOSTLY = 0.8
_DEEPEST_CORE = 50
_LONGEST_NAME = 80
_MOST_ERRORS = 0.25
_PIECE = 512
# Text that is made for it keeps a parser busy for minutes. Half a megabyte that is written to be read takes a tenth of
# this; whatever takes longer is cut like plain text.
_PATIENCE_SECONDS = 2.0


def tree_nodes(text: str, kind: str) -> list[CodeNode] | None:
    """None when it cannot be understood well enough, or not in reasonable time."""
    # Letters of other alphabets only occur in names, texts and comments: one byte for each keeps the offsets the same.
    root = _parsed((text if text.isascii() else _FOREIGN.sub("x", text)).encode(), kind)
    if root is None or root.is_error:
        return None
    children = root.children
    if sum(child.end_byte - child.start_byte for child in children if child.is_error) > len(text) * _MOST_ERRORS:
        return None
    return _SyntaxWalker(text, GRAMMARS[kind]).nodes(children, 0, 0)


def _parsed(data: bytes, kind: str) -> Found | None:
    until = thread_time() + _PATIENCE_SECONDS
    late = False

    def ask(offset: int, _: Point) -> bytes:
        nonlocal late
        late = late or thread_time() > until
        return b"" if late else data[offset : offset + _PIECE]

    tree = Parser(_language(kind)).parse(ask)
    return None if late else tree.root_node


@cache
def _language(kind: str) -> Language:
    return GRAMMARS[kind].load()


class _SyntaxWalker:
    def __init__(self, text: str, grammar: Grammar) -> None:
        self._text = text
        self._functions = grammar.functions
        self._named = grammar.functions | grammar.groups

    def nodes(self, children: Sequence[Found], floor: int, depth: int) -> list[CodeNode]:
        """None begins before `floor`, where the node begins that they are in."""
        nodes: list[CodeNode] = []
        above: int | None = None
        end = floor
        for child in children:
            # Brackets and separators stay with what they follow.
            if not child.is_named:
                end = child.end_byte
                continue
            apart = self._text.count("\n", end, child.start_byte)
            if child.type in _ABOVE:
                if above is None or apart > 1:
                    nodes += self._loose(above)
                    # What is written behind something on its line stays there.
                    above = child.start_byte if apart or not nodes else None
            else:
                nodes += self._loose(above) if apart > 1 else ()
                start = child.start_byte if above is None or apart > 1 else above
                nodes.append(self._node(child, max(_line_start(self._text, start), floor), depth))
                above = None
            end = _visible_end(self._text, child)
        return nodes + self._loose(above)

    def _loose(self, start: int | None) -> list[CodeNode]:
        return [] if start is None else [CodeNode(_line_start(self._text, start))]

    def _node(self, child: Found, start: int, depth: int) -> CodeNode:
        names = self._names(child)
        if child.end_byte - child.start_byte <= SOFT_MAXIMUM and child.type not in self._functions:
            return CodeNode(start, names)
        core = self._core(child)
        if core.type in self._functions or depth >= DEEPEST:
            return CodeNode(start, names, whole=True)
        if not self._has_function(core):
            return CodeNode(start, names)
        body = core.child_by_field_name("body") or core
        return CodeNode(start, names, whole=True, members=tuple(self.nodes(body.children, start, depth + 1)))

    def _core(self, node: Found) -> Found:
        """What `export`, an assignment or a call is mostly about."""
        for _ in range(_DEEPEST_CORE):
            if node.type in self._named:
                break
            largest = max(node.named_children, key=_length, default=node)
            if _length(largest) < _length(node) * _MOSTLY:
                break
            node = largest
        return node

    def _has_function(self, node: Found) -> bool:
        cursor = node.walk()
        depth = int(cursor.goto_first_child())
        while depth:
            if cursor.node and cursor.node.type in self._functions:
                return True
            if cursor.goto_first_child():
                depth += 1
                continue
            while depth and not cursor.goto_next_sibling():
                cursor.goto_parent()
                depth -= 1
        return False

    def _names(self, node: Found, *, deeper: int = 2) -> tuple[str, ...]:
        """What it declares: `("Ledger", "settle")` for a method that is declared outside of its class."""
        if node.type in self._named:
            return self._own_names(node)
        value = node.child_by_field_name("value")
        if value and value.type in self._named:
            return self._own_names(node)
        for child in node.named_children[:4] if deeper else ():
            if names := self._names(child, deeper=deeper - 1):
                return names
        return ()

    def _own_names(self, node: Found) -> tuple[str, ...]:
        receiver = node.child_by_field_name("receiver")
        owner = re.findall(r"\w+", self._words(receiver).partition("[")[0])[-1:] if receiver else []
        return (*owner, *re.split(r"::|\\", self._words(_name_node(node)))) if _name_node(node) else ()

    def _words(self, node: Found | None) -> str:
        return self._text[node.start_byte : min(node.end_byte, node.start_byte + _LONGEST_NAME)] if node else ""


def _name_node(node: Found) -> Found | None:
    for _ in range(8):
        if "identifier" in node.type or node.type in _NAMES:
            return node
        inner = node.child_by_field_name("name") or node.child_by_field_name("declarator")
        if inner is None and node.type == "impl_item":
            inner = node.child_by_field_name("type")
        if inner is None and node.type == "type_declaration" and node.named_children:
            inner = node.named_children[0]
        if inner is None:
            return None
        node = inner
    return None


def _length(node: Found) -> int:
    return node.end_byte - node.start_byte


def _line_start(text: str, position: int) -> int:
    """The beginning of the line where nothing but white space is before the position."""
    start = position
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    return start if start == 0 or text[start - 1] == "\n" else position


def _visible_end(text: str, node: Found) -> int:
    """Some comments include the end of their line."""
    end = node.end_byte
    while end > node.start_byte and text[end - 1] in " \t\n":
        end -= 1
    return end
