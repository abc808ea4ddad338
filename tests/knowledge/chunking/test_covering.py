"""Whatever a text is, its passages are the text: every character once, in order, with the right lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.chunking import cut
from gaby.knowledge.chunking.languages import GRAMMARS
from gaby.knowledge.chunking.sizes import SOFT_MAXIMUM
from gaby.knowledge.documents import DocumentText, PdfHeading
from gaby.llm.tokens import estimate
from tests.knowledge.chunking.laws import lawful

pytestmark = pytest.mark.promise("K2")

KINDS = ["plain", "markdown", "html", "python", *GRAMMARS, "a language that nobody knows"]
LONG = "Some words that follow one another without an end in sight, and more. " * 60
SNIPPETS = [
    *("\n", "\n\n", " ", "\t", "    ", "\r", "\f", "\u2028", "é", "日本語", "😀", "words. ", "Words!\n"),
    *("# Title\n", "## Deeper ##\n", "Under\n===\n", "---\n", "```\n", "~~~go\n", "    ```\n", "- item\n", "1. ```\n"),
    *("| a | b |\n", "|---|---|\n", "> # quoted\n", "<!-- -->\n", "title: x\n", "+++\n"),
    *(
        "def f():\n    return 1\n",
        "class A:\n",
        "    def g(self): pass\n",
        "@deco\n",
        "# comment\n",
        "'''",
        "x = 1; y = 2\n",
    ),
    *(
        "func F() {\n}\n",
        "function f() {\n",
        "}\n",
        "// note\n",
        "/*",
        "class B { m() {} }\n",
        "({[",
        '"',
        "#ifdef X\n",
    ),
    *(LONG, LONG.replace(" ", ""), "x = [\n" + "1,\n" * 900 + "]\n", "word\n" * 700, "y" * 5000, " " * 4000),
]
TEXTS = st.lists(st.sampled_from(SNIPPETS), max_size=12).map("".join)


@given(kind=st.sampled_from(KINDS), text=TEXTS | st.text())
def test_passages_are_the_text(kind: str, text: str) -> None:
    lawful(DocumentText("t", text, kind))


@given(data=st.data(), text=TEXTS)
def test_passages_of_pages_are_the_text(data: st.DataObject, text: str) -> None:
    places = st.integers(0, max(len(text) - 1, 0))
    pages = (0, *sorted(data.draw(st.lists(places, max_size=4))))
    headings = st.builds(PdfHeading, places, st.integers(1, 4), st.sampled_from(["A", "B", "C"]))
    lawful(DocumentText("t", text, "pdf", pages, tuple(data.draw(st.lists(headings, max_size=5)))))


@given(kind=st.sampled_from(["plain", "pdf"]), text=TEXTS)
def test_plain_text_never_exceeds_the_maximum(kind: str, text: str) -> None:
    passages = lawful(DocumentText("t", text, kind))
    assert all(
        estimate(passage.extract(text)) <= SOFT_MAXIMUM or passage.extract(text).rstrip() != passage.extract(text)
        for passage in passages
    )


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_has_no_passages(kind: str) -> None:
    assert cut(DocumentText("t", "", kind)) == []


HOSTILE = {
    "one word": "x" * 1_000_000,
    "one line": "word " * 100_000,
    "blanks": " " * 500_000 + "x",
    "empty lines": "\n" * 200_000 + "x",
    "a log": "2030-01-02 ERROR disk full on node-7\n" * 20_000,
    "brackets": "([{" * 20_000,
    "rules": "a\n---\n" * 10_000,
    "fences": "```\n" * 20_000,
    "fences that never end": "".join("    " + "`" * (3 + number % 900) + "x\n" for number in range(3000)),
    "links": "[[" * 100_000,
}


@pytest.mark.parametrize("kind", ["plain", "markdown", "pdf", "python", "javascript"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_text_that_is_made_to_hurt_is_cut_like_any_other(kind: str, name: str) -> None:
    passages = cut(DocumentText("t", HOSTILE[name], kind))
    assert sum(passage.end - passage.start for passage in passages) == len(HOSTILE[name])


def test_a_parser_that_is_kept_busy_is_not_waited_for() -> None:
    assert {passage.headings for passage in cut(DocumentText("t", 'r#"' * 100_000, "cpp"))} == {()}
