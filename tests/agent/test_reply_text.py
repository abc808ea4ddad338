"""A text that cites keeps its lines and items, whatever is left out of it."""

import pytest

from gaby.agent.reply_text import ReplyText

pytestmark = pytest.mark.promise("K5")


def test_lines_and_items_stay_and_what_is_left_out_leaves_no_gap() -> None:
    text = ReplyText.read("Hello,\n\n1. One [p1]. Two [p2].\n2. Three [p1].\n\nBye")
    tokens = {"p1": "doc:a", "p2": "doc:b"}
    assert text.written(tokens) == "Hello,\n\n1. One. [doc:a] Two. [doc:b]\n2. Three. [doc:a]\n\nBye"
    assert text.written(tokens, without={1, 3}) == "Hello,\n\n1. Two. [doc:b]\n\nBye"


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "[", "[p1]", "[p1] [p1]", "- ", "1.", "\x00", "[[p1]]", "a" * 200_000, "[p1]" * 5000],
    ids=lambda text: repr(text[:10]),
)
def test_no_text_is_too_strange_to_be_read(text: str) -> None:
    assert "[p1]" not in ReplyText.read(text).written({"p1": "doc:a"}) or "[[p1]]" in text
