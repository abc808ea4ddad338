"""The queue: the table of investigations itself. Whoever claims one holds a lease on it until it moves on or ends.

The fairest next one is of the workspace that has the fewest under way; of several such, of the one whose turn it is.
Within a workspace the most urgent comes first, then the oldest.

A lease ends when others have seen it unchanged for long enough, each by a clock that nobody sets: whatever happens to
the time of day, and however the clocks of several machines differ, a worker that lives keeps what it holds.

A run whose workers died is not to blame for it, but it may be: after some deaths it is begun alone, by a process that
has lived for a while. Only what then ends that process too, or fails with an error of its own, counts as a failure.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Row, case, exists, func, select, update
from sqlalchemy.sql.dml import ReturningUpdate

from gaby.agent.applied_changes import begun_changes
from gaby.agent.models import Investigation
from gaby.agent.transitions import Lease
from gaby.identity.models import Workspace
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import AllWorkspaces, Database, ReadSession, WriteSession
from gaby.kernel.events import Event
from gaby.kernel.ids import SYSTEM, RunId, WorkspaceId
from gaby.kernel.log import get_log
from gaby.tickets.models import Ticket

MOST_DEATHS = 3
"""So many workers of a run may die in a row before it is begun alone."""
MOST_FAILURES = 3
"""How often in a row a run may fail by itself."""
_LOOKS_IN_A_LEASE = 6
_AVERAGE_OF = 50
_USUAL_SECONDS = 20.0
"""Of an investigation, until some have ended."""


class ClaimedRun(NamedTuple):
    lease: Lease
    ticket_id: UUID
    tries: int
    """How often in a row it was claimed without getting any further, this time included."""
    failures: int = 0
    """How often in a row it failed by itself."""

    @property
    def is_suspect(self) -> bool:
        """Perhaps it is what its workers die of."""
        return self.tries > MOST_DEATHS


class _LeaseSnapshot(NamedTuple):
    """A lease as it was seen."""

    token: int
    until: datetime | None
    seen_at: float
    """By a clock that nobody sets."""


@dataclass(frozen=True)
class QueueDepth:
    """How much waits, and for how long something new would have to."""

    waiting: int
    running: int
    seconds_each: float

    def expected_wait(self, slots: int) -> float:
        return self.waiting * self.seconds_each / max(1, slots)


_Run = Investigation
_log = get_log(__name__)


def _due(now: datetime, *, suspects: bool = True) -> tuple[ColumnElement[bool], ...]:
    """What nobody holds and whose time has come."""
    due = (_Run.wake_at.is_not(None), _Run.wake_at <= now, _Run.lease_until.is_(None))
    return due if suspects else (*due, _Run.claims_without_progress < MOST_DEATHS)


def _mine(lease: Lease) -> tuple[ColumnElement[bool], ...]:
    return (_Run.workspace_id == lease.workspace_id, _Run.id == lease.run_id, _Run.lease_token == lease.token)


def _claim_statement(owner: str, now: datetime, lease: timedelta) -> ReturningUpdate[UUID, int, UUID, int, int, int]:
    return (
        update(_Run)
        .values(
            lease_token=_Run.lease_token + 1,
            lease_until=now + lease,
            lease_owner=owner[:100],
            claims_without_progress=_Run.claims_without_progress + 1,
            started_at=func.coalesce(_Run.started_at, now),
        )
        .returning(_Run.id, _Run.lease_token, _Run.ticket_id, _Run.claims_without_progress, _Run.failures, _Run.rank)
    )


def _claimed(place: WorkspaceId, row: Row[UUID, int, UUID, int, int, int]) -> ClaimedRun:
    return ClaimedRun(Lease(place, RunId(row[0]), row[1]), row[2], row[3], row[4])


class RunQueue:
    def __init__(self, database: Database, clock: Clock, *, lease: timedelta) -> None:
        self._database = database
        self._clock = clock
        self.lease = lease
        self._last: WorkspaceId = SYSTEM
        """Whose turn it was. Every process goes round by itself."""
        self._held: dict[UUID, _LeaseSnapshot] = {}
        self._looked_at = float("-inf")

    async def claim(self, owner: str, most: int = 1, *, suspects: bool = True) -> list[ClaimedRun]:
        """Up to so many that are due, each now this owner's alone."""
        if self._clock.monotonic() - self._looked_at >= self.lease.total_seconds() / _LOOKS_IN_A_LEASE:
            await self.release_dead()
        now = self._clock.now()
        if self._database.dialect == "sqlite" and not await self._anything(now, suspects=suspects):
            return []
        async with self._database.write(AllWorkspaces("the queue serves every workspace")) as session:
            busy = await _busy(session, now)
            claimed: list[ClaimedRun] = []
            while busy and len(claimed) < most:
                for place, share in self._shares(busy, most - len(claimed)).items():
                    runs = await self._take(session, place, owner, share, suspects=suspects)
                    claimed += runs
                    busy[place] += len(runs)
                    if len(runs) < share:
                        del busy[place]
        return claimed

    async def release_dead(self) -> int:
        """Free what workers held that have not been heard of for the time of a lease."""
        now = self._clock.monotonic()
        query = select(_Run.workspace_id, _Run.id, _Run.lease_token, _Run.lease_until)
        async with self._database.read(AllWorkspaces("workers of every workspace may have died")) as session:
            rows = (await session.execute(query.where(_Run.lease_until.is_not(None)))).all()
        held: dict[UUID, _LeaseSnapshot] = {}
        dead: list[Lease] = []
        for place, run_id, token, until in rows:
            known = self._held.get(run_id)
            seen = known if known is not None and known[:2] == (token, until) else _LeaseSnapshot(token, until, now)
            held[run_id] = seen
            if now - seen.seen_at >= self.lease.total_seconds():
                dead.append(Lease(WorkspaceId(place), RunId(run_id), token))
        self._held, self._looked_at = held, now
        for lease in dead:
            unchanged = (*_mine(lease), _Run.lease_until == held[lease.run_id].until)
            async with self._database.write(lease.workspace_id) as session:
                await session.execute(update(_Run).where(*unchanged).values(lease_until=None))
            _log.warning("lease.ended", run=str(lease.run_id))
        return len(dead)

    def _shares(self, busy: Mapping[WorkspaceId, int], most: int) -> Mapping[WorkspaceId, int]:
        """How many each may take, as if they were served one after the other."""
        counts, shares = dict(busy), Counter[WorkspaceId]()
        for _ in range(most):
            place = min(counts, key=lambda each: (counts[each], each <= self._last, each))
            counts[place] += 1
            shares[place] += 1
            self._last = place
        return shares

    async def claim_one(self, owner: str, workspace_id: WorkspaceId, run_id: RunId) -> ClaimedRun | None:
        """This one, unless somebody else has it. It need not be due."""
        now = self._clock.now()
        mine = (_Run.workspace_id == workspace_id, _Run.id == run_id, _Run.wake_at.is_not(None))
        async with self._database.write(workspace_id) as session:
            statement = _claim_statement(owner, now, self.lease).where(*mine, _Run.lease_until.is_(None))
            row = (await session.execute(statement)).one_or_none()
        return None if row is None else _claimed(workspace_id, row)

    async def renew(self, lease: Lease) -> bool:
        """Whether it is still ours, and then for longer."""
        # One that was given back, or rests, is nobody's: it must not be held again by a late beat.
        longer = update(_Run).where(*_mine(lease), _Run.wake_at.is_not(None), _Run.lease_until.is_not(None))
        async with self._database.write(lease.workspace_id) as session:
            row = await session.execute(
                longer.values(lease_until=self._clock.now() + self.lease).returning(_Run.id),
            )
            return row.first() is not None

    async def give_back(self, lease: Lease, *, after: timedelta | None = None, forgive: bool = False) -> None:
        """Others may have it at its time, which may have come already, or after a while. What was counted when it was
        begun alone is forgiven where it was interrupted from outside."""
        back: dict[str, Any] = {"lease_until": None, "claims_without_progress": 0}
        if after is not None:
            back["wake_at"] = self._clock.now() + after
        if forgive:
            back["failures"] = case((_Run.failures > 0, _Run.failures - 1), else_=0)
        async with self._database.write(lease.workspace_id) as session:
            await session.execute(update(_Run).where(*_mine(lease), _Run.wake_at.is_not(None)).values(back))

    async def failed(self, lease: Lease, *, after: timedelta, counted: bool) -> int:
        """An error of its own: it is due again after a while. How often in a row that happened."""
        again: dict[str, Any] = {"lease_until": None, "wake_at": self._clock.now() + after}
        if not counted:
            again["failures"] = _Run.failures + 1
        ended = update(_Run).where(*_mine(lease), _Run.wake_at.is_not(None)).values(again).returning(_Run.failures)
        async with self._database.write(lease.workspace_id) as session:
            return (await session.execute(ended)).scalar_one_or_none() or 0

    async def begin_alone(self, claimed: ClaimedRun) -> None:
        """Counted before it begins: a process that dies of it can count nothing any more. Each time it then waits
        longer, since whatever else kills processes passes."""
        failures = claimed.failures + 1
        again_at = self._clock.now() + self.lease * 2**failures
        begun = update(_Run).where(*_mine(claimed.lease)).values(failures=failures, wake_at=again_at)
        async with self._database.write(claimed.lease.workspace_id) as session:
            await session.execute(begun)

    async def wake_resting(self) -> int:
        """Look at everything again that waits for its time. Nothing is done too early: whoever looks sees that."""
        now = self._clock.now()
        late = update(_Run).where(_Run.wake_at.is_not(None), _Run.wake_at > now).values(wake_at=now)
        async with self._database.write(AllWorkspaces("the queue serves every workspace")) as session:
            return len((await session.execute(late.returning(_Run.id))).all())

    async def abandon(self, lease: Lease, reason: str) -> None:
        """End a run that cannot even be taken up: nobody would ever get any further with it."""
        now = self._clock.now()
        ended = update(_Run).where(*_mine(lease), _Run.wake_at.is_not(None))
        async with self._database.read(lease.workspace_id) as reading:
            run = await reading.get_one(_Run, (lease.workspace_id, lease.run_id))
            # Before its first edge a run has called nothing.
            changes = await begun_changes(reading, lease.run_id) if run.edges else ""
        reason = f"{reason}\n{changes}".strip()
        async with self._database.write(lease.workspace_id) as session:
            row = await session.execute(
                ended.values(
                    state="halted",
                    wake_at=None,
                    lease_until=None,
                    verdict="failed",
                    reason=reason[:500],
                    finished_at=now,
                ).returning(_Run.ticket_id)
            )
            ticket_id = row.scalar_one_or_none()
            if ticket_id is None:
                return
            ticket = (Ticket.workspace_id == lease.workspace_id, Ticket.id == ticket_id)
            await session.execute(update(Ticket).where(*ticket).values(status="failed"))
            payload = {"run_id": str(lease.run_id), "reason": reason[:500]}
            actor = system_actor("queue", lease.workspace_id)
            session.emit(Event("investigation.abandoned", lease.workspace_id, actor, payload))

    async def due(self, most: int) -> int:
        """How many are due that nobody holds, counted up to so many."""
        now = self._clock.now()
        query = select(_Run.id).where(*_due(now)).limit(most)
        async with self._database.read(AllWorkspaces("the queue serves every workspace")) as session:
            return len((await session.scalars(query)).all())

    async def waiting(self) -> dict[WorkspaceId, int]:
        """How many tickets nobody has begun with, in each workspace that has some."""
        new = (_Run.workspace_id == Workspace.id, _Run.state == "created", _Run.wake_at <= self._clock.now())
        # Not GROUP BY: for that SQLite may go through all investigations in the order of their workspaces.
        query = select(Workspace.id, select(func.count()).select_from(_Run).where(*new).scalar_subquery())
        async with self._database.read(AllWorkspaces("the depth of every workspace's queue is shown")) as session:
            return {WorkspaceId(row[0]): row[1] for row in (await session.execute(query)).all() if row[1]}

    async def depth(self, session: ReadSession, workspace_id: WorkspaceId) -> QueueDepth:
        now = self._clock.now()
        here = (_Run.workspace_id == workspace_id,)
        waiting = select(func.count()).where(*here, _Run.state == "created", _Run.wake_at <= now)
        running = select(func.count()).where(*here, _Run.lease_until.is_not(None))
        ended = (
            select(_Run.started_at, _Run.finished_at)
            .where(*here, _Run.finished_at.is_not(None), _Run.started_at.is_not(None))
            .order_by(_Run.created_at.desc())
            .limit(_AVERAGE_OF)
        )
        spans = [(end - start).total_seconds() for start, end in (await session.execute(ended)).all() if start and end]
        return QueueDepth(
            waiting=(await session.scalars(waiting)).one(),
            running=(await session.scalars(running)).one(),
            seconds_each=sum(spans) / len(spans) if spans else _USUAL_SECONDS,
        )

    async def _anything(self, now: datetime, *, suspects: bool) -> bool:
        """Looking costs readers nothing; only who finds something asks for the right to write."""
        query = select(_Run.id).where(*_due(now, suspects=suspects)).limit(1)
        async with self._database.read(AllWorkspaces("the queue serves every workspace")) as session:
            return (await session.scalars(query)).first() is not None

    async def _take(
        self, session: WriteSession, place: WorkspaceId, owner: str, most: int, *, suspects: bool
    ) -> list[ClaimedRun]:
        """The first of a workspace, at one stroke."""
        now = self._clock.now()
        due = (_Run.workspace_id == place, *_due(now, suspects=suspects))
        first = select(_Run.id).where(*due).order_by(_Run.rank, _Run.created_at).limit(most)
        # Several may claim at once on Postgres; SQLite has one writer, and knows no such words.
        chosen = first.with_for_update(skip_locked=True).cte("chosen")
        statement = _claim_statement(owner, now, self.lease).where(
            _Run.workspace_id == place, _Run.id.in_(select(chosen.c.id))
        )
        rows = sorted((await session.execute(statement)).all(), key=lambda row: (row[5], row[0]))
        return [_claimed(place, row) for row in rows]


async def _busy(session: ReadSession, now: datetime) -> dict[WorkspaceId, int]:
    """The workspaces in which something is due, with how much is under way in each."""
    due = exists().where(_Run.workspace_id == Workspace.id, *_due(now))
    places = (await session.scalars(select(Workspace.id).where(due))).all()
    held = select(_Run.workspace_id, func.count()).where(_Run.lease_until.is_not(None))
    counts = {row[0]: row[1] for row in (await session.execute(held.group_by(_Run.workspace_id))).all()}
    return {WorkspaceId(place): counts.get(place, 0) for place in places}
