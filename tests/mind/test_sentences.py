"""A ticket is cut into sentences, and every one of them stands where it says it does."""

import pytest
from hypothesis import given

from gaby.mind.sentences import LONGEST, split
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("G2")


def plain(text: str) -> list[str]:
    return [sentence.plain for sentence in split(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It fails. We tried twice! Why?", ["It fails.", "We tried twice!", "Why?"]),
        ("Ask Mr. Smith, e.g. today. He knows.", ["Ask Mr. Smith, e.g. today.", "He knows."]),
        ("Version 2.8.0 of app.acme.example broke. Yes.", ["Version 2.8.0 of app.acme.example broke.", "Yes."]),
        ('It says "Invalid token." Then nothing.', ['It says "Invalid token."', "Then nothing."]),
        ("- first thing\n- second thing", ["first thing", "second thing"]),
        ("1. open it\n2. press save", ["open it", "press save"]),
        ("- an item\n  that goes on\n- another", ["an item that goes on", "another"]),
        ("> quoted words\n> go on here. Next.", ["quoted words go on here.", "Next."]),
        ("Hi team,\nThe login is broken", ["Hi team,", "The login is broken"]),
        ("User: bob\nHost: db01", ["User: bob", "Host: db01"]),
        ("", []),
        (" \n\t\n ", []),
    ],
)
def test_text_is_cut_where_a_reader_would_pause(text: str, expected: list[str]) -> None:
    assert plain(text) == expected


def test_a_line_that_a_mail_program_broke_is_one_sentence() -> None:
    text = "Since the update of last Thursday nobody in the whole office can\nprint labels any more."
    assert plain(text) == [text.replace("\n", " ")]


def test_every_log_line_is_its_own_and_code_is_left_whole() -> None:
    text = "2026-03-01 10:00:01 ERROR refused. Again.\n2026-03-01 10:00:02 INFO ok\n```\nx = 1. y = 2\n```"
    kinds = [sentence.kind for sentence in split(text)]
    assert kinds == ["log", "log", "code", "code", "code"]
    assert plain(text)[0].endswith("refused. Again.")


def test_old_mail_and_headers_are_known_as_such() -> None:
    text = "Subject: broken\nIt is broken.\nOn Mon, 3 May 2026, Bob wrote:\n> have you tried it"
    assert [sentence.kind for sentence in split(text)] == ["header", "prose", "header", "quote"]


@given(hostile_texts)
def test_sentences_are_pieces_of_the_text_in_order_and_leave_no_word_out(text: str) -> None:
    sentences = split(text)
    end = 0
    for sentence in sentences:
        assert sentence.start >= end
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip()
        assert 0 < len(sentence.text) <= LONGEST
        assert not text[end : sentence.start].strip()
        end = sentence.end
    assert not text[end:].strip()
    assert sentences == split(text)


@pytest.mark.parametrize("piece", ["a", ". ", "A.\n", "- x\n", "> ", "x: y\n", "```\n", "a. B "])
def test_much_of_one_thing_is_no_trouble(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    assert sum(len(sentence.text) for sentence in split(text)) <= len(text)
