"""Questions get the unit of a page that answers them, or none."""

import pytest
from hypothesis import given

from gaby.llm.embeddings.embed import Embed
from gaby.mind import FoundPassage, Situation, conclude, next_step
from gaby.mind.answers import WELL, PageAnswer, answer, answered
from gaby.mind.questions import is_plain_question, is_question, questions
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("K5", "G2")


def page(name: str, text: str) -> FoundPassage:
    return FoundPassage(f"doc:docs/{name}.md#L1-L9", text.partition("\n")[0].lstrip("# "), text)


ERRORS = page(
    "remote",
    "# Remote access\n\nInstall Harbour from the portal.\n\n## Common errors\n\n"
    "- **Error 31**: the clock of the laptop is wrong. Switch on automatic time in the settings.\n"
    "- **Error 47**: the token was too old. Wait for the next one.\n"
    "- **Error 58**: the certificate has expired. Bring the laptop to us.\n",
)
PLANS = page(
    "plans",
    "# Plans and prices\n\n| Plan | Price | Storage |\n|---|---|---|\n| Basic | 9 EUR | 10 GB |\n"
    "| Team | 29 EUR | 1 TB |\n",
)
BIKES = page(
    "bikes",
    "# Bicycles\n\nBicycles are kept in the cellar of house B. The key hangs at the reception.\n\n"
    "A broken bicycle is reported to the caretaker, extension 4410.\n",
)
INVOICES = page(
    "invoices",
    "# Changing the billing address\n\n1. Open *Account*, then **Billing**.\n2. Choose `Edit address`.\n3. Save it. "
    "The next invoice has it.\n",
)
BADGES = page("badges", "# Badges\n\nA badge is valid for 12 months. It is extended at the counter in room A0.14.\n")
PAGES = [ERRORS, PLANS, BIKES, INVOICES, BADGES]


def asked(text: str, embed: Embed, pages: list[FoundPassage] = PAGES) -> PageAnswer:
    return answer(text, pages, embed)


def answer_text(found: PageAnswer) -> str:
    return " ".join(each.text for each in found.sentences)


def test_the_item_that_has_the_code_answers_and_no_other(embed: Embed) -> None:
    found = asked("Harbour says error 47. What can I do?", embed)
    assert found.how_well >= WELL
    assert found.is_exact
    assert answer_text(found) == "Error 47: the token was too old. Wait for the next one."


@pytest.mark.parametrize("code", ["48", "470", "4", "131"])
def test_no_other_item_answers_for_a_code_that_no_page_has(code: str, embed: Embed) -> None:
    found = asked(f"Harbour says error {code}. What can I do?", embed)
    assert found.how_well < WELL
    assert found.sentences == ()
    assert found.evidence, "a colleague still sees what comes nearest"


def test_a_row_of_a_table_answers_with_its_headers(embed: Embed) -> None:
    found = asked("How much storage does the Team plan have?", embed)
    assert found.how_well >= WELL
    assert answer_text(found) == "Plan: Team; Price: 29 EUR; Storage: 1 TB."


def test_a_procedure_answers_as_a_whole_in_its_order(embed: Embed) -> None:
    found = asked("How do I change the billing address on our invoice?", embed)
    assert found.how_well >= WELL
    assert [each.text for each in found.sentences] == [
        "1. Open Account, then Billing.",
        "2. Choose Edit address.",
        "3. Save it.",
        "The next invoice has it.",
    ]


def test_a_paragraph_answers_whole_and_cites_its_page(embed: Embed) -> None:
    found = asked("Where are the bicycles kept, and where is the key?", embed)
    assert "The key hangs at the reception." in answer_text(found)
    assert {each.citations for each in found.sentences} == {(BIKES.citation,)}
    assert not any(mark in answer_text(found) for mark in ("#", "**", "`"))


@pytest.mark.parametrize(
    "text",
    [
        "My parking permit runs out on Friday. Where do I extend it?",
        "Which vaccinations does my dog need for Iceland?",
        "How do I cancel my gym membership?",
        "Can I send the invoice with the billing address to SAP?",
    ],
)
def test_what_no_page_speaks_of_is_not_answered(text: str, embed: Embed) -> None:
    assert asked(text, embed).how_well < WELL


