"""Question sets: every fact stands on its page, and the sets are played through the product."""

from pathlib import Path

import pytest
from evals.questions.player import play_set
from evals.questions.question_set import CustomerQuestion, names, pages_of, questions_of

from gaby.evals.environment import open_stage
from gaby.settings import Settings

pytestmark = pytest.mark.promise("X1")


@pytest.mark.parametrize("name", names())
def test_every_fact_stands_on_its_page(name: str) -> None:
    for question in questions_of(name):
        assert question.answerable == bool(question.facts) == bool(question.page)
        if question.page is not None:
            page = (pages_of(name) / question.page).read_text(encoding="utf-8")
            assert question.is_answered_by(page), question.id


def test_an_answer_without_a_fact_is_not_right() -> None:
    asked = CustomerQuestion(
        id="q", title="", body="", answerable=True, page="p.md", facts=(("5 EUR", "five euros"), ("Monday",)), why=""
    )
    assert asked.is_answered_by("It costs five euros\non | Monday |")
    assert not asked.is_answered_by("It costs 5 EUR.")
    assert not asked.model_copy(update={"answerable": False}).is_answered_by("5 EUR, Monday")


async def test_questions_are_played_through_the_product(tmp_path: Path) -> None:
    async with open_stage(Settings(home=tmp_path)) as stage:
        grades = await play_set(stage, "hotel", most=4)
    assert sum(grades.values()) == 4
    assert grades["wrong"] == 0
    assert grades["right"] >= 1
