"""A requester who asks for a person reaches one at once."""

import pytest
from hypothesis import given

from gaby.mind import wants_person
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("L14")


@pytest.mark.parametrize(
    "text",
    [
        "Please have a human look at this.",
        "I want to talk to a real person",
        "Can I speak to an agent?",
        "A person, please",
        "it does not work again. please call me 5432",
        "Could a human check it?",
        "Ich möchte mit einem Menschen sprechen.",
        "Kann das bitte ein Mensch ansehen?",
        "Rufen Sie mich bitte zurück",
        "Je voudrais parler à une personne",
        "Quiero hablar con una persona",
    ],
)
def test_a_person_is_asked_for(text: str) -> None:
    assert wants_person(text)


@pytest.mark.parametrize(
    "text",
    [
        "How do I add a person to my team?",
        "The agent on server 4 is down",
        "Our bot does not answer, why?",
        "Ein Mitarbeiter hat seinen Ausweis verloren.",
        "I need a person's address",
        "A colleague has the same problem",
        "No bots are shown in the list",
        "human resources has a question",
        "Thanks.\n> I want to talk to a human",
    ],
)
def test_people_are_only_mentioned(text: str) -> None:
    assert not wants_person(text)


@given(text=hostile_texts)
def test_any_text_is_read(text: str) -> None:
    assert wants_person(text) in {True, False}


@pytest.mark.parametrize("piece", ["a ", "want to ", "human ", "speak to a ", "please call ", "ein "])
def test_a_text_without_end_is_read_in_the_time_of_its_length(piece: str) -> None:
    wants_person(piece * (1_000_000 // len(piece)))
