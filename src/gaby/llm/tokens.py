"""How many tokens a text will cost, guessed from above: tokenizers differ, and a budget must hold for all of them."""

import math

_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ \n"

# Words are four or more letters to a token in every common tokenizer; digits, signs and other scripts up to one each.
_PER_LETTER = 1 / 3
_PER_OTHER_BYTE = 3 / 4
FRAME = 16
"""What a message, a tool or a system prompt costs besides its text."""


def estimate(text: str) -> int:
    data = text.encode("utf-8", "replace")
    others = len(data.translate(None, _LETTERS))
    return math.ceil((len(data) - others) * _PER_LETTER + others * _PER_OTHER_BYTE)
