"""Markdown is cut where its author made sections, and nothing that belongs together is torn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gaby.knowledge.chunking import cut
from gaby.knowledge.chunking.markdown_structure import marks_of
from gaby.knowledge.chunking.sizes import HARD_MAXIMUM, SOFT_MAXIMUM
from gaby.knowledge.documents import DocumentText
from gaby.llm.tokens import estimate
from tests.knowledge.chunking.laws import in_one_passage, lawful

pytestmark = pytest.mark.promise("K2")

SENTENCE = "The account stays locked until the desk has seen the badge of its owner. "
PARAGRAPH = SENTENCE * 6 + "\n\n"


def sections(text: str) -> list[tuple[tuple[str, ...], int, int]]:
    passages = lawful(DocumentText("t", text, "markdown"))
    return [(passage.headings, passage.first_line, passage.last_line) for passage in passages]


def test_every_section_of_some_length_is_a_passage_with_its_headings() -> None:
    text = f"# Accounts\n\n{PARAGRAPH}## Lock-outs\n\n{PARAGRAPH}### By mistake\n\n{PARAGRAPH}## Removal\n\n{PARAGRAPH}"
    assert sections(text) == [
        (("Accounts",), 1, 3),
        (("Accounts", "Lock-outs"), 5, 7),
        (("Accounts", "Lock-outs", "By mistake"), 9, 11),
        (("Accounts", "Removal"), 13, 15),
    ]


def test_small_sections_find_together_below_their_parent() -> None:
    text = "# Codes\n\n## E1\n\nDisk full.\n\n## E2\n\nNo route.\n\n## E3\n\nNo time.\n"
    assert sections(text) == [(("Codes",), 1, 13)]


def test_a_heading_without_words_of_its_own_stays_with_the_first_section_below_it() -> None:
    text = f"# Accounts\n\n## Lock-outs\n\n{PARAGRAPH}## Removal\n\n{PARAGRAPH}"
    assert sections(text)[0] == (("Accounts", "Lock-outs"), 1, 5)


def test_a_front_matter_is_part_of_the_first_passage_and_has_no_headings() -> None:
    text = f"---\ntitle: x\n# no heading\n---\n\n# Accounts\n\n{PARAGRAPH}"
    assert sections(text) == [(("Accounts",), 1, 8)]


def test_underlined_headings_count() -> None:
    text = f"Accounts\n========\n\n{PARAGRAPH}Lock-outs\nby mistake\n---\n\n{PARAGRAPH}"
    assert [headings for headings, _, _ in sections(text)] == [("Accounts",), ("Accounts", "Lock-outs by mistake")]


@pytest.mark.parametrize(
    "block",
    [
        "```sh\n# install\n## really\n```\n",
        "~~~\n# a\n```\n# b\n~~~\n",
        "````md\n```\n# a\n```\n````\n",
        "- ```sh\n  # a\n  ```\n",
        "1. Step\n    ```sh\n# a\n    ```\n",
        "> # quoted\n",
        "    # indented code\n",
        "#hashtag\n",
        "####### seven\n",
        "- item\n---\n",
        "```\n- ```\n# a\n```\n",
        "word " * 300 + "\n---\n",
        "| a |\n---\n",
        "\n---\n",
    ],
)
def test_what_only_looks_like_a_heading_is_none(block: str) -> None:
    assert [title.words for title in marks_of(f"# Real\n\n{block}\n# Next\n").titles] == ["Real", "Next"]


BLOCKS = st.sampled_from(
    [
        *("# One\n", "## Two ##\n", "### *Three*\n", "Under\n===\n", "Two\nlines\n---\n", "---\n", "Words. More.\n"),
        *("```\n# no\n```\n", "~~~py\n\n# no\n~~~\n", "> quote\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "* * *\n"),
        *("- item\n- item\n", "1. one\n\n   more\n", "    code\n", "#no\n", "``inline``\n", "```not closed` x\n", "\n"),
    ]
)


@given(st.lists(BLOCKS, max_size=12).map("\n".join))
def test_headings_and_fences_are_those_of_the_standard(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(text)
    headings = [token.map[0] for token in tokens if token.type == "heading_open" and token.map and not token.level]
    fences = [token.map[0] for token in tokens if token.type == "fence" and token.map]
    marks = marks_of(text)
    assert [text.count("\n", 0, title.start) for title in marks.titles] == headings
    assert [text.count("\n", 0, start) for start, _ in marks.fences] == fences


def fence(lines: int) -> str:
    return "```\n" + "echo one two three\n\n" * lines + "```\n"


def table(rows: int) -> str:
    return "| code | meaning |\n|---|---|\n" + "| E1 | the disk is full |\n" * rows


WHOLE = st.builds(fence, st.integers(1, 250)) | st.builds(table, st.integers(1, 200))
PROSE = st.sampled_from([PARAGRAPH, SENTENCE + "\n\n", "## Next\n\n", "- one\n- two\n\n", SENTENCE * 60 + "\n\n"])


@given(st.lists(WHOLE.map(lambda block: (block, True)) | PROSE.map(lambda prose: (prose, False)), max_size=8))
def test_tables_and_code_stay_whole_and_nothing_else_exceeds_the_maximum(blocks: list[tuple[str, bool]]) -> None:
    text = "".join(block + ("\n" if whole else "") for block, whole in blocks)
    passages = lawful(DocumentText("t", text, "markdown"))
    position = 0
    for block, whole in blocks:
        if whole and estimate(block) < HARD_MAXIMUM:
            assert in_one_passage(passages, position, position + len(block))
        position += len(block) + whole
    for passage in passages:
        words = passage.extract(text)
        assert estimate(words) <= SOFT_MAXIMUM or words.startswith(("```", "| code"))


@pytest.mark.parametrize("block", [fence(2000), table(2000)])
def test_a_block_beyond_all_measure_is_cut_between_its_lines(block: str) -> None:
    passages = lawful(DocumentText("t", block, "markdown"))
    assert len(passages) > 10
    assert all(passage.extract(block).endswith("\n") for passage in passages)


def test_a_paragraph_that_is_too_long_is_cut_at_the_ends_of_sentences() -> None:
    text = SENTENCE * 100
    passages = lawful(DocumentText("t", text, "markdown"))
    assert len(passages) > 2
    assert all(passage.extract(text).startswith("The account") for passage in passages)


def test_list_items_are_not_torn() -> None:
    text = "".join(f"- Step {number}: {SENTENCE}\n  {SENTENCE}\n\n  and wait.\n" for number in range(40))
    passages = lawful(DocumentText("t", text, "markdown"))
    assert len(passages) > 2
    assert all(passage.extract(text).startswith("- Step") for passage in passages)


def test_what_leads_over_to_a_block_stays_with_it() -> None:
    text = (PARAGRAPH + "Then run:\n\n```sh\nunlock --all\n```\n\n") * 9
    passages = lawful(DocumentText("t", text, "markdown"))
    assert len(passages) > 2
    assert all(
        in_one_passage(passages, position, position + len("Then run:\n\n```sh"))
        for position in range(len(text))
        if text.startswith("Then run:", position)
    )


def test_the_parts_of_a_long_section_are_about_equally_large() -> None:
    text = "# One\n\n" + PARAGRAPH * 7
    sizes = [estimate(passage.extract(text)) for passage in cut(DocumentText("t", text, "markdown"))]
    assert max(sizes) < 2 * min(sizes)
