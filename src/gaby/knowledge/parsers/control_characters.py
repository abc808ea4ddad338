"""Characters that belong in no text: they come out of converters and broken files."""

import re

_UNWANTED = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]+")


def cleaned(text: str) -> str:
    """Without control characters, halves of surrogate pairs and what is no character at all."""
    return _UNWANTED.sub("", text)
