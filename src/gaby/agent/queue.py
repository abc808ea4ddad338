"""The queue: the table of investigations itself. Whoever claims one holds a lease on it until it moves on or ends.

The fairest next one is of the workspace that has the fewest under way; of several such, of the one whose turn it is.
Within a workspace the most urgent comes first, then the oldest.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Row, exists, func, select, update
from sqlalchemy.sql.dml import ReturningUpdate

from gaby.agent.edges import Lease
from gaby.agent.models import Investigation
from gaby.identity.models import Workspace
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import Across, Database, ReadSession, WriteSession
from gaby.kernel.events import Event
from gaby.kernel.ids import SYSTEM, RunId, WorkspaceId
from gaby.tickets.models import Ticket

MOST_TRIES = 5
"""How often a run may be taken up in a row without getting any further."""
_AVERAGE_OF = 50
_USUAL_SECONDS = 20.0
"""Of an investigation, until some have ended."""


class Claimed(NamedTuple):
    lease: Lease
    ticket_id: UUID
    tries: int
    """How often in a row it was claimed without getting any further, this time included."""


@dataclass(frozen=True)
class Depth:
    """How much waits, and for how long something new would have to."""

    waiting: int
    running: int
    seconds_each: float

    def expected_wait(self, slots: int) -> float:
        return self.waiting * self.seconds_each / max(1, slots)


_Run = Investigation


def _free(now: datetime) -> ColumnElement[bool]:
    """Nobody holds it, or whoever did has not been heard of for too long."""
    return _Run.lease_until.is_(None) | (_Run.lease_until <= now)


def _taken(owner: str, now: datetime, lease: timedelta) -> ReturningUpdate[UUID, int, UUID, int, int]:
    return (
        update(_Run)
        .values(
            lease_token=_Run.lease_token + 1,
            lease_until=now + lease,
            lease_owner=owner[:100],
            claims_without_progress=_Run.claims_without_progress + 1,
            started_at=func.coalesce(_Run.started_at, now),
        )
        .returning(_Run.id, _Run.lease_token, _Run.ticket_id, _Run.claims_without_progress, _Run.rank)
    )


def _claimed(place: WorkspaceId, row: Row[UUID, int, UUID, int, int]) -> Claimed:
    return Claimed(Lease(place, RunId(row[0]), row[1]), row[2], row[3])


class Queue:
    def __init__(self, database: Database, clock: Clock, *, lease: timedelta) -> None:
        self._database = database
        self._clock = clock
        self.lease = lease
        self._last: WorkspaceId = SYSTEM
        """Whose turn it was. Every process goes round by itself."""

    async def claim(self, owner: str, most: int = 1) -> list[Claimed]:
        """Up to so many that are due, each now this owner's alone."""
        now = self._clock.now()
        if self._database.dialect == "sqlite" and not await self._anything(now):
            return []
        async with self._database.write(Across("the queue serves every workspace")) as session:
            busy = await _busy(session, now)
            claimed: list[Claimed] = []
            while busy and len(claimed) < most:
                for place, share in self._shares(busy, most - len(claimed)).items():
                    found = await self._take(session, place, owner, now, share)
                    claimed += found
                    busy[place] += len(found)
                    if len(found) < share:
                        del busy[place]
        return claimed

    def _shares(self, busy: Mapping[WorkspaceId, int], most: int) -> Mapping[WorkspaceId, int]:
        """How many each may take, as if they were served one after the other."""
        counts, shares = dict(busy), Counter[WorkspaceId]()
        for _ in range(most):
            place = min(counts, key=lambda each: (counts[each], each <= self._last, each))
            counts[place] += 1
            shares[place] += 1
            self._last = place
        return shares

    async def claim_one(self, owner: str, workspace_id: WorkspaceId, run_id: RunId) -> Claimed | None:
        """This one, unless somebody else has it. It need not be due."""
        now = self._clock.now()
        mine = (_Run.workspace_id == workspace_id, _Run.id == run_id, _Run.wake_at.is_not(None), _free(now))
        async with self._database.write(workspace_id) as session:
            row = (await session.execute(_taken(owner, now, self.lease).where(*mine))).one_or_none()
        return None if row is None else _claimed(workspace_id, row)

    async def renew(self, lease: Lease) -> bool:
        """Whether it is still ours, and then for longer."""
        mine = (_Run.workspace_id == lease.workspace_id, _Run.id == lease.run_id, _Run.lease_token == lease.token)
        longer = update(_Run).where(*mine, _Run.wake_at.is_not(None)).values(lease_until=self._clock.now() + self.lease)
        async with self._database.write(lease.workspace_id) as session:
            return (await session.execute(longer.returning(_Run.id))).first() is not None

    async def give_back(self, lease: Lease) -> None:
        """Others may have it at its time, which may have come already."""
        mine = (_Run.workspace_id == lease.workspace_id, _Run.id == lease.run_id, _Run.lease_token == lease.token)
        async with self._database.write(lease.workspace_id) as session:
            await session.execute(update(_Run).where(*mine).values(lease_until=None, claims_without_progress=0))

    async def abandon(self, lease: Lease, reason: str) -> None:
        """End a run that cannot even be taken up: nobody would ever get any further with it."""
        now = self._clock.now()
        mine = (_Run.workspace_id == lease.workspace_id, _Run.id == lease.run_id, _Run.lease_token == lease.token)
        ended = update(_Run).where(*mine, _Run.wake_at.is_not(None))
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
        query = select(_Run.id).where(_Run.wake_at <= now, _free(now)).limit(most)
        async with self._database.read(Across("the queue serves every workspace")) as session:
            return len((await session.scalars(query)).all())

    async def waiting(self) -> dict[WorkspaceId, int]:
        """How many tickets nobody has begun with, in each workspace that has some."""
        new = (_Run.workspace_id == Workspace.id, _Run.state == "created", _Run.wake_at <= self._clock.now())
        # Not GROUP BY: for that SQLite may go through all investigations in the order of their workspaces.
        query = select(Workspace.id, select(func.count()).select_from(_Run).where(*new).scalar_subquery())
        async with self._database.read(Across("the depth of every workspace's queue is shown")) as session:
            return {WorkspaceId(row[0]): row[1] for row in (await session.execute(query)).all() if row[1]}

    async def depth(self, session: ReadSession, workspace_id: WorkspaceId) -> Depth:
        now = self._clock.now()
        here = (_Run.workspace_id == workspace_id,)
        waiting = select(func.count()).where(*here, _Run.state == "created", _Run.wake_at <= now)
        running = select(func.count()).where(*here, _Run.lease_until > now, _Run.wake_at.is_not(None))
        ended = (
            select(_Run.started_at, _Run.finished_at)
            .where(*here, _Run.finished_at.is_not(None), _Run.started_at.is_not(None))
            .order_by(_Run.created_at.desc())
            .limit(_AVERAGE_OF)
        )
        spans = [(end - start).total_seconds() for start, end in (await session.execute(ended)).all() if start and end]
        return Depth(
            waiting=(await session.scalars(waiting)).one(),
            running=(await session.scalars(running)).one(),
            seconds_each=sum(spans) / len(spans) if spans else _USUAL_SECONDS,
        )

    async def _anything(self, now: datetime) -> bool:
        """Looking costs readers nothing; only who finds something asks for the right to write."""
        query = select(_Run.id).where(_Run.wake_at <= now, _free(now)).limit(1)
        async with self._database.read(Across("the queue serves every workspace")) as session:
            return (await session.scalars(query)).first() is not None

    async def _take(
        self, session: WriteSession, place: WorkspaceId, owner: str, now: datetime, most: int
    ) -> list[Claimed]:
        """The first of a workspace, at one stroke."""
        due = (_Run.workspace_id == place, _Run.wake_at <= now, _free(now))
        first = select(_Run.id).where(*due).order_by(_Run.rank, _Run.created_at).limit(most)
        # Several may claim at once on Postgres; SQLite has one writer, and knows no such words.
        chosen = first.with_for_update(skip_locked=True).cte("chosen")
        taken = _taken(owner, now, self.lease).where(_Run.workspace_id == place, _Run.id.in_(select(chosen.c.id)))
        rows = sorted((await session.execute(taken)).all(), key=lambda row: (row[4], row[0]))
        return [_claimed(place, row) for row in rows]


async def _busy(session: ReadSession, now: datetime) -> dict[WorkspaceId, int]:
    """The workspaces in which something is due, with how much is under way in each."""
    due = exists().where(_Run.workspace_id == Workspace.id, _Run.wake_at <= now, _free(now))
    places = (await session.scalars(select(Workspace.id).where(due))).all()
    held = select(_Run.workspace_id, func.count()).where(_Run.lease_until > now, _Run.wake_at.is_not(None))
    counts = {row[0]: row[1] for row in (await session.execute(held.group_by(_Run.workspace_id))).all()}
    return {WorkspaceId(place): counts.get(place, 0) for place in places}
