"""A reading folds what looks alike, drops what nobody sees, and knows where everything stood."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.safety.redaction.detection import recognise
from gaby.safety.redaction.normalized_text import (
    COMPATIBLE,
    FOLDED,
    INVISIBLE,
    NormalizedText,
    canonical,
    is_plain,
    lower,
    readings,
)
from gaby.safety.redaction.spans import Kind

pytestmark = pytest.mark.promise("S5")


@pytest.mark.parametrize("text", ["", "plain", "two\nlines\ttab\r\n", "\x0b\x0c", "a\x1eb", "~ !"])
def test_plain_text_is_read_as_it_is(text: str) -> None:
    assert is_plain(text)
    assert [reading.text for reading in readings(text)] == [text]
    assert not readings(text)[0].changed


@pytest.mark.parametrize("text", ["é", "a\x00b", "\x08", "\x0e", "\x1d", "\x1f", "\x7f", "4\u200b1"])
def test_other_text_is_not_plain(text: str) -> None:
    assert not is_plain(text)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("４１１１", "4111"),
        ("٤١", "41"),
        ("①②", "12"),
        ("ａｄａ＠ａｃｍｅ．ｅｘａｍｐｌｅ", "ada@acme.example"),
        ("аdа", "ada"),
        ("αdα", "ada"),
        ("é", "e"),
        ("Ü", "U"),
        ("a\u00a0b\u2003c", "a b c"),
        ("a–b—c−d", "a-b-c-d"),
        ("a。b．c", "a.b.c"),
        ("ﬁ", "ﬁ"),
        ("漢字", "漢字"),
        ("𝐚𝟏", "a1"),
    ],
)
def test_look_alikes_are_folded_one_for_one(text: str, read: str) -> None:
    assert readings(text)[0].text == read


def test_what_is_invisible_is_dropped_in_a_second_reading() -> None:
    text = "4\u200b1\u00ad1\x001"
    first, second = readings(text)
    assert first.text == text
    assert second.text == "4111"
    assert second.place(0, 4) == (0, 7)
    assert second.place(1, 2) == (2, 3)
    assert second.changed


def test_a_keycap_reads_as_its_digit() -> None:
    assert readings("4\ufe0f\u20e31\ufe0f\u20e3")[-1].text == "41"


@pytest.mark.parametrize(
    "character",
    [
        *"\x00\x08\x0e\x1d\x1f\x7f\x84\x86\x9f\u00ad\u0300\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180f\u200b\u200f",
        *"\u202a\u202e\u2060\u206f\u20d0\u20ff\u3164\ufe00\ufe0f\ufeff\uffa0\ufff0\ufffb\U000e0000\U000e0fff",
    ],
)
def test_an_invisible_character_hides_nothing(character: str) -> None:
    text = f"4111 1111 11{character}11 1111"
    assert [text[span.start : span.end] for span in recognise(text, {"card"})] == [text]


@pytest.mark.parametrize("character", "\t\n\x0b\x0c\r\x1e \x85\u2028a1-é\u0370\u2010\u2070\ufffc")
def test_what_is_seen_is_kept(character: str) -> None:
    assert INVISIBLE.search(character) is None


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("card", "４１１１ １１１１ １１１１ １１１１"),
        ("card", "4111\u200b1111\u200b1111\u200b1111"),
        ("card", "4111–1111—1111‑1111"),
        ("card", "4111\u00a01111\u00a01111\u00a01111"),
        ("card", "4️⃣111111111111111"),
        ("card", "٤١١١١١١١١١١١١١١١"),
        ("email", "аda@аcme.example"),
        ("email", "ada＠acme．example"),
        ("email", "ada\u200b@acme\u200b.example"),
        ("iban", "ＤＥ89 3704 0044 0532 0130 00"),
        ("iban", "DЕ89 3704 0044 0532 0130 00"),
        ("phone", "＋49 151 12345678"),
        ("national_id", "12345678Ζ"),
        ("password", "pаssword=hunter2"),
    ],
)
def test_a_disguised_spelling_is_recognised_where_it_stands(kind: Kind, text: str) -> None:
    (span,) = recognise(f"so: {text} ok", {kind})
    found = f"so: {text} ok"[span.start : span.end]
    assert found == ("hunter2" if kind == "password" else text)


def test_numbers_that_an_invisible_character_keeps_apart_are_both_found() -> None:
    text = "4111111111111111\u200b5555555555554444"
    assert [text[span.start : span.end] for span in recognise(text, {"card"})] == [text[:16], text[17:]]


def test_a_value_has_one_canonical_spelling() -> None:
    assert canonical("Ada\u200b@ACME．example") == "ada@acme.example"
    assert canonical("аda@acme.example") != canonical("ada@acme.example")
    assert canonical("José") == "josé"


def test_lower_case_keeps_every_place() -> None:
    assert lower("ABC") == "abc"
    assert lower("İA") == "İa"
    assert lower("") == ""


def test_replacements_stand_where_the_match_stood() -> None:
    reading = NormalizedText("a[.]b[.]c").sub(re.compile(r"\[\.\]"), lambda _: ".")
    assert reading.text == "a.b.c"
    assert reading.place(0, 1) == (0, 1)
    assert reading.place(1, 2) == (1, 4)
    assert reading.place(0, 5) == (0, 9)
    assert reading.place(2, 3) == (4, 5)
    longer = reading.sub(re.compile("b"), lambda _: "xyz")
    assert longer.text == "a.xyz.c"
    assert longer.place(2, 5) == longer.place(3, 4) == (4, 5)
    assert longer.place(6, 7) == (8, 9)


def test_without_a_match_nothing_changes() -> None:
    reading = NormalizedText("abc")
    assert reading.sub(re.compile("x"), lambda _: "y") is reading
    assert not reading.changed


def test_a_match_at_the_very_start_counts() -> None:
    assert NormalizedText("xa").without(re.compile("x")).text == "a"
    assert NormalizedText("xa").without(re.compile("x")).place(0, 1) == (1, 2)


def test_translating_keeps_places() -> None:
    reading = NormalizedText("a\u200bé").without(INVISIBLE).translated(FOLDED)
    assert reading.text == "ae"
    assert reading.place(1, 2) == (2, 3)


def test_the_tables_do_not_grow_for_ever() -> None:
    everything = "".join(map(chr, range(0x80, 0x20000)))
    assert len(everything.translate(COMPATIBLE)) == len(everything)
    assert 10_000 < len(COMPATIBLE) <= 20_000
    assert len(FOLDED) <= 20_000
    assert chr(0x1D7CF).translate(COMPATIBLE) == "1"


@given(st.text())
def test_every_reading_is_mapped_back(text: str) -> None:
    for reading in readings(text):
        for place in range(len(reading.text)):
            start, end = reading.place(place, place + 1)
            assert end == start + 1
            original = unicodedata.normalize("NFD", text[start])
            assert reading.text[place] == text[start].translate(FOLDED) or original
