"""What a ticket asks is told apart from what it tells, wants done or complains of."""

import pytest
from hypothesis import given

from gaby.mind.changes import asked_changes
from gaby.mind.questions import asked_in, asks_for_rules, is_plain_question, is_question, questions, wanted_changes
from gaby.mind.signatures import unframed
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("K5", "G2")

GREETED = (
    "Dear all,\n\nhow long is a berth ticket valid?\n\nMany thanks\nIda Storm\nHarbour Office\n--\nSent from my phone"
)


def test_a_message_is_read_without_its_frame() -> None:
    assert unframed(GREETED).strip() == "how long is a berth ticket valid?"
    assert unframed("Hi Tom, where is the slipway?\nOla") == "where is the slipway?"
    assert unframed("Where is the slipway?\nThanks\nHow deep is it there?").splitlines()[-1] == "How deep is it there?"


def test_neither_greeting_nor_signature_is_a_question_or_a_part_of_one() -> None:
    (only,) = asked_in(f"Berth\n\n{GREETED}")
    assert only.question == "how long is a berth ticket valid?"
    assert "Ida" not in f"{only.context} {only.before}"
    assert "phone" not in f"{only.context} {only.before}"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("what does a berth cost here, how long can i moor, and whats the deposit for the key", 3),
        ("the crane shows C-4 and beeps. what do i do", 1),
        ("Which pier, until when do you unload, do we need a slot?", 3),
        ("When I open the gate it squeaks.", 0),
        ("Need it for the late tide.", 0),
        ("What I see is rust.", 0),
    ],
)
def test_questions_need_no_mark_and_stand_apart_in_one_sentence(text: str, count: int) -> None:
    assert len(asked_in(text) if questions(text) else []) == count


def test_a_question_that_points_back_takes_along_what_it_points_to() -> None:
    pass_, where = asked_in("My berth ticket is old. How much is a new berth ticket? Where do I extend it?")
    assert pass_.before == ""
    assert where.before == "How much is a new berth ticket?"


def test_a_title_does_not_ask_a_second_time() -> None:
    assert questions("Slipway again?\n\nHow steep is the slipway for boats?") == ["How steep is the slipway for boats?"]


@pytest.mark.parametrize(
    "text",
    [
        "What exactly do I have to send you?",
        "Until when can I cancel a berth?",
        "If we move to the other pier, do we need to change the ticket?",
    ],
)
def test_what_the_requester_asks_to_do_themselves_is_no_order(text: str) -> None:
    assert not asked_changes(text)
    assert is_plain_question(text)


def test_a_title_names_what_is_asked_about_unless_it_is_an_order() -> None:
    assert not wanted_changes("Cancel a berth\n\nUntil when is that free of charge?")
    assert wanted_changes("Cancel my berth\n\nUntil when is that free of charge?") == {"cancel"}


@pytest.mark.parametrize(
    "text",
    [
        "The pier is dark, what is going on?",
        "Please open the gate for me. How long does it take?",
        "Could a woman from your office call me?",
        "May I get a new key please",
        "Somebody cut our ropes. What will you do about it?",
        "Why is my berth fee higher than last year?",
    ],
)
def test_what_somebody_has_to_look_at_or_to_do_is_no_question_for_pages(text: str) -> None:
    assert not is_question(text)


def test_beside_trouble_only_rules_are_asked_for() -> None:
    assert asks_for_rules("The crane stopped. How do we get it going again, and what does a check cost?")
    assert not asks_for_rules("The crane stopped. Why is that?")
    assert not asks_for_rules("The crane stopped. When is it back?")
    assert not asks_for_rules("The crane stopped. Did you change something?")
    assert asks_for_rules("The crane stopped. From when does the new fee count?")


@given(text=hostile_texts)
def test_any_ticket_can_be_asked_about(text: str) -> None:
    assert len(asked_in(text)) <= 6
    assert len(unframed(text)) <= len(text) + 1
