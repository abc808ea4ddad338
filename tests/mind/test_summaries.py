"""A summary holds only what its sources say, and says where; when nothing fits it is empty."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.llm.embeddings.embed import Embed
from gaby.mind.fields import statements
from gaby.mind.summaries import CitedSentence, SummaryPassage, summarise
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("G2", "L4")

RULE = SummaryPassage(
    "kb://lockout#L1",
    "A device with the old password locks the account. The canteen\nis open at noon. Ask for old phones before you "
    "unlock the account.",
)
USER = SummaryPassage(
    "tool://get_user",
    json.dumps({"user": {"id": "usr_1", "lock_reason": "wrong password", "mfa": "app", "note": None}}),
)


def summary_sentences(
    question: str, passages: list[SummaryPassage], embed: Embed, limit: int = 3
) -> list[CitedSentence]:
    return list(summarise(question, passages, embed, limit).sentences)


def test_sentences_are_copied_with_their_source(embed: Embed) -> None:
    sentences = summary_sentences("Why is my account locked? The old password?", [RULE, USER], embed)
    assert CitedSentence("A device with the old password locks the account.", ("kb://lockout#L1",)) in sentences
    assert CitedSentence("usr_1: lock reason: wrong password, mfa: app", ("tool://get_user",)) in sentences
    assert not any("canteen" in sentence.text for sentence in sentences)


def test_what_two_sources_say_is_said_once_with_both(embed: Embed) -> None:
    same = [
        SummaryPassage("a", "The export is empty since the deploy."),
        SummaryPassage("b", "The export is  empty\nsince the deploy."),
    ]
    assert summary_sentences("why is the export empty?", same, embed) == [
        CitedSentence("The export is empty since the deploy.", ("a", "b"))
    ]


def test_nothing_is_said_when_nothing_fits(embed: Embed) -> None:
    assert summary_sentences("How do I bake sourdough bread?", [RULE, USER], embed) == []
    one_word = SummaryPassage("kb", "A 401 from the receiving server means that the signing key does not match.")
    assert summary_sentences("Who won the football match on Sunday?", [one_word], embed) == []
    assert summary_sentences("", [RULE], embed) == []
    assert summary_sentences("account locked", [], embed) == []
    assert summary_sentences("account locked", [RULE], embed, 0) == []


def test_no_more_sentences_than_asked_for(embed: Embed) -> None:
    many = [SummaryPassage(str(number), f"The account number {number} is locked.") for number in range(30)]
    assert len(summary_sentences("Which account is locked?", many, embed, 4)) == 4


def test_records_and_rules_that_belong_together_are_told_together(embed: Embed) -> None:
    rule = SummaryPassage("kb", "Devices stop reporting while an account is suspended. Holidays are in summer.")
    record = SummaryPassage("tool", json.dumps({"account": {"id": "acc_3", "status": "suspended", "plan": "starter"}}))
    citations = {
        sentence.citations
        for sentence in summary_sentences("All our devices stopped reporting.", [rule, record], embed)
    }
    assert citations == {("kb",), ("tool",)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"status": "locked", "tries": 7}', "status: locked, tries: 7"),
        ('{"id": "usr_1", "isLocked": true, "note": ""}', "usr_1: is locked: yes"),
        ('[{"name": "db-9", "disks": [{"mount": "/data", "used": 97}]}]', "db-9 disks: mount: /data, used: 97"),
        ('{"values": [1, 2, 3, 4, 5, 9, 8]}', "values: first 1, last 8, lowest 1, highest 9"),
        ('{"tags": ["a", "b"]}', "tags: a, b"),
        ("endpoint: ep_1\nstate: off", "endpoint: ep_1, state: off"),
        ("| site | state |\n|---|---|\n| North | offline |", "North: state: offline"),
        ("site\tstate\nNorth\toffline", "North: state: offline"),
        ("name,state,since\nNorth,offline,today", "North: state: offline, since: today"),
    ],
)
def test_what_a_tool_answered_becomes_readable_fields(text: str, expected: str) -> None:
    (statement,) = statements(text)
    shown = ", ".join(field.text for field in statement.fields)
    assert (f"{statement.subject}: {shown}" if statement.subject else shown) == expected


@pytest.mark.parametrize(
    "text", ["{broken", "[1, 2", "[" * 5000, '{"a":' * 2000, "a | b", "x: y", "", "null", "[]", "{}"]
)
def test_what_only_looks_like_data_is_read_as_text(text: str) -> None:
    statements(text)


@given(question=hostile_texts, texts=st.lists(hostile_texts, max_size=4))
def test_whatever_the_sources_every_sentence_has_one_and_its_words_stand_there(
    question: str, texts: list[str], embed: Embed
) -> None:
    passages = [SummaryPassage(f"source {number}", text) for number, text in enumerate(texts)]
    summary = summarise(question, passages, embed, 3)
    assert len(summary.sentences) <= 3
    for sentence in summary.sentences:
        assert sentence.citations
        for citation in sentence.citations:
            (source,) = (passage.text for passage in passages if passage.citation == citation)
            is_record = ": " in sentence.text
            assert is_record or _bare(sentence.text) in _bare(source)
    assert summarise(question, passages, embed, 3) == summary


def _bare(text: str) -> str:
    """Without blanks and marks, which are made one."""
    return "".join(character for character in text if character.isalnum())
