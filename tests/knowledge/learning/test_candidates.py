"""Candidates: staged without personal data, alike ones once, decided once by a person, archived when nobody looks."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gaby.app import Gaby
from gaby.kernel.clock import ManualClock
from gaby.kernel.errors import Conflict, Invalid, NotFound
from gaby.knowledge.learning.candidates import AlreadyDecided
from tests.knowledge.learning.resolutions import (
    INVOICE,
    NOW,
    SCANNER,
    accept,
    audited,
    candidate,
    listed,
    reject,
    staged,
    unlearn,
)
from tests.knowledge.scenes import KnowledgeScene, knowledge_scene

pytestmark = [pytest.mark.promise("K7"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]

AGAIN = replace(SCANNER, origin="ticket inbox-99, run 8", title="The warehouse scanner beeps twice")


async def test_what_passes_the_gate_waits_for_a_person(docs: KnowledgeScene) -> None:
    passed, row = await staged(docs)
    assert passed.passed
    assert row is not None
    assert (row.state, row.seen, row.rating, row.staged_at, row.decided_at) == ("staged", 1, 5, NOW, None)
    assert row.title == SCANNER.title
    for told in (SCANNER.problem, SCANNER.resolution, "SC-2210"):
        assert told in row.text
    assert [event for event, _ in await audited(docs)] == ["staged"]
    assert (await docs.search("scanner beeps twice", everything=True)).passages == 0, "nothing is learned by itself"


async def test_what_fails_the_gate_leaves_nothing(docs: KnowledgeScene) -> None:
    passed, row = await staged(docs, replace(SCANNER, rating=3))
    assert (passed.passed, row) == (False, None)
    assert list(await listed(docs, None)) == []
    assert await audited(docs) == []


async def test_personal_data_stays_out(docs: KnowledgeScene) -> None:
    resolution = replace(
        SCANNER,
        title="ada.byron@lanternfish.example cannot scan",
        problem="Ada writes from ada.byron@lanternfish.example, phone +44 20 7946 0958: the scanner beeps.",
        resolution="Wrote to ada.byron@lanternfish.example and charged card 4111 1111 1111 1111 again.",
        trace=("mail.send ada.byron@lanternfish.example",),
    )
    row = await candidate(docs, resolution)
    kept = f"{row.title}\n{row.text}\n{await audited(docs)}"
    for secret in ("ada.byron", "7946", "4111"):
        assert secret not in kept
    assert "scanner beeps" in row.text
    assert "[email]" in row.title


async def test_near_duplicates_are_counted_and_not_staged_again(docs: KnowledgeScene) -> None:
    first = await candidate(docs)
    again = await candidate(docs, AGAIN)
    assert again.id == first.id
    same = await candidate(docs, AGAIN)
    assert (same.seen, same.origin, same.origins) == (2, SCANNER.origin, [AGAIN.origin]), "one ticket counts once"
    assert [row.id for row in await listed(docs, None)] == [first.id]
    assert [event for event, _ in await audited(docs)] == ["staged", "merged"]


async def test_what_differs_only_in_personal_data_is_the_same(docs: KnowledgeScene) -> None:
    written = [
        replace(SCANNER, origin=f"ticket {name}", title=f"{name}@lanternfish.example reports beeping")
        for name in ("ada", "nora.lindqvist")
    ]
    assert (await candidate(docs, written[0])).id == (await candidate(docs, written[1])).id


async def test_other_problems_and_other_answers_are_other_candidates(docs: KnowledgeScene) -> None:
    told = replace(SCANNER, problem=f"{SCANNER.problem} The light is red, the dock is on, the cable is new. " * 4)
    rejected = await candidate(docs, replace(told, resolution="Send it in for repair and lend them another one."))
    await reject(docs, rejected.id, "That is never needed.")
    ids = {(await candidate(docs, each)).id for each in (told, INVOICE)}
    assert len({*ids, rejected.id}) == 3, "a better answer to the same problem is not turned away"
    assert len(await listed(docs)) == 2


async def test_what_was_looked_at_does_not_make_the_same_another(docs: KnowledgeScene) -> None:
    lines = tuple(f"inventory.lookup aisle {number}, pallet {number * 7}: nothing" for number in range(40))
    first = await candidate(docs)
    assert (await candidate(docs, replace(AGAIN, trace=lines))).id == first.id


async def test_what_was_rejected_is_not_put_before_a_person_again(docs: KnowledgeScene) -> None:
    row = await candidate(docs)
    await reject(docs, row.id, "A single broken dock.")
    again = await candidate(docs, AGAIN)
    assert (again.id, again.state, again.seen) == (row.id, "rejected", 2)
    assert again.reason == "A single broken dock."
    assert list(await listed(docs)) == []


@pytest.mark.parametrize("decision", ["accepted", "archived"])
async def test_what_was_accepted_or_archived_is_not_asked_again_either(
    docs: KnowledgeScene, clock: ManualClock, decision: str
) -> None:
    row = await candidate(docs)
    if decision == "accepted":
        await accept(docs, row.id)
    else:
        clock.advance(timedelta(days=30))
        await docs.gaby.knowledge.run_due()
    again = await candidate(docs, AGAIN)
    assert (again.id, again.state) == (row.id, decision)
    assert list(await listed(docs)) == []


async def test_another_workspace_has_candidates_of_its_own(docs: KnowledgeScene, gaby: Gaby, tmp_path: Path) -> None:
    other = await knowledge_scene(gaby, tmp_path / "other", "globex")
    first = await candidate(docs)
    second = await candidate(other, AGAIN)
    assert (first.id != second.id, first.seen, second.seen) == (True, 1, 1)
    with pytest.raises(NotFound, match="no such candidate"):
        await accept(other, first.id)


async def test_a_person_accepts_edits_or_rejects(docs: KnowledgeScene) -> None:
    one, two = await candidate(docs), await candidate(docs, INVOICE)
    as_it_is = await accept(docs, one.id)
    assert (as_it_is.state, as_it_is.edited, as_it_is.text) == ("accepted", False, one.text)
    assert as_it_is.decided_at == NOW
    assert "test" in (as_it_is.decided_by or "")
    edited = await accept(docs, two.id, title="Order numbers on invoices", text="Turn on the order reference.")
    assert (edited.state, edited.edited) == ("accepted", True)
    assert (edited.title, edited.text) == ("Order numbers on invoices", "Turn on the order reference.")
    log = await audited(docs)
    assert [event for event, _ in log] == ["staged", "staged", "accepted", "accepted"]
    assert [payload["candidate"] for _, payload in log[2:]] == [str(one.id), str(two.id)]


async def test_a_rejection_has_a_reason_that_is_kept_and_logged(docs: KnowledgeScene) -> None:
    row = await candidate(docs)
    for empty in ("", "  \n"):
        with pytest.raises(Invalid, match="Say why"):
            await reject(docs, row.id, empty)
    rejected = await reject(docs, row.id, "A single broken dock.")
    assert (rejected.state, rejected.reason) == ("rejected", "A single broken dock.")
    assert (await audited(docs))[-1][1]["reason"] == "A single broken dock."


@pytest.mark.parametrize("edited", [{"text": ""}, {"text": " \n"}, {"title": ""}, {"text": "x" * 50_001}])
async def test_an_edit_that_leaves_nothing_is_refused_and_decides_nothing(
    docs: KnowledgeScene, edited: dict[str, str]
) -> None:
    row = await candidate(docs)
    with pytest.raises(Invalid, match="a title and a text"):
        await accept(docs, row.id, **edited)
    [kept] = await listed(docs)
    assert (kept.state, kept.title, kept.text) == ("staged", row.title, row.text)


async def test_a_second_decision_is_refused(docs: KnowledgeScene) -> None:
    one, two = await candidate(docs), await candidate(docs, INVOICE)
    await accept(docs, one.id)
    await reject(docs, two.id)
    for again in (accept(docs, one.id), reject(docs, one.id), accept(docs, two.id), reject(docs, two.id)):
        with pytest.raises(AlreadyDecided):
            await again
    with pytest.raises(Conflict, match="accepted"):
        await unlearn(docs, two.id)


async def test_nobody_looked_for_thirty_days_so_it_is_archived_to_the_moment(
    docs: KnowledgeScene, clock: ManualClock
) -> None:
    row = await candidate(docs)
    clock.advance(timedelta(days=10))
    await candidate(docs, INVOICE)
    clock.advance(timedelta(days=20) - timedelta(microseconds=1))
    await docs.gaby.knowledge.run_due()
    assert len(await listed(docs)) == 2
    clock.advance(timedelta(microseconds=1))
    await docs.gaby.knowledge.run_due()
    [archived] = await listed(docs, "archived")
    assert (archived.id, archived.decided_at) == (row.id, clock.now())
    assert len(await listed(docs)) == 1
    assert [event for event, _ in await audited(docs)] == ["staged", "staged", "archived"]
    assert (await accept(docs, row.id)).state == "accepted", "a person may still come back to it"
