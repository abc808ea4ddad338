"""Tokens: what is written into an answer is understood again, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.citations.tokens import CallCitation, LineCitation, parse
from gaby.mind import cited_sentences

pytestmark = pytest.mark.promise("K5")


@given(
    source=st.from_regex(r"[a-z0-9][a-z0-9-]{0,20}", fullmatch=True),
    uri=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=80),
    headings=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), max_size=5),
    first=st.integers(1, 10**6),
    more=st.integers(0, 1000),
)
def test_a_token_names_the_same_lines_when_it_is_read_again(
    source: str, uri: str, headings: list[str], first: int, more: int
) -> None:
    token = str(LineCitation(source, uri, first, first + more, tuple(headings)))
    read = parse(token)
    assert isinstance(read, LineCitation)
    assert (read.source, read.uri, read.first, read.last) == (source, uri, first, first + more)
    assert cited_sentences(f"It is so [{token}]. And more.")[0].citations == (token,)


def test_a_token_reads_well() -> None:
    lines = LineCitation("runbooks", "mfa/lock-outs.md", 12, 30, ("Accounts", "Lock-outs", "Unlock"))
    assert str(lines) == "doc:runbooks/mfa/lock-outs.md#Accounts/Lock-outs/Unlock#L12-L30"
    assert str(LineCitation("docs", "a b.md", 7, 7)) == "doc:docs/a%20b.md#L7"


def test_results_of_tools_are_cited_too() -> None:
    token = str(CallCitation("directory", "find_user", 3))
    assert token == "tool:directory.find_user#3"
    assert parse(token) == CallCitation("directory", "find_user", 3)


@pytest.mark.parametrize(
    "text",
    [
        "", "doc:", "doc:a", "doc:a/b", "doc:a/b#L0", "doc:a/b#L5-L2", "doc:a/b#x#y#L1", "doc:/b#L1", "doc:a/#L1",
        "http://x.example/#L1", "doc:a/b%00#L1",
        "doc:a/b#L99999999999", "tool:x#1", "tool:a.b#0", "doc:" + "a/" * 5000 + "#L1",
    ],
)  # fmt: skip
def test_what_is_no_token_is_not_taken_for_one(text: str) -> None:
    assert parse(text) is None


@given(st.text(max_size=300))
def test_any_text_is_read_without_trouble(text: str) -> None:
    cited = parse(text)
    assert cited is None or parse(str(cited)) == cited
