"""An intent is written only while its fence holds."""

import asyncio

import pytest
from sqlalchemy import text

from gaby.audit import AuditLog, Fence, FenceBroken
from gaby.kernel.actors import Actor
from gaby.kernel.database import AllWorkspaces, Database
from tests.audit.logs import ACME
from tests.audit.test_writer import stored

pytestmark = pytest.mark.promise("A2", "S11")

ACTOR = Actor(kind="agent", id="planner", workspace_id=ACME)
COUNT = "SELECT COALESCE(SUM(epoch), 0) FROM policy_epochs WHERE workspace_id IN (?, ?)"


def fence(expected: int) -> Fence:
    return Fence(COUNT, (ACME.hex, ACME.hex), expected)


async def set_count(db: Database, count: int) -> None:
    async with db.write(AllWorkspaces("a test sets the scene")) as session:
        await session.execute(text("DELETE FROM policy_epochs"))
        insert = text("INSERT INTO policy_epochs (workspace_id, epoch) VALUES (:workspace, :count)")
        await session.execute(insert, {"workspace": ACME.hex, "count": count})


async def act(audit: AuditLog, expected: int | None, done: list[int]) -> None:
    async with audit.effect(ACTOR, "tool.call", {}, fence=None if expected is None else fence(expected)) as intent:
        done.append(expected or 0)
        intent.succeeded()


async def test_an_effect_behind_a_standing_fence_happens(db: Database, audit: AuditLog) -> None:
    done: list[int] = []
    await act(audit, 0, done)
    await set_count(db, 7)
    await act(audit, 7, done)
    assert done == [0, 7]
    assert [row.event for row in stored(db, ACME)] == ["tool.call.intent", "tool.call.outcome"] * 2


async def test_behind_a_broken_fence_nothing_happens_and_nothing_is_written(db: Database, audit: AuditLog) -> None:
    done: list[int] = []
    await set_count(db, 7)
    with pytest.raises(FenceBroken):
        await act(audit, 6, done)
    assert done == []
    assert stored(db, ACME) == []
    assert await audit.pending() == []


async def test_a_broken_fence_hurts_only_its_own_intent(db: Database, audit: AuditLog) -> None:
    await set_count(db, 7)
    done: list[int] = []
    wanted = [7, 6, None, 7, 8, None]
    outcomes = await asyncio.gather(*(act(audit, each, done) for each in wanted), return_exceptions=True)
    assert [isinstance(each, FenceBroken) for each in outcomes] == [False, True, False, False, True, False]
    assert sorted(done) == [0, 0, 7, 7]
    rows = stored(db, ACME)
    assert [row.seq for row in rows] == list(range(8))
