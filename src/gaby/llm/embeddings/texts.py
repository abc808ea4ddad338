"""Texts from anywhere, made fit for every model, and what they are known by."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from gaby.kernel.text import has_lone_surrogate

_NO_CHARACTER = "\ufffd"


def clean(text: str) -> str:
    """NULs and lone halves of a surrogate pair mean nothing and become spaces; two halves that fit are joined."""
    if not text.isascii() and has_lone_surrogate(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace(_NO_CHARACTER, " ")
    return text.replace("\0", " ")


def digest(text: str) -> bytes:
    return sha256(text.encode()).digest()


def batches(texts: Sequence[str], *, characters: int, count: int) -> Iterator[Sequence[str]]:
    """In order, none above the limits except a single text that is longer by itself."""
    start = size = 0
    for end, text in enumerate(texts):
        if end > start and (size + len(text) > characters or end - start >= count):
            yield texts[start:end]
            start, size = end, 0
        size += len(text)
    if start < len(texts):
        yield texts[start:]
