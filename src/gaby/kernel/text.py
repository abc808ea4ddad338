"""Text from outside: what we accept, and how we print what we do not trust."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

_CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]
# They reorder what a reader sees, so that a line can pretend to say something else.
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_NOT_ONE_LINE = frozenset(_CONTROLS + _DIRECTIONS)
_NOT_PLAIN = re.compile(r"[^\x20-\x7e]")
_NOT_PLAIN_LINES = re.compile(r"[^\x20-\x7e\t\n]")
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
_SPACES = frozenset("\u00a0\u2007\u2009\u202f\u3000")
"""Spaces that people write with; they take up room, so nothing hides behind them."""
# Letters and marks that show nothing: fillers, the empty Braille pattern, and selectors of variants. The one selector
# that is left asks for the coloured form of a sign.
_FILLERS = [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0]
_SELECTORS = [*range(0x180B, 0x1810), *range(0xFE00, 0xFE0F), *range(0xE0100, 0xE01F0)]
_BLANK = frozenset(map(chr, _FILLERS + _SELECTORS))

# No character of Unicode is composed of more than four, so a longer text stays too long after normalising.
_COMPOSED_OF = 4


def clean_text(text: str, *, max_length: int, min_length: int = 0, one_line: bool = False) -> str:
    """The text in NFC, or a `ValueError` that says why it cannot be stored. Lengths count characters after NFC."""
    if "\0" in text:
        raise PydanticCustomError("text_nul", "must not contain a NUL character")
    if has_lone_surrogate(text):
        raise PydanticCustomError("text_surrogate", "must be valid Unicode; it contains half of a surrogate pair")
    too_long = PydanticCustomError("text_too_long", "must have at most {max} characters", {"max": max_length})
    if len(text) > max_length * _COMPOSED_OF:
        raise too_long
    text = unicodedata.normalize("NFC", text)
    if len(text) > max_length:
        raise too_long
    if len(text) < min_length:
        raise PydanticCustomError("text_too_short", "must have at least {min} characters", {"min": min_length})
    if one_line and any(ord(character) in _NOT_ONE_LINE for character in text):
        raise PydanticCustomError("text_not_one_line", "must be one line without control characters")
    return text


def has_lone_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def printable(text: str, *, one_line: bool = False) -> str:
    """The text with whatever could move a cursor, forge a line, hide, or break an encoder made visible as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return (_NOT_PLAIN if one_line else _NOT_PLAIN_LINES).sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if character in _SHORT:
        return _SHORT[character]
    if (character.isprintable() and character not in _BLANK) or character in _SPACES:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@dataclass(frozen=True)
class CleanText:
    """Makes a pydantic field a clean text: `note: Annotated[str, Clean(max_length=500)]`."""

    max_length: int
    min_length: int = 0
    one_line: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        # Before the string check, whose own complaint about surrogates is hard to understand.
        return core_schema.no_info_before_validator_function(self._before, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "maxLength": self.max_length, "minLength": self.min_length}

    def _before(self, value: object) -> object:
        if not isinstance(value, str):
            return value
        return clean_text(value, max_length=self.max_length, min_length=self.min_length, one_line=self.one_line)


CleanStr = Annotated[str, CleanText(max_length=200, min_length=1, one_line=True)]
"""A name or a title."""

"""A message or a note."""
