"""Markdown read aloud: the words stay, the marks go, and code is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.markdown_text import items_with_their_heading, plain_text

pytestmark = pytest.mark.promise("K5")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("# Accounts\n\n## Lock-outs ##1", "Accounts\n\nLock-outs ##1"),
        ("   ### Deep\n#hashtag stays", "Deep\n#hashtag stays"),
        ("Open [the portal](https://portal.lanternfish.example/a?b=1) now.", "Open the portal now."),
        ("See [the page](wiki/Lock_(account)) and [it](a.md 'Why').", "See the page and it."),
        ('See [the page](a.md "Why not") and [that][ref].\n\n[ref]: https://x.example', "See the page and that."),
        ("![The ribbon](ribbon.png) is turned.", "The ribbon is turned."),
        ("[![Build](badge.svg)](https://ci.example/x) passes", "Build passes"),
        ("**Never** do _this_, *not* __once__, ***really***.", "Never do this, not once, really."),
        ("**Use `unlock_user` [here](a.md)**.", "Use unlock_user here."),
        ("snake_case_name, 2*3*4, a * b * c, __dunder", "snake_case_name, 2*3*4, a * b * c, __dunder"),
        ("Above\n\n---\n\n* * *\n___\n\nBelow", "Above\n\n\n\nBelow"),
        ("- one\n- two\n\n1. three", "- one\n- two\n\n1. three"),
        ("a [list] of [x] marks", "a [list] of [x] marks"),
    ],
)
def test_marks_go_and_words_stay(written: str, read: str) -> None:
    assert plain_text(written) == read


def test_front_matter_is_not_read() -> None:
    assert plain_text("---\ntitle: Locks\ntags:\n  - a\n---\n\n# Locks\n\nText.\n") == "Locks\n\nText."
    assert plain_text("\n---\ntitle: Locks\n---") == ""


def test_a_passage_between_two_rules_is_no_front_matter() -> None:
    assert plain_text("---\n\nThe account is locked.\n\n---\n\nMore.") == "The account is locked.\n\n\nMore."
    assert plain_text("---\nThe account is locked.\n---\nMore.") == "The account is locked.\nMore."
    assert plain_text("---\ntitle: it never ends\n\nText.") == "title: it never ends\n\nText."


@pytest.mark.parametrize(
    "code", ["# no heading", "rm *.log *.tmp *x*", "handlers[0](event)", "def __init__(self):", "[a]: b", "---", "`x`"]
)
def test_code_is_left_as_it_is(code: str) -> None:
    assert plain_text(f"Run:\n\n```sh\n{code}\n```\n\n**Then** wait.") == f"Run:\n\n{code}\n\nThen wait."
    assert plain_text(f"~~~\n{code}\n```\n~~~") == f"{code}\n```"
    if "`" not in code:
        assert plain_text(f"Type `{code}` and *wait*.") == f"Type {code} and wait."


def test_a_fence_that_never_closes_loses_nothing() -> None:
    assert plain_text("Run:\n```\nrm *x*\nmore") == "Run:\nrm *x*\nmore"


MARKS = ["[", "]", "(", ")", "*", "**", "_", "`", "```", "~~~", "#", "---", "!", "\n", " ", "a", ":", '"', "\t", "\r\n"]


@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(MARKS), max_size=60).map("".join)))
def test_any_text_is_read_without_adding_a_letter(text: str) -> None:
    read = plain_text(text)
    assert len(read) <= len(text)
    letters = iter(text)
    assert all(letter in letters for letter in read), "what is read stands in the text, in the same order"


@pytest.mark.parametrize(
    "piece", [*MARKS, "[a](", "[![", "[![a](b)", "](x(y", "*a ", "_a_ ", "[a]: ", "- - ", "---\n", "a: b\n", "`a"]
)
def test_marks_without_end_are_read_in_the_time_of_their_length(piece: str) -> None:
    endless = piece * (60_000 // len(piece))
    plain_text(endless)
    plain_text(f"---\na: b\n{endless}")
    plain_text(f"[{endless}](")


def test_an_item_is_read_with_the_heading_that_it_stands_under() -> None:
    text = "## What it does not prove\n\n- That a row is true.\n\n```\n- left: alone\n```\n"
    assert items_with_their_heading(text) == (
        "## What it does not prove\n\n- What it does not prove – That a row is true.\n\n```\n- left: alone\n```\n"
    )
    assert items_with_their_heading("- without a heading") == "- without a heading"
