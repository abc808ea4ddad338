"""Comments and quoted strings of a structured header, by the grammar of RFC 5322.

A pattern cannot tell them apart: a comment may hold a quote, a quoted string a bracket, a comment another comment. What
stands in either is the sender's to write, so everything that decides whom to believe reads headers through this.
"""

from collections.abc import Iterator
from typing import NamedTuple

_SPACES = " \t"


class HeaderSyntaxError(ValueError):
    """The header is not written by the grammar, so nothing in it is believed."""


class HeaderPiece(NamedTuple):
    text: str
    quoted: bool
    """It stood in quotes, so no character in it has a meaning."""
    spaced: bool
    """A space or a comment stands before it."""


def header_pieces(text: str) -> Iterator[HeaderPiece]:
    """Single characters, and quoted strings as a whole; spaces and comments are told by `spaced` only.

    Takes time in proportion to the text, and no stack. Raises `HeaderSyntaxError` for characters that are not ASCII, or
    control anything, and for quotes and brackets without an end.
    """
    position, spaced = 0, False
    while position < len(text):
        character = text[position]
        if character in _SPACES:
            position, spaced = position + 1, True
        elif character == "(":
            position, spaced = _comment_end(text, position), True
        elif character == '"':
            value, position = _quoted_string(text, position)
            yield HeaderPiece(value, quoted=True, spaced=spaced)
            spaced = False
        elif not "!" <= character <= "~" or character in ")\\":
            raise HeaderSyntaxError("a character that does not belong there")
        else:
            yield HeaderPiece(character, quoted=False, spaced=spaced)
            position, spaced = position + 1, False


def unfolded(text: str) -> str:
    """Lines that go on are one. Any other line end stays, and is refused by whoever scans."""
    return text.replace("\r\n ", " ").replace("\r\n\t", "\t").replace("\n ", " ").replace("\n\t", "\t")


def _comment_end(text: str, start: int) -> int:
    depth, position = 0, start
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 1
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    raise HeaderSyntaxError("a comment without an end")


def _quoted_string(text: str, start: int) -> tuple[str, int]:
    value: list[str] = []
    position = start + 1
    while position < len(text):
        character = text[position]
        if character == '"':
            return "".join(value), position + 1
        if character == "\\":
            position += 1
            character = text[position : position + 1]
        if not character or not (character in _SPACES or "!" <= character <= "~"):
            raise HeaderSyntaxError("a quoted string with something that does not belong there")
        value.append(character)
        position += 1
    raise HeaderSyntaxError("a quoted string without an end")
