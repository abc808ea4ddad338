"""Encoded and invisible text is decoded, so that it can be judged."""

import base64

import pytest

from gaby.safety.redaction.hidden_text import find_hidden, find_unseen, readable

pytestmark = pytest.mark.promise("S9")


def test_base64_is_decoded() -> None:
    assert list(find_hidden("x aGVsbG8gd29ybGQh y")) == [(2, 18, b"hello world!")]
    assert list(find_hidden("aGVsbG8gd29ybGQhIQ==")) == [(0, 20, b"hello world!!")]
    assert list(find_hidden("aGVsbG8gd29ybGQhIQ")) == [(0, 18, b"hello world!!")]
    assert list(find_hidden("aGVsbG8gd29ybGQ")) == []
    assert list(find_hidden("aGVsbG8gd29ybGQhI")) == []
    raw = bytes([251, 255]) * 8
    assert list(find_hidden(base64.urlsafe_b64encode(raw).decode())) == [(0, 24, raw)]


def test_hexadecimal_is_decoded() -> None:
    assert list(find_hidden("68656c6C6f212121")) == [(0, 16, b"hello!!!")]
    assert list(find_hidden("x=68656c6c6f212121 ")) == [(2, 18, b"hello!!!")]
    assert [raw for _, _, raw in find_hidden("68656c6c6f2121212")] != [b"hello!!!"]


def test_percent_escapes_are_decoded() -> None:
    assert list(find_hidden("x %41%42%43%44 y")) == [(2, 14, b"ABCD")]
    assert list(find_hidden("%41b%42%43c%44d.e")) == [(0, 17, b"AbBCcDd.e")]
    assert list(find_hidden("%41%42%43")) == []
    assert list(find_hidden("%41 %42 %43 %44")) == []


def test_tags_are_letters() -> None:
    text = "".join(chr(0xE0000 + ord(character)) for character in "hi ~")
    assert list(find_unseen(f"x{text}y")) == [(1, 5, "hi ~")]
    assert list(find_unseen("x\U000e0041y")) == []
    assert list(find_unseen("\U000e001f\U000e007f")) == []


@pytest.mark.parametrize("pair", ["\u200b\u200c", "\u200c\u200b", "\u200d\u2060", "\ufeff\u180e"])
def test_two_invisible_characters_are_bits(pair: str) -> None:
    bits = "".join(f"{byte:08b}" for byte in b"leak")
    text = "".join(pair[int(bit)] for bit in bits)
    assert list(find_unseen(f"a{text}b")) == [(1, 33, "leak")]
    assert list(find_unseen(f"a{text}{pair[0]}")) == [(1, 34, "leak")]


def test_a_long_row_of_invisible_characters_is_told() -> None:
    assert list(find_unseen("a" + "\u200b" * 8)) == [(1, 9, "8 invisible characters")]
    assert list(find_unseen("a" + "\u200b" * 7)) == []
    assert list(find_unseen("plain")) == []


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"text", "text"),
        (b"tex", None),
        (b"a\tb\r\n", "a\tb\r\n"),
        (b"a\0bc", None),
        (b"\xff\xfe\xfd\xfc", None),
        ("äöüß".encode(), "äöüß"),
    ],
)
def test_bytes_are_readable_or_not(raw: bytes, text: str | None) -> None:
    assert readable(raw) == text
