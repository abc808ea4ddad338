"""Replies load nothing, show where every link leads, and stay what they were otherwise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gaby.safety import clean_reply

pytestmark = pytest.mark.promise("S9", "S15")
EVIL = "https://evil.example/x"


def dangers(text: str) -> list[str]:
    """By a parser of its own, with everything switched on that desks switch on."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    every = [inner for token in tokens for inner in (token, *(token.children or ()))]
    return [token.type for token in every if token.type in {"image", "link_open", "html_block", "html_inline"}]


IMAGES = [
    f"![a]({EVIL})",
    f"![a](<{EVIL}>)",
    f"![a]({EVIL} 'title')",
    f"![a](\n{EVIL}\n)",
    f"![a][r]\n\n[r]: {EVIL}",
    f"![r][]\n\n[r]: {EVIL}",
    f"![r]\n\n[r]: <{EVIL}>",
    f"![r]\n\n> [r]: {EVIL}",
    f"[![a]({EVIL})](https://good.example)",
    f"![a [b] c]({EVIL})",
    f"![a\\]b]({EVIL})",
    f"- item\n  ![a]({EVIL})",
    f"> ![a]({EVIL})",
    f"# ![a]({EVIL})",
    f"*![a]({EVIL})*",
    f"<img src={EVIL}>",
    f"<IMG\nSRC='{EVIL}'\n>",
    f"<picture><source srcset={EVIL}></picture>",
    f"<video poster={EVIL}></video>",
    f"text <object data={EVIL}> text",
    f"<div style='background:url({EVIL})'>",
    f"<svg><image href={EVIL} /></svg>",
]


@pytest.mark.parametrize("text", IMAGES)
def test_nothing_is_loaded(text: str) -> None:
    cleaned = clean_reply(f"Hello,\n\n{text}\n\nbye")
    assert dangers(cleaned) == []
    assert cleaned.startswith("Hello,")
    assert cleaned.endswith("bye")


LINKS = [
    f"[https://good.example]({EVIL})",
    f"[good.example]({EVIL})",
    f"[click](<{EVIL}>)",
    f"[click][r]\n\n[r]: {EVIL}",
    f"[r]\n\n[r]: {EVIL}",
    f"[a **b** c]({EVIL})",
    f"[`good.example`]({EVIL})",
    f'[a]({EVIL} "good.example")',
    f"**[good.example]({EVIL})**",
    f"[a\nb]({EVIL})",
]


@pytest.mark.parametrize("text", LINKS)
def test_a_link_shows_where_it_leads(text: str) -> None:
    cleaned = clean_reply(text)
    assert dangers(cleaned) == []
    assert f"`{EVIL}`" in cleaned


def test_links_that_show_their_target_stay_as_they_are() -> None:
    assert clean_reply("See <https://help.example/a> or mail <ada@acme.example>.") == (
        "See https://help.example/a or mail ada@acme.example."
    )
    assert clean_reply("[https://a.example](https://a.example)") == "https://a.example"


@pytest.mark.parametrize(
    "text",
    [
        "Your account is unlocked again. [1] [2]\n\nSources:\n[1] `doc:help.md#L1-L9`",
        "- one\n- two\n  - deeper\n- three",
        "1. one\n2. two",
        "3. three\n4. four",
        "> quoted\n> twice",
        "# Heading\n\nText with *emphasis*, **weight** and `code`.",
        "snake_case_names and 5 % & more: fine.",
        "One line  \nand the next.",
        "a\n\n---\n\nb",
    ],
)
def test_what_is_harmless_stays_as_it_was_written(text: str) -> None:
    assert clean_reply(text) == text


@pytest.mark.parametrize(
    "text", ["1 * 2 * 3", "a < b > c", "`", "\\", "![", "](", "[x](", "&copy;", "~~no~~", "<>", "\n#\n", "+", "1)", "|"]
)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    once = clean_reply(text)
    assert clean_reply(once) == once


_PIECES = st.sampled_from(
    [
        *IMAGES,
        *LINKS,
        "![",
        "](",
        "]",
        "[",
        "(",
        ")",
        "<",
        ">",
        "\\",
        "`",
        "``",
        "*",
        "_",
        "\n",
        "\n\n",
        " ",
        "    ",
        "- ",
        "> ",
        "# ",
        "&lt;",
        "&#33;",
        "!",
        "img",
        "src=",
        EVIL,
        "[r]: ",
        "|",
        "~~~\n",
        "\t",
        "\xa0",
        "\ufeff",
        "a",
        "\x00",
    ]
)


@given(st.lists(_PIECES, max_size=12).map("".join))
def test_no_text_whatever_leaves_anything_that_loads_or_leads_elsewhere(text: str) -> None:
    assert dangers(clean_reply(text)) == []


def test_a_reply_without_end_is_cut() -> None:
    cleaned = clean_reply("word " * 50_000)
    assert len(cleaned) <= 50_002
    assert cleaned.endswith("…")


def test_a_way_through_menus_is_read_as_it_is_written() -> None:
    assert clean_reply("Open Account > Payment > Cards.") == "Open Account > Payment > Cards."
    assert clean_reply("Open\n\\> Payment") == "Open\n\\> Payment"
