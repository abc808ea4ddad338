"""Notion."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.documents import Unreadable
from gaby.knowledge.sources.config import SourceConfig, SourceDependencies
from gaby.knowledge.sources.notion_blocks import NotionBlock, as_markdown_text
from gaby.knowledge.sources.source import DocumentSource, SourceUnavailable
from tests.knowledge.sources.conftest import Opening, Sleeper
from tests.support.knowledge.listing import listing
from tests.support.knowledge.notion import TOKEN, ScriptedNotion, block, rich, scripted_notion

pytestmark = pytest.mark.promise("K1")


@pytest.fixture
def notion() -> Generator[ScriptedNotion]:
    with scripted_notion() as scripted:
        yield scripted


@pytest.fixture
def source(notion: ScriptedNotion, opening: Opening) -> DocumentSource:
    return opening(SourceConfig("notion", notion.url, secret=TOKEN))


async def _markdown(notion: ScriptedNotion, source: DocumentSource, *blocks: dict[str, Any]) -> str:
    uri = notion.add(1, "A page", *blocks).replace("-", "")
    return await (await listing(source)).text(uri)


async def test_every_page_is_listed_however_many_parts_it_takes(notion: ScriptedNotion, source: DocumentSource) -> None:
    pages = [notion.add(number, f"Page {number}") for number in range(5)]
    found = await listing(source)
    assert found.uris == [page.replace("-", "") for page in pages]
    assert found.total == 5
    brought = await found.bring(pages[3].replace("-", ""))
    assert (brought.title, brought.media_type) == ("Page 3", "text/markdown")
    assert brought.link == f"https://www.notion.so/{pages[3]}"


async def test_blocks_become_markdown(notion: ScriptedNotion, source: DocumentSource) -> None:
    row = {"type": "table_row", "table_row": {"cells": [[rich("a|b")], [rich("c")]]}}
    text = await _markdown(
        notion,
        source,
        block("heading_1", "VPN"),
        block("paragraph", "First\nsecond"),
        block("bulleted_list_item", "one", block("bulleted_list_item", "nested", block("code", "x", language="sh"))),
        block("bulleted_list_item", "two"),
        block("numbered_list_item", "step"),
        block("to_do", "done", checked=True),
        block("to_do", "open", checked=False),
        block("toggle", "Question?", block("paragraph", "Answer.")),
        block("quote", "wise"),
        block("callout", "careful", block("paragraph", "really")),
        block("code", "a ``` b", language="plain text"),
        {"type": "table", "table": {"table_width": 2}, "children": [row, row]},
        block("divider"),
        block("column_list", "", block("column", "", block("paragraph", "in a column"))),
        block("image", "", caption=[rich("A picture of the switch")]),
        block("unsupported"),
    )
    assert text == (
        "# VPN\n\nFirst\nsecond\n\n- one\n  - nested\n    ```sh\n    x\n    ```\n- two\n1. step\n"
        "- [x] done\n- [ ] open\n\n"
        "**Question?**\n\nAnswer.\n\n> wise\n\n> careful\n>\n> really\n\n````\na ``` b\n````\n\n"
        "| a\\|b | c |\n| --- | --- |\n| a\\|b | c |\n\n---\n\nin a column\n\nA picture of the switch\n"
    )


async def test_code_and_links_within_words_stay(notion: ScriptedNotion, source: DocumentSource) -> None:
    words = [rich("run "), rich("ls", code=True), rich(" or "), rich("see", href="https://a.example/")]
    bad = [rich("click", href="javascript:alert(1)")]
    text = await _markdown(notion, source, block("paragraph", rich_text=words), block("paragraph", rich_text=bad))
    assert text == "run `ls` or [see](https://a.example/)\n\nclick\n"


async def test_words_in_the_columns_of_a_database_belong_to_the_page(
    notion: ScriptedNotion, source: DocumentSource
) -> None:
    page = notion.add(1, "Q", block("paragraph", "body"))
    notion.pages[page]["properties"]["Answer"] = {"type": "rich_text", "rich_text": [rich("Restart it.")]}
    notion.pages[page]["properties"]["Done"] = {"type": "checkbox", "checkbox": True}
    assert await (await listing(source)).text(page.replace("-", "")) == "**Answer**: Restart it.\n\nbody\n"


async def test_an_edit_is_another_fingerprint_and_a_fresh_one_is_looked_at_once_more(
    notion: ScriptedNotion, source: DocumentSource, opening: Opening, dependencies: SourceDependencies
) -> None:
    page = notion.add(1, "A", edited="2030-01-02T03:04:00.000Z").replace("-", "")
    fresh = (await listing(source)).known()[page]
    later = replace(dependencies, now=lambda: dependencies.now().replace(hour=5))
    settled = (await listing(opening(SourceConfig("notion", notion.url, secret=TOKEN), later))).known()[page]
    assert fresh != settled == "2030-01-02T03:04:00.000Z"


async def test_pages_in_the_bin_and_pages_that_are_gone_are_not_listed(
    notion: ScriptedNotion, source: DocumentSource
) -> None:
    pages = [notion.add(number, "P") for number in range(3)]
    notion.pages[pages[0]]["archived"] = True
    notion.pages[pages[1]]["in_trash"] = True
    found = await listing(source)
    assert found.uris == [pages[2].replace("-", "")]
    notion.remove(pages[2])
    with pytest.raises(Unreadable, match="no longer there"):
        await found.bring(pages[2].replace("-", ""))
    assert (await listing(source)).uris == []


async def test_pages_within_pages_are_pages_of_their_own(notion: ScriptedNotion, source: DocumentSource) -> None:
    child = block("child_page", title="Inner")
    child["children"] = [block("paragraph", "not here")]
    assert await _markdown(notion, source, child) == "- Inner\n"


async def test_nesting_is_followed_only_so_deep(notion: ScriptedNotion, source: DocumentSource) -> None:
    nested = block("paragraph", "deepest")
    for number in reversed(range(20)):
        nested = block("paragraph", f"level {number}", nested)
    text = await _markdown(notion, source, nested)
    assert "level 7" in text
    assert "level 8" not in text


async def test_a_page_without_end_is_refused(notion: ScriptedNotion, source: DocumentSource) -> None:
    notion.at_once = 100
    page = notion.add(1, "Long", *(block("paragraph", "x") for _ in range(10_001))).replace("-", "")
    with pytest.raises(Unreadable, match="10000 blocks"):
        await (await listing(source)).bring(page)


async def test_a_busy_notion_is_given_the_pause_it_asks_for(
    notion: ScriptedNotion, source: DocumentSource, sleeper: Sleeper
) -> None:
    page = notion.add(1, "A", block("paragraph", "x")).replace("-", "")
    notion.refusals = [(429, {"Retry-After": "3"})]
    found = await listing(source)
    notion.refusals = [(429, {"Retry-After": "2"}), (503, {"Retry-After": "1"})]
    assert await found.text(page) == "x\n"
    assert sleeper.waits == [3.0, 2.0, 1.0]


@pytest.mark.parametrize("status", [400, 404, 429, 500])
async def test_a_listing_that_breaks_off_is_not_taken_for_complete(
    notion: ScriptedNotion, source: DocumentSource, status: int
) -> None:
    for number in range(5):
        notion.add(number, "P")
    notion.refusals = [(status, {"Retry-After": "900"})]
    with pytest.raises(SourceUnavailable):
        await listing(source)


async def test_a_wrong_token_is_told_and_never_shown(notion: ScriptedNotion, opening: Opening) -> None:
    with pytest.raises(SourceUnavailable, match="does not accept the token") as raised:
        await listing(opening(SourceConfig("notion", notion.url, secret="ntn_wrong")))
    assert "ntn_wrong" not in raised.value.message


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["rich_text", "cells", "plain_text"]), inner)
    ),
    max_leaves=12,
)
_kinds = st.sampled_from(
    ["paragraph", "heading_1", "code", "table", "table_row", "to_do", "toggle", "image", "quote", "?"]
)


@given(_kinds, st.dictionaries(st.sampled_from(["rich_text", "cells", "language", "caption", "url"]), _json), _kinds)
def test_no_answer_breaks_the_reading(kind: str, data: dict[str, Any], inner: str) -> None:
    assert as_markdown_text([NotionBlock(kind, data, [NotionBlock(inner, data)])]).endswith("\n")
