"""A sealed text opens only whole, with its key, in its place."""

from contextlib import suppress
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.kernel.crypto import CannotOpen
from gaby.kernel.crypto.envelope import SealedEnvelope, binding, open_sealed, seal

pytestmark = pytest.mark.promise("A6")

KEY = bytes(range(32))
WORKSPACE, OTHER = UUID(int=1), UUID(int=2)
PLACE = binding(WORKSPACE, "person:1", "audit")


@given(st.binary(max_size=500))
def test_what_is_sealed_opens_again(plain: bytes) -> None:
    text = seal(KEY, plain, PLACE).to_text()
    assert open_sealed(KEY, SealedEnvelope.from_text(text), PLACE) == plain
    assert open_sealed(KEY, SealedEnvelope.from_bytes(SealedEnvelope.from_text(text).to_bytes()), PLACE) == plain


def test_the_envelope_is_small_and_never_the_same_twice() -> None:
    first, second = seal(KEY, b"hello", PLACE), seal(KEY, b"hello", PLACE)
    assert first != second
    assert len(first.to_bytes()) == len(b"hello") + 37
    assert first.to_text().startswith("gs1.")


@pytest.mark.parametrize(
    "place",
    [
        binding(OTHER, "person:1", "audit"),
        binding(WORKSPACE, "person:2", "audit"),
        binding(WORKSPACE, "person:1", "tickets"),
        binding(WORKSPACE, "person:1audit", ""),
        binding(WORKSPACE, "", "person:1audit"),
        binding(WORKSPACE, "person:1"),
        b"",
    ],
)
def test_it_does_not_open_anywhere_else(place: bytes) -> None:
    with pytest.raises(CannotOpen, match="cannot be decrypted"):
        open_sealed(KEY, seal(KEY, b"x", PLACE), place)


def test_it_does_not_open_with_another_key() -> None:
    with pytest.raises(CannotOpen):
        open_sealed(bytes(32), seal(KEY, b"x", PLACE), PLACE)


@given(st.binary(max_size=40), st.data())
def test_no_bit_can_be_changed_unnoticed(plain: bytes, data: st.DataObject) -> None:
    sealed = bytearray(seal(KEY, plain, PLACE).to_bytes())
    bit = data.draw(st.integers(0, len(sealed) * 8 - 1))
    sealed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(CannotOpen):
        open_sealed(KEY, SealedEnvelope.from_bytes(bytes(sealed)), PLACE)


@given(st.binary(max_size=40), st.data())
def test_no_character_can_be_changed_added_or_removed_unnoticed(plain: bytes, data: st.DataObject) -> None:
    text = seal(KEY, plain, PLACE).to_text()
    at = data.draw(st.integers(0, len(text)))
    inserted = data.draw(st.text(max_size=3))
    changed = text[:at] + inserted + text[at + data.draw(st.integers(0, 3)) :]
    if changed != text:
        with pytest.raises(CannotOpen):
            open_sealed(KEY, SealedEnvelope.from_text(changed), PLACE)


@given(st.text() | st.from_regex(r"gs1\.[A-Za-z0-9_-]*", fullmatch=True))
def test_any_text_is_an_envelope_or_is_refused_in_our_own_words(text: str) -> None:
    with suppress(CannotOpen):
        assert SealedEnvelope.from_text(text).to_text() == text


@given(st.binary())
def test_any_bytes_are_an_envelope_or_are_refused_in_our_own_words(data: bytes) -> None:
    with suppress(CannotOpen):
        assert SealedEnvelope.from_bytes(data).to_bytes() == data


@given(st.lists(st.text(), max_size=3), st.lists(st.text(), max_size=3))
def test_different_places_never_look_alike(here: list[str], there: list[str]) -> None:
    assert (binding(WORKSPACE, *here) == binding(WORKSPACE, *there)) == (here == there)
