"""The audit log: events ride in their transaction, effects wait for their intent, personal values are sealed."""

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from prometheus_client import CollectorRegistry
from sqlalchemy import text

from gaby.audit import AuditLog, AuditUnavailable, Intent, IntentClosed, IntentOutcome, NotCanonical, OutcomeNotWritten
from gaby.audit.rows import AuditRow
from gaby.audit.store import Appender
from gaby.kernel import failpoints
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.database import AllWorkspaces, Database, WriteSession
from gaby.kernel.errors import Forbidden
from gaby.kernel.events import Event, PersonalValue
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.kernel.metrics import Metrics
from tests.audit.logs import ACME, BYTE
from tests.audit.test_writer import stored

ACTOR = Actor(kind="agent", id="planner", workspace_id=ACME)


def events(db: Database, workspace_id: WorkspaceId = ACME) -> list[str]:
    return [row.event for row in stored(db, workspace_id)]


def payload(row: AuditRow) -> dict[str, Any]:
    return orjson.loads(row.payload)


@pytest.mark.promise("A1")
async def test_an_event_and_its_change_are_committed_together(db: Database, audit: AuditLog) -> None:
    async with db.write(ACME) as session:
        session.emit(Event("ticket.queued", ACME, ACTOR, {"ticket": 7}))
        session.emit(Event("ticket.classified", ACME, ACTOR, {"class": "refund"}))
        assert stored(db, ACME) == []
    assert events(db) == ["ticket.queued", "ticket.classified"]
    assert payload(stored(db, ACME)[0]) == {"ticket": 7}


@pytest.mark.promise("A1")
async def test_an_event_whose_transaction_fails_leaves_no_row(db: Database, audit: AuditLog) -> None:
    async def change() -> None:
        async with db.write(ACME) as session:
            session.emit(Event("ticket.queued", ACME, ACTOR))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await change()
    assert stored(db, ACME) == []


@pytest.mark.promise("A2")
async def test_a_change_whose_audit_row_cannot_be_written_does_not_happen(db: Database, audit: AuditLog) -> None:
    insert = text("INSERT INTO workspaces (id, slug, name, created_at) VALUES (:id, 'x', 'x', '2030-01-01 00:00:00')")

    async def change() -> None:
        async with db.write(AllWorkspaces("test")) as session:
            await session.execute(insert, {"id": ACME.hex})
            session.emit(Event("workspace.created", ACME, ACTOR))

    failpoints.configure("audit.before_insert=error@1")
    with pytest.raises(failpoints.FailpointError):
        await change()
    async with db.read(AllWorkspaces("test")) as session:
        assert (await session.execute(text("SELECT count(*) FROM workspaces WHERE slug = 'x'"))).scalar_one() == 0


async def test_one_transaction_may_speak_of_several_workspaces_and_keeps_its_own_scope(
    db: Database, audit: AuditLog
) -> None:
    async with db.write(ACME) as session:
        for workspace in (BYTE, SYSTEM, ACME):
            session.emit(Event("test.row", workspace, ACTOR))

        async def later(current: WriteSession) -> None:
            await current.execute(text("SELECT 1"))

        session.before_commit(later)
    assert [events(db, workspace) for workspace in (ACME, BYTE, SYSTEM)] == [["test.row"]] * 3


async def test_events_and_appends_interleave_in_one_chain(db: Database, audit: AuditLog) -> None:
    async def emit(number: int) -> None:
        async with db.write(ACME) as session:
            session.emit(Event("test.event", ACME, ACTOR, {"n": number}))

    work = [emit(n) if n % 2 else audit.append(ACME, ACTOR, "test.row", {"n": n}) for n in range(20)]
    await asyncio.gather(*work)
    rows = stored(db, ACME)
    assert [row.seq for row in rows] == list(range(20))
    assert [row.prev_hash for row in rows[1:]] == [row.hash for row in rows[:-1]]


@pytest.mark.promise("A2")
async def test_the_intent_is_on_disk_before_the_body_runs(db: Database, audit: AuditLog) -> None:
    async with audit.effect(ACTOR, "tool.call", {"tool": "refund"}) as intent:
        assert events(db) == ["tool.call.intent"]
        assert [pending.id for pending in await audit.pending()] == [intent.id]
        intent.succeeded({"amount": 5})
    begun, ended = stored(db, ACME)
    assert payload(ended) == {"intent": str(begun.id), "outcome": "succeeded", "detail": {"amount": 5}}
    assert await audit.pending() == []


