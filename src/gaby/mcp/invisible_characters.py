"""Characters that a person does not see and a model reads: they hide orders inside of innocent texts."""

import unicodedata

# Blank, but counted as letters or marks by Unicode.
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_ALLOWED_CONTROLS = frozenset("\t\n\r")
# Cc controls, Cf zero width and direction and tags, Cs halves of pairs, Co private, Zl and Zp breaks of lines.
_HIDDEN_KINDS = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
# Variation selectors, and what Unicode reserves for characters that are not shown.
_HIDDEN_RANGES = ((0x180B, 0x180F), (0x2065, 0x2065), (0xFE00, 0xFE0F), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF))


def hidden_character(text: str) -> str | None:
    """The first character of the text that cannot be seen, as `U+200B`, or nothing."""
    if text.isascii() and text.isprintable():
        return None
    for character in text:
        if character not in _ALLOWED_CONTROLS and _is_hidden(character):
            return f"U+{ord(character):04X}"
    return None


def _is_hidden(character: str) -> bool:
    if unicodedata.category(character) in _HIDDEN_KINDS or character in _FILLERS:
        return True
    return any(first <= ord(character) <= last for first, last in _HIDDEN_RANGES)
