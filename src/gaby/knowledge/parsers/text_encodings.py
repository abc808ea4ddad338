"""Bytes to characters: what the marks, the bytes themselves and the sender say about their encoding, in that order."""

import codecs
import re

from gaby.knowledge.documents import Unreadable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Python also has codecs that unpack archives or evaluate escapes; a sender may only name an alphabet.
_ALPHABETS = re.compile(r"(utf-(8|16|32)|iso8859-|iso2022_|cp\d|koi8|gb|big5|euc_|shift_jis|mac-|latin|ascii|hz|johab)")
_SAMPLE = 4096
_LINE_ENDS = re.compile(r"\r\n?")
# Tabs, line ends, page feeds and the escapes that colour a log are ordinary; a terminal's bell and backspace pass too.
_CONTROLS = re.compile(r"[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f-\x9f]+")
_ASCII_CONTROLS = bytes((*range(1, 7), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F))
_TOLERATED_CONTROLS = 0.02

_BINARY = Unreadable(
    "It is not text: it contains bytes that no text has. Leave it out, or save it as text, Markdown, HTML or PDF."
)


def decode(data: bytes, charset: str | None = None) -> str:
    """The text with line feeds alone as line ends, and never a NUL or half of a surrogate pair."""
    text = _characters(data, charset)
    if "\0" in text or _looks_binary(text):
        raise Unreadable(_BINARY.message)
    return _LINE_ENDS.sub("\n", text) if "\r" in text else text


def _characters(data: bytes, charset: str | None) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    declared = _known(charset)
    if declared and declared.startswith(("iso2022", "hz")):
        return data.decode(declared, "replace")
    if b"\0" in data[:_SAMPLE]:
        return data.decode(_wide(data[:_SAMPLE]) or _declared_wide(declared) or "utf-8", "replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _other(data, declared)


def _other(data: bytes, declared: str | None) -> str:
    """Not flawless UTF-8: what was declared, or UTF-8 with a few broken places, or the usual one of old files."""
    if declared and not declared.startswith("utf-8"):
        try:
            return data.decode(declared)
        except UnicodeDecodeError:
            pass
    repaired = data.decode("utf-8", "replace")
    broken = repaired.count("�")
    foreign = len(repaired) - len(repaired.encode("ascii", "ignore")) - broken
    if foreign > broken:
        return repaired
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _known(charset: str | None) -> str | None:
    try:
        name = codecs.lookup((charset or "").strip(" \"'")).name
    except (LookupError, ValueError):
        return None
    return name if _ALPHABETS.match(name) else None


def _declared_wide(declared: str | None) -> str | None:
    return declared if declared and declared.startswith(("utf-16", "utf-32")) else None


def _wide(sample: bytes) -> str | None:
    """UTF-16 without a mark: in most scripts that a company writes, every second byte of it is zero."""
    half = max(len(sample) // 2, 1)
    even, odd = sample[::2].count(0) / half, sample[1::2].count(0) / half
    if odd > 0.4 and even < 0.1:
        return "utf-16-le"
    if even > 0.4 and odd < 0.1:
        return "utf-16-be"
    return None


def _looks_binary(text: str) -> bool:
    if text.isascii():
        controls = len(text) - len(text.encode().translate(None, _ASCII_CONTROLS))
    else:
        controls = sum(map(len, _CONTROLS.findall(text)))
    return controls > len(text) * _TOLERATED_CONTROLS
