"""Answers look like answers where HTML is shown, and nothing in them loads or leads anywhere."""

import re

import pytest

from gaby.tickets.adapters.markup import as_html

pytestmark = pytest.mark.promise("T6", "S9")


def test_what_is_written_as_markdown_is_shown_as_meant() -> None:
    shown = as_html("**Unlocked.**\nSign in again.\n\n- one\n- two\n\nSources:\n[1] `doc:kb/lock.md#L1-L4`")
    assert "<strong>Unlocked.</strong><br />" in shown
    assert "<li>one</li>" in shown
    assert "<code>doc:kb/lock.md#L1-L4</code>" in shown


@pytest.mark.parametrize(
    "hostile",
    [
        "<img src=x onerror=alert(1)>",
        "<script>alert(1)</script>",
        "![a](https://evil.example/p.png)",
        "[click](javascript:alert(1))",
        "[click](https://evil.example)",
        "<https://evil.example>",
        "[a]\n\n[a]: https://evil.example",
        '<div style="position:fixed">',
        "\x00" + "*" * 5000,
        "> " * 2000 + "deep",
    ],
)
def test_nothing_in_it_loads_or_leads_anywhere(hostile: str) -> None:
    shown = as_html(hostile)
    tags = set(re.findall(r"<\s*/?\s*([a-zA-Z0-9]+)([^>]*)>", shown))
    assert {name for name, _ in tags} <= {"p", "br", "em", "strong", "blockquote", "hr", "li", "ul"}
    assert {more.strip() for _, more in tags} <= {"", "/"}