@pytest.mark.promise("A2")
async def test_without_the_intent_the_body_never_runs(db: Database, audit: AuditLog) -> None:
    failpoints.configure("audit.before_commit=error@1")
    ran = False
    with pytest.raises(AuditUnavailable):
        async with audit.effect(ACTOR, "tool.call", {}):
            ran = True
    assert not ran
    assert stored(db, ACME) == []


@pytest.mark.promise("A2")
@pytest.mark.parametrize(
    ("error", "named"), [(ValueError("secret 4711"), "ValueError"), (Forbidden("secret 4711"), "forbidden")]
)
async def test_an_exception_is_a_failure_named_without_its_text(
    db: Database, audit: AuditLog, error: Exception, named: str
) -> None:
    with pytest.raises(type(error)):
        async with audit.effect(ACTOR, "tool.call", {}):
            raise error
    ended = payload(stored(db, ACME)[-1])
    assert (ended["outcome"], ended["detail"]) == ("failed", {"error": named})


@pytest.mark.promise("A2")
async def test_saying_nothing_is_unknown(db: Database, audit: AuditLog) -> None:
    async with audit.effect(ACTOR, "tool.call", {}):
        pass
    assert payload(stored(db, ACME)[-1])["outcome"] == "unknown"


@pytest.mark.promise("A2")
async def test_being_cancelled_is_unknown(db: Database, audit: AuditLog) -> None:
    entered = asyncio.Event()

    async def act() -> None:
        async with audit.effect(ACTOR, "tool.call", {}):
            entered.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(act())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert payload(stored(db, ACME)[-1])["outcome"] == "unknown"


@pytest.mark.promise("A2")
async def test_an_outcome_that_cannot_be_written_is_told_and_stays_open(db: Database, audit: AuditLog) -> None:
    async def act() -> None:
        async with audit.effect(ACTOR, "tool.call", {}) as intent:
            failpoints.configure("audit.before_commit=error@1")
            intent.succeeded()

    with pytest.raises(OutcomeNotWritten):
        await act()
    assert [pending.event for pending in await audit.pending()] == ["tool.call.intent"]


@pytest.mark.promise("A2")
async def test_an_outcome_is_written_even_when_its_detail_cannot_be(db: Database, audit: AuditLog) -> None:
    async with audit.effect(ACTOR, "tool.call", {}) as intent:
        intent.succeeded({"number": float("nan")})
    ended = payload(stored(db, ACME)[-1])
    assert (ended["outcome"], ended["detail"]) == ("succeeded", {"refused": "not_canonical"})


async def test_what_was_said_stands_even_if_something_else_fails_later(db: Database, audit: AuditLog) -> None:
    async def act() -> None:
        async with audit.effect(ACTOR, "tool.call", {}) as intent:
            intent.succeeded()
            raise ValueError("later")

    with pytest.raises(ValueError, match="later"):
        await act()
    assert payload(stored(db, ACME)[-1])["outcome"] == "succeeded"


async def test_an_outcome_is_said_once(db: Database, audit: AuditLog) -> None:
    async with audit.effect(ACTOR, "tool.call", {}) as intent:
        intent.failed({"why": "refused"})
        with pytest.raises(IntentClosed):
            intent.succeeded()
    with pytest.raises(IntentClosed):
        intent.succeeded()
    assert payload(stored(db, ACME)[-1])["outcome"] == "failed"


@pytest.mark.promise("A2")
async def test_nobody_else_can_make_an_intent(audit: AuditLog) -> None:
    async with audit.effect(ACTOR, "tool.call", {}) as intent:
        with pytest.raises(TypeError, match="only from"):
            Intent(object(), intent.id, ACME, "tool.call")


