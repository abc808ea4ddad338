"""Triage says what a ticket wants, how urgent it is, and puts aside only what is certainly nothing."""

import pytest
from evals.mind.labelled_data import triage_rows
from hypothesis import given

from gaby.llm.embeddings.embed import Embed
from gaby.mind.package_data import rows_of
from gaby.mind.triage import INTENTS, triage
from gaby.mind.urgency import URGENCIES
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("G2", "L4")


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("I forgot my password and cannot log in to my account.", "access"),
        ("We were charged twice this month, please refund one payment.", "billing"),
        ("The whole site is down for everybody, nothing loads.", "outage"),
        ("The app crashes with an error whenever I click save.", "bug"),
        ("Our webhook endpoint gets no events from your API any more.", "integration"),
        ("How do I export my contacts? Is there a guide?", "how_to"),
        ("Under GDPR I request a copy of all personal data you store about me.", "data_request"),
        ("I clicked a phishing link and my account was hacked.", "security"),
        ("Please cancel our subscription and remove two seats.", "account_change"),
        ("Great product, it would be nice to have a dark mode.", "feedback"),
        ("Buy cheap followers now, guaranteed, limited offer, click here!", "spam"),
        ("Automatic reply: I am out of the office until Monday.", "other"),
    ],
)
def test_plain_tickets_are_understood(text: str, intent: str, embed: Embed) -> None:
    assert triage(text, embed).intent == intent


@pytest.mark.parametrize(
    ("text", "at_least"),
    [
        ("Production is down, all API requests return 500.", "critical"),
        ("P1: database unreachable, all writes failing", "critical"),
        ("Nobody in the office can log in since this morning.", "high"),
        ("40 users cannot sign in.", "high"),
        ("My account is locked and I need it within the hour.", "high"),
        ("Strange login from abroad, I think my account was hacked.", "medium"),
    ],
)
def test_what_burns_is_urgent_and_says_why(text: str, at_least: str, embed: Embed) -> None:
    result = triage(text, embed)
    assert URGENCIES.index(result.urgency) >= [*URGENCIES].index(at_least)
    assert result.reasons


@pytest.mark.parametrize(
    "text",
    ["How do I change the colour? Not urgent.", "URGENT!!! Buy now, offer ends today!", "Small typo, no rush at all."],
)
def test_what_can_wait_is_never_high(text: str, embed: Embed) -> None:
    assert triage(text, embed).urgency in {"low", "medium"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "???",
        "Automatic reply: I am out of office this week.",
        "Undeliverable: mailbox full",
        "Thanks, the problem is solved. Please close the ticket.",
        "Boost your sales! Buy followers, guaranteed, click here, limited offer, act now!",
    ],
)
def test_what_is_nothing_is_put_aside_with_a_reason(text: str, embed: Embed) -> None:
    result = triage(text, embed)
    assert not result.worth_investigating
    assert result.reasons[-1]


@pytest.mark.parametrize(
    "text",
    [
        "Out of office replies are no longer sent since the update. Can you look into the mail server, please? It is "
        "set up for all of us and worked until Monday.",
        "Please close the account of our former colleague.",
        "Your offer page shows an error when I want to buy.",
        "I hate this, the app crashes all the time.",
        "what will it cost us\n\nHi there, trying to work out our trip in May. Caravan is 7 m long. Two adults. "
        "Could you give me the price for the caravan, anything extra for the dog, and what each of us pays?",
    ],
)
def test_a_request_that_only_sounds_like_nothing_is_kept(text: str, embed: Embed) -> None:
    assert triage(text, embed).worth_investigating


def test_old_mail_below_an_answer_does_not_decide(embed: Embed) -> None:
    text = "The invoice is still wrong, please refund it.\n> I cannot log in, my password is locked\n> reset my login"
    assert triage(text, embed).intent == "billing"


@given(text=hostile_texts)
def test_any_text_gets_an_answer_and_always_the_same(text: str, embed: Embed) -> None:
    result = triage(text, embed)
    assert result.intent in INTENTS
    assert result.urgency in URGENCIES
    assert 0 <= result.confidence <= 1
    assert result.reasons
    assert triage(text, embed) == result


def test_there_are_enough_examples_and_none_of_them_is_a_test(embed: Embed) -> None:
    examples = list(rows_of("triage.jsonl"))
    asked = {row["text"] for row in triage_rows()}
    assert all(sum(row["intent"] == intent for row in examples) >= 25 for intent in INTENTS)
    assert asked.isdisjoint(row["text"] for row in examples)
    assert {row["urgency"] for row in examples} == set(URGENCIES)
    assert len({row["text"] for row in examples}) == len(examples)
