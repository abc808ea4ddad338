"""Text that hides in other text: base64, hexadecimal, percent escapes, and characters that nobody sees."""

import base64
import binascii
import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from gaby.safety.redaction.scanned_text import long_tokens

_ENCODED = re.compile(r"[A-Za-z0-9+/_\-]{16,}+={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){8,}")
_ESCAPED = re.compile(r"%(?:[0-9a-fA-F]{2})(?:[\w.~/:@\-]{0,8}%[0-9a-fA-F]{2}){3,}+[\w.~/:@\-]{0,200}+")
_TAGS = re.compile("[\U000e0020-\U000e007e]{2,}+")
_ZERO_WIDTH = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\u180e]{8,}+")
_SHORTEST_TEXT = 4


def find_hidden(text: str) -> Iterator[tuple[int, int, bytes]]:
    """Where something may hide, and what it decodes to."""
    for start, end in long_tokens(text):
        for match in _ENCODED.finditer(text, start, end):
            if _HEX.fullmatch(match[0]):
                yield *match.span(), bytes.fromhex(match[0])
            elif raw := _base64(match[0]):
                yield *match.span(), raw
    if "%" in text:
        for match in _ESCAPED.finditer(text):
            yield *match.span(), unquote_to_bytes(match[0])


def find_unseen(text: str) -> Iterator[tuple[int, int, str]]:
    """Where characters stand that nobody sees, and what they say."""
    if text.isascii():
        return
    for match in _TAGS.finditer(text):
        yield *match.span(), "".join(chr(ord(character) - 0xE0000) for character in match[0])
    for match in _ZERO_WIDTH.finditer(text):
        yield *match.span(), _bits(match[0]) or f"{len(match[0])} invisible characters"


def readable(raw: bytes) -> str | None:
    """The bytes as text, when they are one that a person could read."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    is_text = len(text) >= _SHORTEST_TEXT and all(c.isprintable() or c in "\t\r\n" for c in text)
    return text if is_text else None


def _base64(text: str) -> bytes | None:
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        return None


def _bits(text: str) -> str | None:
    """Two invisible characters in turn are the bits of bytes, one way or the other."""
    for one in set(text):
        bits = "".join("1" if character == one else "0" for character in text)
        raw = bytes(int(bits[place : place + 8], 2) for place in range(0, len(bits) - 7, 8))
        if decoded := readable(raw):
            return decoded
    return None
