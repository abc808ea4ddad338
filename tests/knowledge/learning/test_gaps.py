"""Gaps: alike questions counted together, unlike ones apart, without personal data and never without end."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from gaby.kernel.clock import ManualClock
from gaby.kernel.errors import NotFound
from gaby.kernel.ids import IdFactory
from gaby.knowledge.models import KnowledgeGap
from tests.knowledge.learning.resolutions import NOW, audited
from tests.knowledge.scenes import KnowledgeScene

pytestmark = [pytest.mark.promise("K8"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]

PARKING = (
    "Where can I park my car at the office?",
    "Where can I park the car near the office?",
    "At the office, where can I park a car?",
)
DOGS = "Which vaccinations does a dog need for Iceland?"


async def noted(docs: KnowledgeScene, *questions: str) -> None:
    for question in questions:
        await docs.components.gaps.note(docs.workspace_id, question)


async def gaps(docs: KnowledgeScene) -> list[KnowledgeGap]:
    async with docs.gaby.database.read(docs.workspace_id) as session:
        return list(await docs.components.gaps.list(session))


async def test_alike_questions_are_one_gap_with_examples_and_unlike_ones_another(
    docs: KnowledgeScene, clock: ManualClock
) -> None:
    await noted(docs, PARKING[0], DOGS)
    clock.advance(timedelta(days=1))
    await noted(docs, *PARKING[1:], PARKING[0])
    parking, dogs = await gaps(docs)
    assert (parking.question, parking.asked) == (PARKING[0], 4)
    assert parking.examples == list(PARKING), "each wording once"
    assert (parking.first_at, parking.last_at) == (NOW, clock.now())
    assert (dogs.question, dogs.asked, dogs.last_at) == (DOGS, 1, NOW)


async def test_the_examples_are_only_a_few(docs: KnowledgeScene) -> None:
    await noted(docs, *(f"Where can I park my car at the office on floor {floor}?" for floor in range(9)))
    [gap] = await gaps(docs)
    assert (gap.asked, len(gap.examples)) == (9, 5)


async def test_the_most_asked_comes_first_and_the_latest_of_the_same(docs: KnowledgeScene, clock: ManualClock) -> None:
    await noted(docs, DOGS)
    clock.advance(timedelta(minutes=1))
    await noted(docs, "How much does the canteen charge for soup?")
    clock.advance(timedelta(minutes=1))
    await noted(docs, *PARKING)
    assert [gap.asked for gap in await gaps(docs)] == [3, 1, 1]
    assert [gap.question for gap in await gaps(docs)][1:] == ["How much does the canteen charge for soup?", DOGS]


async def test_personal_data_is_not_kept(docs: KnowledgeScene) -> None:
    await noted(docs, f"{DOGS} Write to\nada.byron@lanternfish.example or +44 20 7946 0958!")
    [gap] = await gaps(docs)
    kept = f"{gap.question} {gap.examples}"
    assert "vaccinations" in kept
    assert "ada" not in kept
    assert "7946" not in kept
    assert "\n" not in gap.question


async def test_the_same_question_of_two_people_is_the_same(docs: KnowledgeScene) -> None:
    await noted(docs, *(f"I am {name}@lanternfish.example. {DOGS}" for name in ("ada", "nora.lindqvist")))
    [gap] = await gaps(docs)
    assert (gap.asked, len(gap.examples)) == (2, 1)


async def test_a_question_is_kept_shortened_and_an_empty_one_not_at_all(docs: KnowledgeScene) -> None:
    await noted(docs, "", " \n\t ", "park " * 1000)
    [gap] = await gaps(docs)
    assert len(gap.question) <= 500


async def test_a_closed_gap_is_gone_until_somebody_asks_again(docs: KnowledgeScene) -> None:
    await noted(docs, *PARKING)
    [gap] = await gaps(docs)
    async with docs.gaby.database.write(docs.workspace_id) as session:
        await docs.components.gaps.close(session, docs.actor, gap.id)
    assert await gaps(docs) == []
    assert await audited(docs, "knowledge.gap_") == [("closed", {"gap": str(gap.id)})]
    await noted(docs, PARKING[0])
    [again] = await gaps(docs)
    assert (again.id != gap.id, again.asked) == (True, 1)


async def test_what_is_no_gap_cannot_be_closed(docs: KnowledgeScene, ids: IdFactory) -> None:
    async with docs.gaby.database.write(docs.workspace_id) as session:
        with pytest.raises(NotFound, match="no such gap"):
            await docs.components.gaps.close(session, docs.actor, ids.new())


async def test_there_are_never_more_than_five_hundred_and_the_least_asked_make_room(
    docs: KnowledgeScene, ids: IdFactory, clock: ManualClock
) -> None:
    await noted(docs, *PARKING, DOGS)
    parking, dogs = await gaps(docs)
    async with docs.gaby.database.write(docs.workspace_id) as session:
        for number in range(498):
            moment = NOW + timedelta(minutes=number + 1)
            # A model of another time: they are counted, and not compared.
            gap = KnowledgeGap(
                workspace_id=docs.workspace_id,
                id=ids.new(),
                question=f"q{number}",
                vector=b"",
                model="old/model",
                asked=1,
                examples=[f"q{number}"],
                first_at=moment,
                last_at=moment,
            )
            session.add(gap)
    clock.advance(timedelta(days=1))
    await noted(docs, "How much does the canteen charge for soup?")
    left = {gap.id for gap in await every(docs)}
    assert len(left) == 500
    assert dogs.id not in left, "asked once, and longest ago"
    assert parking.id in left
    async with docs.gaby.database.write(docs.workspace_id) as session:
        query = update(KnowledgeGap).where(
            KnowledgeGap.workspace_id == docs.workspace_id, KnowledgeGap.id == parking.id
        )
        await session.execute(query.values(state="closed"))
    await noted(docs, "When is the summer party of the company?")
    left = {gap.id for gap in await every(docs)}
    assert len(left) == 500
    assert parking.id not in left, "what is closed goes before what is open"


async def every(docs: KnowledgeScene) -> list[KnowledgeGap]:
    async with docs.gaby.database.read(docs.workspace_id) as session:
        query = select(KnowledgeGap).where(KnowledgeGap.workspace_id == docs.workspace_id)
        assert (await session.scalars(select(func.count()).select_from(query.subquery()))).one() <= 500
        return list((await session.scalars(query)).all())
