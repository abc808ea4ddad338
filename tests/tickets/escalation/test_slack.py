"""Nothing that a ticket says is a mention, a link or a command in Slack, and nothing is too long for it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.tickets.escalation import Escalation
from gaby.tickets.escalation.slack import message

pytestmark = pytest.mark.promise("T7", "T8")
MARKER = "gaby-" + "0" * 32


def blocks(**more: Any) -> list[dict[str, Any]]:
    made: Any = message(replace(Escalation(MARKER, "needs_l2", "Help", ""), **more))
    return made["blocks"]


def words(block: dict[str, Any]) -> str:
    return block["text"]["text"] if "text" in block else block["elements"][0]["text"]


@pytest.mark.parametrize(
    "attack", ["<!here>", "<!channel|now>", "<@U123>", "<https://evil.example|Reset>", "&lt;!here>"]
)
def test_no_mention_or_link_comes_from_a_ticket(attack: str) -> None:
    made = blocks(title=attack, summary=attack, reasons=(attack,), steps=(attack,))

    assert all(attack not in words(block) for block in made[1:])
    assert all("<" not in words(block) for block in made[1:])


@pytest.mark.parametrize("word", ["@channel", "@here", "@Everyone"])
def test_words_that_call_everybody_call_nobody(word: str) -> None:
    assert all(word not in words(block) for block in blocks(title=word, summary=f"hi {word}", reasons=(word,)))


@pytest.mark.parametrize("link", ["javascript:alert(1)", "https://a.example/>|<!here>", "https://a.example/\n<!here>"])
def test_a_link_is_a_link_or_nothing(link: str) -> None:
    assert "<!here>" not in "".join(map(words, blocks(link=link)))


def test_long_texts_are_cut_to_what_slack_takes() -> None:
    made = blocks(title="x" * 9000, summary="&" * 9000, reasons=("<" * 9000,) * 50, steps=("y" * 9000,) * 500)

    assert len(words(made[0])) <= 150
    assert all(len(words(block)) <= 3000 for block in made)
    assert words(made[2]).endswith("&amp;…")
    assert len(made) <= 50


@given(st.text(max_size=300), st.text(st.sampled_from("<>&!@|here;"), max_size=4000))
def test_whatever_a_ticket_says_slack_reads_as_plain_words(title: str, summary: str) -> None:
    for block in blocks(title=title, summary=summary)[1:]:
        assert "<" not in words(block)
        assert ">" not in words(block)
        assert len(words(block)) <= 3000
