"""A page is read into units that can stand alone, from a real parse of its Markdown."""

import pytest
from hypothesis import given

from gaby.mind.page_units import page_units
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("K5", "G2")

PAGE = """---
readers: staff
---
# Remote access

Install **Harbour** from the [portal](https://portal.example/apps) *before* you travel.

## Common errors

Errors that people see:

- **Error 31**: the clock is wrong. Set it.
- `E-77`, the profile is missing:
  - open Settings
  - import it

1. Open the app.
2. Choose *Repair*.

| Plan | Price | Seats |
|---|---|---|
| Gold | 5 EUR | 10 |
| Blue | `3 EUR` | |
"""


def test_units_are_plain_text_with_their_labels_and_headings() -> None:
    units = page_units(PAGE)
    assert [(each.kind, each.label, each.text) for each in units] == [
        ("paragraph", "", "Install Harbour from the portal (https://portal.example/apps) before you travel."),
        ("paragraph", "", "Errors that people see:"),
        ("item", "Error 31", "Error 31: the clock is wrong. Set it."),
        ("item", "E-77", "E-77, the profile is missing: open Settings; import it."),
        ("steps", "", "1. Open the app.\n2. Choose Repair."),
        ("item", "", "Open the app."),
        ("item", "", "Choose Repair."),
        ("row", "Gold", "Plan: Gold; Price: 5 EUR; Seats: 10."),
        ("row", "Blue", "Plan: Blue; Price: 3 EUR."),
    ]
    assert units[2].headings == ("Remote access", "Common errors")
    assert units[2].lead == "Errors that people see:"


def test_no_heading_front_matter_or_mark_stands_in_a_unit() -> None:
    texts = [each.text for each in page_units(PAGE)]
    assert not [text for text in texts if "Common errors" in text or "readers" in text or "**" in text or "`" in text]


def test_items_of_one_list_share_a_block_and_units_below_a_heading_a_section() -> None:
    first, second, *_ = [each for each in page_units(PAGE) if each.kind == "item"]
    assert first.block == second.block
    assert len({each.section for each in page_units(PAGE)}) == 2


def test_a_text_that_is_no_markdown_has_paragraphs() -> None:
    assert [each.text for each in page_units("The kitchen closes at six.\nMilk is bought on Mondays.")] == [
        "The kitchen closes at six. Milk is bought on Mondays."
    ]


@given(text=hostile_texts)
def test_any_text_has_units(text: str) -> None:
    assert all(each.text for each in page_units(text))


@pytest.mark.parametrize(
    "piece", ["[", "*", "> ", "- ", "|", "`", "![](", "<a", "1. ", "**a ", "|a|b|\n|-|-|\n", "# ", "---\n", "\\"]
)
def test_a_page_without_end_is_read_to_a_bound(piece: str) -> None:
    assert len(page_units(piece * (1_000_000 // len(piece)))) <= 400
