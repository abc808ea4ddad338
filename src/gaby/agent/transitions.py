"""Transitions: a change of state with all that belongs to it, written in one transaction or not at all.

Many investigations move at once, so their edges share commits. An edge is written only by whoever holds the lease, and
only if it is the next one; a worker that was stopped for too long finds that somebody else has gone on.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from gaby.audit import Appender, AuditUnavailable, Fence, RowDraft
from gaby.kernel.database import Database
from gaby.kernel.database.group_commit import GroupCommit
from gaby.kernel.database.raw_sql import Connection, SqlRunner, SqlStatement, moment_for
from gaby.kernel.errors import GabyError
from gaby.kernel.failpoints import failpoint
from gaby.kernel.ids import RunId, WorkspaceId

StepKind = Literal["info", "thought", "search", "read", "write", "approval", "verdict", "post", "problem", "quiet"]


class LeaseLost(GabyError):
    """Somebody else carries this investigation on. Nothing was written."""

    status = 409
    exit_code = 5


class TimelineStep(NamedTuple):
    """A line of the timeline, without personal data."""

    system: str
    action: str
    detail: str = ""
    kind: StepKind = "info"


class Lease(NamedTuple):
    workspace_id: WorkspaceId
    run_id: RunId
    token: int

    @property
    def fence(self) -> Fence:
        return Fence(
            "SELECT COUNT(*) FROM investigations WHERE workspace_id = ? AND id = ? AND lease_token = ?",
            (self.workspace_id.hex, self.run_id.hex, str(self.token)),
            1,
        )


class Ending(NamedTuple):
    """What is known of an investigation from its verdict on."""

    verdict: str | None = None
    reason: str | None = None
    summary: str | None = None
    finished_at: datetime | None = None


NOT_ENDED = Ending()


class Transition(NamedTuple):
    lease: Lease
    n: int
    state: str
    packed: bytes
    """Sealed: the new state, and what it adds to the memory."""
    at: datetime
    lease_until: datetime | None
    wake_at: datetime | None
    steps: tuple[TimelineStep, ...]
    drafts: tuple[RowDraft, ...] = ()
    ending: Ending = NOT_ENDED
    also: tuple[SqlStatement, ...] = ()


class TransitionResult(NamedTuple):
    halt: str | None
    """Who wants the investigation to stop, and why."""


_MOVE = (
    "UPDATE investigations SET state = ?, edges = ?, wake_at = ?, lease_until = ?, claims_without_progress = 0, "
    "failures = 0, "
    "verdict = COALESCE(?, verdict), reason = COALESCE(?, reason), summary = COALESCE(?, summary), "
    "finished_at = COALESCE(?, finished_at) "
    "WHERE workspace_id = ? AND id = ? AND lease_token = ? AND edges = ? RETURNING halt"
)
_EDGE = "INSERT INTO investigation_edges (workspace_id, run_id, n, state, delta, at) VALUES (?, ?, ?, ?, ?, ?)"
_STEP = (
    "INSERT INTO investigation_steps (workspace_id, run_id, n, place, system, action, detail, kind, at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_MOST_DETAIL = 4000


class TransitionWriter:
    def __init__(self, database: Database, appender: Appender) -> None:
        self._database = database
        self._appender = appender
        self._commits = GroupCommit[Transition, TransitionResult](
            database, self._write, name="edges", unavailable=AuditUnavailable, max_batch=64
        )

    @property
    def trouble(self) -> str | None:
        return self._commits.trouble

    async def put(self, edge: Transition) -> TransitionResult:
        """Returns when it is on disk. `LeaseLost` when it is not ours to write."""
        return await self._commits.put(edge)

    async def stop(self) -> None:
        await self._commits.stop()

    def _write(self, connection: Connection, edges: Sequence[Transition]) -> list[TransitionResult | GabyError]:
        sql = SqlRunner(connection, self._database.dialect)
        try:
            results: list[TransitionResult | GabyError] = []
            drafts: list[RowDraft] = []
            failpoint("edge.before_write")
            for edge in edges:
                moved = self._move(sql, edge)
                if isinstance(moved, TransitionResult):
                    self._add(sql, edge)
                    drafts += edge.drafts
                results.append(moved)
        finally:
            sql.close()
        if drafts:
            self._appender.append(connection, self._database.dialect, drafts)
        return results

    def _move(self, sql: SqlRunner, edge: Transition) -> TransitionResult | LeaseLost:
        lease, ending = edge.lease, edge.ending
        row = sql.one(
            _MOVE,
            edge.state,
            edge.n,
            self._moment(edge.wake_at),
            self._moment(edge.lease_until),
            ending.verdict,
            ending.reason,
            ending.summary,
            self._moment(ending.finished_at),
            lease.workspace_id.hex,
            lease.run_id.hex,
            lease.token,
            edge.n - 1,
        )
        return LeaseLost() if row is None else TransitionResult(row[0])

    def _add(self, sql: SqlRunner, edge: Transition) -> None:
        place = (edge.lease.workspace_id.hex, edge.lease.run_id.hex, edge.n)
        at = self._moment(edge.at)
        sql.run(_EDGE, *place, edge.state, edge.packed, at)
        sql.many(
            _STEP,
            [
                (*place, number, step.system[:80], step.action[:120], step.detail[:_MOST_DETAIL], step.kind, at)
                for number, step in enumerate(edge.steps)
            ],
        )
        for statement in edge.also:
            sql.run(statement.sql, *(self._bound(value) for value in statement.parameters))

    def _bound(self, value: Any) -> Any:
        return self._moment(value) if isinstance(value, datetime) else value

    def _moment(self, moment: datetime | None) -> object:
        return None if moment is None else moment_for(self._database.dialect, moment)