CRASH = """
import asyncio, sys
from uuid import UUID
from gaby.audit import Appender, AuditLog
from gaby.kernel.actors import Actor
from gaby.kernel.clock import SystemClock
from gaby.kernel.database import open_database
from gaby.kernel.ids import IdFactory, WorkspaceId
from gaby.kernel import failpoints

async def main():
    failpoints.configure(sys.argv[2])
    clock = SystemClock()
    audit = AuditLog(open_database(sys.argv[1]), Appender(clock, IdFactory(clock)))
    workspace = WorkspaceId(UUID(int=0xACE))
    actor = Actor(kind="agent", id="planner", workspace_id=workspace)
    async with audit.effect(actor, "tool.call", {"tool": "refund"}) as intent:
        print("acting", flush=True)
        failpoints.failpoint("test.acting")
        intent.succeeded()
    print("done", flush=True)

asyncio.run(main())
"""


@pytest.mark.promise("A2")
@pytest.mark.parametrize(
    ("point", "acted", "rows"),
    [
        ("audit.before_commit=kill@1", False, 0),
        ("audit.after_commit=kill@1", False, 1),
        ("test.acting=kill", True, 1),
        ("audit.before_commit=kill@2", True, 1),
        ("audit.after_commit=kill@2", True, 2),
    ],
)
async def test_a_killed_process_never_acted_without_an_intent_and_its_intent_is_found(
    db: Database, database_url: str, audit: AuditLog, point: str, acted: bool, rows: int
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CRASH, database_url, point, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert (b"acting" in said) is acted
    assert len(stored(db, ACME)) == rows
    open_intents = await audit.pending()
    assert len(open_intents) == (1 if rows == 1 else 0)
    for pending in open_intents:
        assert (pending.event, pending.payload) == ("tool.call.intent", {"tool": "refund"})
        await audit.resolve(
            system_actor("recovery", ACME), pending, IntentOutcome.UNKNOWN, {"reason": "the process died"}
        )
    assert await audit.pending() == []


class Seals:
    async def seal(
        self, workspace_id: WorkspaceId, subject: str, value: str, session: WriteSession | None
    ) -> dict[str, Any]:
        return {"sealed": f"{subject}:{len(value)}", "inside": session is not None}


@pytest.mark.promise("A6")
async def test_personal_values_are_sealed_wherever_they_stand(db: Database, appender: Appender) -> None:
    log = AuditLog(db, appender, sealer=Seals())
    db.on_events(log.record)
    ann = PersonalValue("person:1", "Ann Example")
    await log.append(ACME, ACTOR, "test.row", {"who": ann, "deep": [{"x": (ann, 1)}]})
    async with db.write(ACME) as session:
        session.emit(Event("test.row", ACME, ACTOR, {"who": ann}))
    await log.stop()
    first, second = (payload(row) for row in stored(db, ACME))
    outside = {"sealed": "person:1:11", "inside": False}
    assert first == {"who": outside, "deep": [{"x": [outside, 1]}]}
    assert second == {"who": {"sealed": "person:1:11", "inside": True}}
    assert b"Ann" not in b"".join(row.canonical() for row in stored(db, ACME))


@pytest.mark.promise("A6")
async def test_a_personal_value_is_never_written_in_the_clear(audit: AuditLog) -> None:
    with pytest.raises(NotCanonical, match="seal"):
        await audit.append(ACME, ACTOR, "test.row", {"who": PersonalValue("person:1", "Ann")})


async def test_rows_are_counted_and_told(db: Database, appender: Appender) -> None:
    metrics = Metrics(CollectorRegistry())
    log = AuditLog(db, appender, metrics=metrics)
    told: list[int] = []
    log.on_rows(told.append)
    await log.append(ACME, ACTOR, "test.row", {})
    await log.stop()
    assert told == [1]
    assert metrics.registry.get_sample_value("gaby_audit_rows_total", {"workspace": str(ACME)}) == 1


async def test_a_bad_payload_hurts_only_its_sender(db: Database, audit: AuditLog, tmp_path: Path) -> None:
    answers = await asyncio.gather(
        audit.append(ACME, ACTOR, "test.row", {"n": 1}),
        audit.append(ACME, ACTOR, "test.row", {"path": tmp_path}),
        audit.append(ACME, ACTOR, "Bad Name", {}),
        audit.append(ACME, ACTOR, "test.row", {"n": 2, "nul": "\x00"}),
        return_exceptions=True,
    )
    assert [type(answer).__name__ for answer in answers] == ["AuditRow", "NotCanonical", "NotCanonical", "AuditRow"]
    assert payload(stored(db, ACME)[-1])["nul"] == "\x00"
