"""Sentences and their citations: in whatever way a model puts the brackets, each claim keeps its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.mind.citation_parser import CitingSentence, cited_sentences
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("K5")

A, B = "doc:docs/a.md#Lock-outs/Unlock#L1-L3", "doc:docs/b.md#L7"
LOCKED, RENEW = "The account is locked.", "Renew the certificate."


def pairs(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.text, each.citations) for each in cited_sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        f"The account is locked [{A}]. Renew the certificate [{B}].",
        f"The account is locked. [{A}] Renew the certificate. [{B}]",
        f"The account is locked.[{A}] Renew the certificate.[{B}]",
        f"The account is locked. [{A}]. Renew the certificate [{B}].",
        f"The account is locked [{A}].\nRenew the certificate [{B}].",
        f"The account is locked.\n[{A}]\n\nRenew the certificate.\n[{B}]",
        f"[{A}] The account is locked.\n[{B}] Renew the certificate.",
        f"The account [{A}] is locked. Renew [{B}] the certificate.",
        f"- The account is locked. [{A}]\n- Renew the certificate. [{B}]",
    ],
)
def test_brackets_before_and_behind_the_full_stop_belong_to_their_sentence(text: str) -> None:
    assert pairs(text) == [(LOCKED, (A,)), (RENEW, (B,))]


def test_several_citations_are_all_kept_and_each_once() -> None:
    assert pairs(f"The account is locked [{A}] [{B}][{A}].") == [(LOCKED, (A, B))]
    assert pairs(f"The account is locked [{A}]. [{B}], [{A}]") == [(LOCKED, (A, B))]


def test_a_sentence_without_a_citation_has_none() -> None:
    assert pairs(f"The account is locked. Renew the certificate [{B}].") == [(LOCKED, ()), (RENEW, (B,))]


def test_a_markdown_link_is_no_citation() -> None:
    text = "See [portal](https://portal.lanternfish.example) and [the guide](guide.md)."
    assert pairs(text) == [(text, ())]


def test_words_in_brackets_with_blanks_are_text() -> None:
    text = "Press [Save as] and wait [about an hour]."
    assert pairs(text) == [(text, ())]


@pytest.mark.parametrize(
    "token",
    [
        "doc:a/b.md#x#L1-L3",
        "doc:wiki/https://wiki.lanternfish.example/x?y=1&z=2#L4",
        "doc:docs/R%C3%A9sum%C3%A9%20%5B1%5D.pdf#Seite/3#L1-L200",
        "doc:docs/v1.2/e.g.md#Who?/What!#L9",
        "tool:directory.find_user#3",
        "directory.find_user#1",
    ],
)
def test_a_token_comes_back_as_it_was_written(token: str) -> None:
    assert pairs(f"The account is locked [{token}]. Renew the certificate.") == [(LOCKED, (token,)), (RENEW, ())]
    assert pairs(f"The account is locked. [{token}]") == [(LOCKED, (token,))]


def test_nothing_is_glued_together_where_a_citation_was_taken_out() -> None:
    assert pairs(f"Edit the .env file [{A}], then restart [{B}] .") == [("Edit the .env file, then restart.", (A, B))]


def test_citations_alone_claim_nothing() -> None:
    assert cited_sentences(f"[{A}]") == []
    assert cited_sentences("") == []


@given(st.lists(st.one_of(hostile_texts, st.sampled_from([f"[{A}]", f"[{B}].", ". ", "\n", "[", "](x)"])), max_size=8))
def test_any_text_gives_sentences_and_only_tokens_that_stand_in_it(pieces: list[str]) -> None:
    text = "".join(pieces)
    for each in cited_sentences(text):
        assert isinstance(each, CitingSentence)
        assert each.text.strip(" .,;")
        assert all(f"[{token}]" in text for token in each.citations)
        assert len(set(each.citations)) == len(each.citations)


@pytest.mark.parametrize("piece", ["[", "[a", "[a].", "[a]", "]", ".[", "[a](", "\n[a] b", " [a]\t"])
def test_brackets_without_end_are_read_in_the_time_of_their_length(piece: str) -> None:
    cited_sentences(piece * 20_000)
