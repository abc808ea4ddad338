"""Receiving: polls and webhook deliveries, one ticket after the other, so that a bad one never holds up the rest."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import AllWorkspaces, Database, ReadSession, WriteSession
from gaby.kernel.errors import GabyError, Unavailable
from gaby.kernel.events import Event
from gaby.kernel.failpoints import failpoint_async
from gaby.kernel.ids import DeskId, IdFactory, WorkspaceId
from gaby.kernel.log import get_log
from gaby.kernel.text_work import run_text_work
from gaby.tickets.adapters.adapter import (
    DeskUnavailable,
    RawTicket,
    TicketAdapter,
    TicketUnreadable,
    VerifiedDelivery,
    WebhookRefused,
)
from gaby.tickets.desks import Desks
from gaby.tickets.intake import Intake, IntakeResult
from gaby.tickets.models import DeadLetter, Desk, WebhookDelivery
from gaby.tickets.preparation import PreparedTicket, text_size

TRIES = 5
_log = get_log(__name__)
_MOST_PAGES = 50
_LONGEST_WAIT = timedelta(hours=1)
_REMEMBERED = timedelta(days=30)
_PURPOSE = "dead letter"
_MOST_KEPT = 6_000_000
_UNREADABLE = (TicketUnreadable, ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True)
class _UnreadableItem:
    error: Exception


@dataclass(frozen=True)
class ReceiveCounts:
    new: int = 0
    messages: int = 0
    unreadable: int = 0

    def and_(self, other: "ReceiveCounts") -> "ReceiveCounts":
        return ReceiveCounts(self.new + other.new, self.messages + other.messages, self.unreadable + other.unreadable)


class TicketReceiver:
    def __init__(
        self, database: Database, clock: Clock, ids: IdFactory, vault: Vault, desks: Desks, intake: Intake
    ) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._vault = vault
        self._desks = desks
        self._intake = intake

    async def deliver(self, desk_id: DeskId, headers: Mapping[str, str], body: bytes) -> ReceiveCounts:
        """A webhook delivery. `WebhookRefused` when it is forged, too old, or was delivered before."""
        async with self._database.read(
            AllWorkspaces("a delivery names a desk, which may be of any workspace")
        ) as session:
            desk = (await session.scalars(select(Desk).where(Desk.id == desk_id))).one_or_none()
        if desk is None:
            raise WebhookRefused
        workspace_id = WorkspaceId(desk.workspace_id)
        async with self._database.read(workspace_id) as session:
            adapter = await self._desks.adapter(session, desk)
        if not adapter.capabilities().webhooks:
            raise WebhookRefused
        delivery = self._verified(desk, adapter, headers, body)
        received = ReceiveCounts()
        prepared = [await self._prepared(desk, adapter, raw) for raw in delivery.tickets]
        async with self._database.write(workspace_id) as session:
            if not await self._is_first(session, desk, delivery.id):
                raise WebhookRefused
            for raw, ready in zip(delivery.tickets, prepared, strict=True):
                received = received.and_(await self._take(session, desk, raw, ready))
        return received

    def _verified(
        self, desk: Desk, adapter: TicketAdapter, headers: Mapping[str, str], body: bytes
    ) -> VerifiedDelivery:
        try:
            return adapter.verify({name.lower(): value for name, value in headers.items()}, body, self._clock.now())
        except WebhookRefused as error:
            # Our log says why. The sender, who may be anybody, gets the same answer for every reason.
            _log.warning("webhook.refused", desk=str(desk.id), reason=error.message)
            raise WebhookRefused from None

    async def poll(self, workspace_id: WorkspaceId, desk_id: DeskId) -> ReceiveCounts:
        """Everything that is new since the cursor. Raises what the desk raises, after noting it."""
        async with self._database.read(workspace_id) as session:
            desk = await self._desks.get(session, desk_id)
            adapter = await self._desks.adapter(session, desk)
        received = await self._try_again(workspace_id, desk, adapter)
        cursor = desk.cursor
        for _ in range(_MOST_PAGES):
            try:
                page = await adapter.poll(cursor)
            except GabyError as error:
                await self._noted(workspace_id, desk_id, desk, error)
                raise
            for raw in page.tickets:
                ready = await self._prepared(desk, adapter, raw)
                async with self._database.write(workspace_id) as session:
                    received = received.and_(await self._take(session, desk, raw, ready))
                await failpoint_async("poll.after_ticket")
            async with self._database.write(workspace_id) as session:
                await session.execute(
                    update(Desk)
                    .where(Desk.workspace_id == workspace_id, Desk.id == desk_id)
                    .values(cursor=page.cursor, polled_at=self._clock.now(), failures=0, last_error=None)
                )
            cursor = page.cursor
            if not page.more:
                break
        return received

    async def poll_due(self) -> int:
        """Every desk whose time has come, in every workspace. How many were polled."""
        count = 0
        for workspace_id, desk_id, token in await self._due():
            if not await self._hold(workspace_id, desk_id, token):
                continue
            count += 1
            # Whatever is wrong with one desk, the others get their turn.
            [ended] = await asyncio.gather(self.poll(workspace_id, desk_id), return_exceptions=True)
            if isinstance(ended, BaseException):
                _log.warning("desk.poll_failed", desk=str(desk_id), error=repr(ended))
        await self._forget_old_deliveries()
        return count

    async def poll_all(self) -> None:
        """Every desk that is polled at all is due."""
        now = self._clock.now()
        async with self._database.write(AllWorkspaces("desks of all workspaces are polled")) as session:
            await session.execute(update(Desk).where(Desk.due_at > now).values(due_at=now))

    async def dead_letters(self, session: ReadSession, desk: Desk) -> list[DeadLetter]:
        mine = (DeadLetter.workspace_id == session.workspace_id, DeadLetter.desk_id == desk.id)
        return list((await session.scalars(select(DeadLetter).where(*mine).order_by(DeadLetter.last_at.desc()))).all())

    async def _due(self) -> list[tuple[WorkspaceId, DeskId, int]]:
        query = select(Desk.workspace_id, Desk.id, Desk.lease_token).where(Desk.due_at <= self._clock.now())
        async with self._database.read(AllWorkspaces("desks of all workspaces are polled")) as session:
            rows = (await session.execute(query.order_by(Desk.due_at))).all()
        return [(WorkspaceId(row[0]), DeskId(row[1]), row[2]) for row in rows]

    async def _hold(self, workspace_id: WorkspaceId, desk_id: DeskId, token: int) -> bool:
        """Of several processes one polls; the next poll is due when the desk's interval has passed."""
        async with self._database.write(workspace_id) as session:
            desk = await session.get(Desk, (workspace_id, desk_id), with_for_update=True)
            if desk is None or desk.lease_token != token or desk.every_seconds is None:
                return False
            desk.lease_token += 1
            every = timedelta(seconds=desk.every_seconds)
            desk.due_at = self._clock.now() + min(max(every, every * 2**desk.failures), max(_LONGEST_WAIT, every))
            return True

    async def _noted(self, workspace_id: WorkspaceId, desk_id: DeskId, desk: Desk, error: GabyError) -> None:
        wait = error.retry_after if isinstance(error, DeskUnavailable) else None
        values: dict[str, object] = {"failures": min(desk.failures + 1, 10), "last_error": error.message[:500]}
        if wait is not None and desk.every_seconds is not None:
            values["due_at"] = self._clock.now() + timedelta(seconds=min(max(wait, desk.every_seconds), 86_400))
        async with self._database.write(workspace_id) as session:
            mine = (Desk.workspace_id == workspace_id, Desk.id == desk_id)
            await session.execute(update(Desk).where(*mine).values(**values))

    async def _prepared(self, desk: Desk, adapter: TicketAdapter, raw: RawTicket) -> "PreparedTicket | _UnreadableItem":
        """Everything that takes time with large texts, outside of any transaction."""
        try:
            incoming = await run_text_work(text_size(raw.payload), adapter.normalize, raw)
            async with self._database.read(WorkspaceId(desk.workspace_id)) as session:
                known = await self._intake.fingerprint_of(session, desk, incoming.external_id)
            return await self._intake.prepare(incoming, known)
        except Unavailable:
            raise
        except _UNREADABLE as error:
            return _UnreadableItem(error)

    async def _take(
        self, session: WriteSession, desk: Desk, raw: RawTicket, ready: "PreparedTicket | _UnreadableItem"
    ) -> ReceiveCounts:
        actor = system_actor(f"desk {desk.name}", session.workspace_id)
        try:
            if isinstance(ready, _UnreadableItem):
                raise ready.error
            intake_result: IntakeResult = await self._intake.take(session, actor, desk, ready)
        except Unavailable:
            raise
        except _UNREADABLE as error:
            await self._set_aside(session, actor, desk, raw, error)
            return ReceiveCounts(unreadable=1)
        await self._mended(session, desk, raw.external_id)
        return ReceiveCounts(new=int(intake_result.new), messages=intake_result.messages)

    async def _set_aside(
        self, session: WriteSession, actor: Actor, desk: Desk, raw: RawTicket, error: Exception
    ) -> None:
        reason = error.message if isinstance(error, GabyError) else f"It is not what a ticket looks like ({error!r})."
        external_id = raw.external_id.encode("utf-8", "replace").decode().replace("\0", "")[:200]
        dead_letter = await self._dead_letter(session, desk, external_id)
        if dead_letter is not None:
            dead_letter.payload = await self._vault.seal(session, f"letter:{dead_letter.id}", _as_text(raw), _PURPOSE)
            if dead_letter.state == "mended":
                # It could be read for a while, so this is a new trouble.
                dead_letter.state, dead_letter.tries = "trying", 0
        else:
            row_id = self._ids.new()
            dead_letter = DeadLetter(
                workspace_id=session.workspace_id,
                id=row_id,
                desk_id=desk.id,
                external_id=external_id,
                state="trying",
                reason="",
                tries=0,
                payload=await self._vault.seal(session, f"letter:{row_id}", _as_text(raw), _PURPOSE),
                first_at=self._clock.now(),
                last_at=self._clock.now(),
            )
            session.add(dead_letter)
        dead_letter.tries += 1
        dead_letter.reason = reason.encode("utf-8", "replace").decode().replace("\0", "")[:500]
        dead_letter.last_at = self._clock.now()
        if dead_letter.tries >= TRIES and dead_letter.state == "trying":
            dead_letter.state = "dead"
            payload = {"desk": desk.name, "letter_id": str(dead_letter.id), "tries": dead_letter.tries}
            session.emit(Event("ticket.dead_lettered", session.workspace_id, actor, payload))
        await session.flush()

    async def _try_again(self, workspace_id: WorkspaceId, desk: Desk, adapter: TicketAdapter) -> ReceiveCounts:
        async with self._database.read(workspace_id) as session:
            waiting = [
                RawTicket(
                    dead_letter.external_id,
                    json.loads(
                        await self._vault.open(session, f"letter:{dead_letter.id}", dead_letter.payload, _PURPOSE)
                    ),
                )
                for dead_letter in await self.dead_letters(session, desk)
                if dead_letter.state == "trying"
            ]
        received = ReceiveCounts()
        for raw in waiting:
            ready = await self._prepared(desk, adapter, raw)
            async with self._database.write(workspace_id) as session:
                received = received.and_(await self._take(session, desk, raw, ready))
        return received

    async def _dead_letter(self, session: WriteSession, desk: Desk, external_id: str) -> DeadLetter | None:
        mine = (DeadLetter.workspace_id == session.workspace_id, DeadLetter.desk_id == desk.id)
        query = select(DeadLetter).where(*mine, DeadLetter.external_id == external_id)
        return (await session.scalars(query)).one_or_none()

    async def _mended(self, session: WriteSession, desk: Desk, external_id: str) -> None:
        mine = (DeadLetter.workspace_id == session.workspace_id, DeadLetter.desk_id == desk.id)
        await session.execute(
            update(DeadLetter)
            .where(*mine, DeadLetter.external_id == external_id, DeadLetter.state != "mended")
            .values(state="mended")
        )

    async def _is_first(self, session: WriteSession, desk: Desk, delivery_id: str) -> bool:
        insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
        row = {
            "workspace_id": session.workspace_id,
            "desk_id": desk.id,
            "delivery_id": delivery_id[:200],
            "received_at": self._clock.now(),
        }
        stored = await session.execute(
            insert(WebhookDelivery).values(**row).on_conflict_do_nothing().returning(WebhookDelivery.delivery_id)
        )
        return stored.first() is not None

    async def _forget_old_deliveries(self) -> None:
        old = WebhookDelivery.received_at < self._clock.now() - _REMEMBERED
        async with self._database.read(AllWorkspaces("old deliveries of all workspaces are forgotten")) as session:
            some = (await session.scalars(select(WebhookDelivery.delivery_id).where(old).limit(1))).first()
        if some is not None:
            async with self._database.write(AllWorkspaces("old deliveries of all workspaces are forgotten")) as session:
                await session.execute(delete(WebhookDelivery).where(old))


def _as_text(raw: RawTicket) -> str:
    """What is too large to keep, or no JSON, is kept as nothing: no try would read it, and a person has to look."""
    try:
        text = json.dumps(raw.payload)
    except (TypeError, ValueError, RecursionError):
        return "{}"
    return text if len(text) <= _MOST_KEPT else "{}"
