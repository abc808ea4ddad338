"""Text from outside: what we accept, and how we print what we do not trust."""

import unicodedata
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

_CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]
# They reorder what a reader sees, so that a line can pretend to say something else.
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_SURROGATES = range(0xD800, 0xE000)
_UNPRINTABLE = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _CONTROLS + _DIRECTIONS}
_ONE_LINE = {**_UNPRINTABLE, 0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}
_LINES = {code: escape for code, escape in _UNPRINTABLE.items() if code not in (0x09, 0x0A)}

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
    if one_line and any(ord(character) in _ONE_LINE for character in text):
        raise PydanticCustomError("text_not_one_line", "must be one line without control characters")
    return text


def has_lone_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def printable(text: str, *, one_line: bool = False) -> str:
    """The text with whatever could move a cursor, forge a line or break an encoder made visible as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return text.encode("utf-8", "backslashreplace").decode().translate(_ONE_LINE if one_line else _LINES)


@dataclass(frozen=True)
class Clean:
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


CleanStr = Annotated[str, Clean(max_length=200, min_length=1, one_line=True)]
"""A name or a title."""

CleanText = Annotated[str, Clean(max_length=100_000)]
"""A message or a note."""