def test_a_page_about_another_thing_of_the_same_kind_is_no_answer(embed: Embed) -> None:
    gold = page("gold", "# Gold Account\n\nThe monthly fee of the Gold Account is 12 EUR.\n")
    assert asked("What is the monthly fee of the Gold Account?", embed, [gold]).how_well >= WELL
    assert asked("What is the monthly fee of the Silver Account?", embed, [gold]).how_well < WELL


def test_two_questions_are_answered_only_together(embed: Embed) -> None:
    both = asked("How much is the Team plan? And where are the bicycles kept?", embed)
    assert both.how_well >= WELL
    assert len({each.citations for each in both.sentences}) == 2
    assert asked("How much is the Team plan? And who won the football match?", embed).how_well < WELL


@pytest.mark.parametrize(
    ("text", "plain", "asks"),
    [
        ("I need to know how long a badge is valid.", True, True),
        ("Where do I find the key for the bicycles", True, True),
        ("Harbour shows an error. What can I do?", False, True),
        ("Our tills are down since this morning.", False, False),
        ("Can you reset my password?", False, False),
        ("Please delete my account. How long does it take?", False, False),
        ("Wie lange ist ein Ausweis gültig?", True, True),
        ("¿Cómo cambio la dirección?", True, True),
    ],
)
def test_what_asks_and_what_wants_something_done_are_told_apart(text: str, plain: bool, asks: bool) -> None:
    assert (is_plain_question(text), is_question(text)) == (plain, asks)


def test_trouble_is_settled_by_a_page_only_if_it_is_surely_about_it(embed: Embed) -> None:
    exact = "Harbour shows error 58 since today. What can I do?"
    assert answered(exact, asked(exact, embed)) >= WELL
    vague = "Harbour fails since today. Why is that?"
    assert answered(vague, asked(vague, embed)) < WELL


def test_a_question_that_points_back_is_asked_with_what_it_points_to() -> None:
    assert questions("My badge is old. How do I extend it?") == ["How do I extend it?"]


@pytest.mark.promise("S14")
def test_a_page_that_the_requester_may_not_read_is_evidence_and_no_reply(embed: Embed) -> None:
    text = "Where are the bicycles kept?"
    closed = FoundPassage(BIKES.citation, BIKES.title, BIKES.text, for_requester=False)
    given = Situation("", text, "ada@lanternfish.example", requester_verified=True, searched=True, passages=[closed])
    ended = conclude(given, embed)
    assert ended.sentences == ()
    assert ended.judgement.verdict in {"needs_tech", "needs_l2"}
    assert "cellar" in ended.notes[0].text


@pytest.mark.promise("L14")
def test_nobody_is_asked_who_they_are_for_what_a_page_answers_or_a_person_takes(embed: Embed) -> None:
    open_question = Situation("", "Where are the bicycles kept?", "x@elsewhere.example", searched=True, passages=PAGES)
    assert conclude(open_question, embed).judgement.verdict == "auto_resolved"
    person = Situation("", "My badge is gone. Please have a human look.", "x@elsewhere.example", passages=PAGES)
    assert next_step(person, embed).kind == "conclude"
    ended = conclude(person, embed)
    assert ended.judgement.verdict == "needs_tech"
    assert (ended.case.missing, ended.sentences) == ((), ())


@pytest.mark.promise("L14")
def test_whoever_was_asked_once_is_not_asked_again(embed: Embed) -> None:
    first = Situation("", "Please unlock my account.", "x@elsewhere.example", searched=True)
    assert conclude(first, embed).judgement.verdict == "needs_client"
    again = Situation("", "Please unlock my account.", "x@elsewhere.example", searched=True, asked_before=True)
    assert conclude(again, embed).judgement.verdict in {"needs_tech", "needs_l2"}


@pytest.mark.promise("T7")
def test_urgency_reaches_whoever_takes_over(embed: Embed) -> None:
    text = "Production is down for everybody, the API is unreachable. This is urgent!"
    assert conclude(Situation("", text, searched=True), embed).urgency in {"high", "critical"}


@given(text=hostile_texts, page_text=hostile_texts)
def test_any_ticket_and_any_page_come_to_an_answer_or_none(embed: Embed, text: str, page_text: str) -> None:
    found = answer(text, [page("hostile", page_text)], embed)
    assert 0 <= found.how_well <= 1
