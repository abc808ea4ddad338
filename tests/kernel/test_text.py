"""Text from outside is clean when it is stored, and harmless when it is printed."""

import unicodedata
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from gaby.kernel.text import CleanStr, CleanText, clean_text, has_lone_surrogate, printable

any_text = st.text(st.characters(categories=None))


class Note(BaseModel):
    title: CleanStr
    body: Annotated[str, CleanText(max_length=100_000)] = ""


def refusal(text: str, *, min_length: int = 0, one_line: bool = False) -> str:
    with pytest.raises(ValueError, match="must") as caught:
        clean_text(text, max_length=10, min_length=min_length, one_line=one_line)
    return str(caught.value)


def test_each_refusal_says_why() -> None:
    assert "NUL" in refusal("a\0b")
    assert "surrogate" in refusal("a\ud800b")
    assert "at most 10" in refusal("x" * 11)
    assert "at most 10" in refusal("x" * 1_000_000)
    assert "at least 1" in refusal("", min_length=1)
    for hostile in ("a\nb", "a\x1b[0m", "a\u202eb", "a\x85b"):
        assert "one line" in refusal(hostile, one_line=True)


def test_the_same_word_typed_two_ways_is_stored_once() -> None:
    assert clean_text("e\u0301", max_length=1) == "\xe9"


def test_lengths_count_what_is_stored() -> None:
    assert len(clean_text("e\u0301" * 10, max_length=10)) == 10
    assert "at most" in refusal("\u0958" * 6)
    assert len(clean_text("\u03b1\u0313\u0300\u0345" * 10, max_length=10)) == 10


def test_lines_are_welcome_where_they_belong() -> None:
    assert Note(title="A title", body="two\nlines\tand more").body == "two\nlines\tand more"


def test_a_schema_states_the_limits() -> None:
    title = Note.model_json_schema()["properties"]["title"]
    assert (title["type"], title["minLength"], title["maxLength"]) == ("string", 1, 200)


@pytest.mark.parametrize("value", [7, None, b"bytes", ["list"]])
def test_what_is_no_text_is_left_to_pydantic(value: object) -> None:
    with pytest.raises(ValidationError):
        Note.model_validate({"title": value}, strict=True)


@given(any_text)
def test_whatever_is_accepted_is_safe_and_stays_the_same(text: str) -> None:
    try:
        clean = clean_text(text, max_length=50)
    except ValueError:
        assert "\0" in text or has_lone_surrogate(text) or len(unicodedata.normalize("NFC", text)) > 50
        return
    assert clean == unicodedata.normalize("NFC", text)
    assert clean_text(clean, max_length=50) == clean
    clean.encode()


@given(any_text)
def test_what_is_printed_is_one_harmless_line(text: str) -> None:
    shown = printable(text, one_line=True)
    shown.encode()
    assert len(shown.splitlines()) <= 1
    assert not any(unicodedata.category(character) == "Cc" for character in shown)
    assert printable(shown, one_line=True) == shown


@given(any_text)
def test_printing_keeps_lines_but_nothing_that_moves_a_cursor(text: str) -> None:
    controls = {each for each in printable(text) if unicodedata.category(each) == "Cc"}
    assert controls <= {"\n", "\t"}


def test_ordinary_text_is_printed_as_it_is() -> None:
    assert printable("Bjørn paid 5 € 😀", one_line=True) == "Bjørn paid 5 € 😀"
