"""Intake: a ticket from a desk is made fit, redacted, stored once, and told of to whoever investigates."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite

from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import ReadSession, WriteSession, wants_reference
from gaby.kernel.errors import Conflict, NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory, TicketId
from gaby.tickets.canonical_ticket import IncomingMessage, IncomingTicket, rank_of
from gaby.tickets.models import Desk, Ticket, TicketMessage
from gaby.tickets.preparation import (
    PreparedMessage,
    PreparedTicket,
    believed_ticket,
    prepare_message,
    prepare_ticket,
)
from gaby.tickets.text_cleanup import LONGEST_ID, clean_line
from gaby.tickets.ticket_queries import TicketReads

_PURPOSE = "ticket"
_MOST_METADATA = 20_000
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
"""As JSON spells it, which is not so after a backslash that is itself spelled."""
_FIRST = frozenset({"to"})
"""Whoever writes later does not change whom an answer goes to."""


@dataclass(frozen=True)
class IntakeResult:
    ticket_id: TicketId
    new: bool
    messages: int = 0
    """How many were new on it."""


@dataclass(frozen=True)
class OriginalTicket:
    """A ticket as it was really written, opened for an investigation or for somebody who may see it."""

    title: str
    body: str
    messages: tuple["OriginalMessage", ...]


@dataclass(frozen=True)
class OriginalMessage:
    id: UUID
    author: str
    body: str
    at: datetime
    private: bool
    automatic: bool
    author_email: str | None = None
    verified_by: str = "nobody"

    @property
    def verified(self) -> bool:
        return self.verified_by != "nobody"

    @property
    def asks(self) -> bool:
        """Whether somebody who has the problem wrote it, and may want an answer."""
        return self.author == "requester" and not self.automatic


class Intake(TicketReads):
    def __init__(self, clock: Clock, ids: IdFactory, vault: Vault, redact: Callable[[str], str]) -> None:
        self._clock = clock
        self._ids = ids
        self._vault = vault
        self._redact = redact

    async def prepare(self, incoming: IncomingTicket, known: str | None = None) -> PreparedTicket:
        """What takes time, to be done before a transaction is opened: everybody else waits for those."""
        return await prepare_ticket(incoming, self._redact, known)

    async def prepare_message(self, message: IncomingMessage) -> PreparedMessage:
        return await prepare_message(message, self._redact)

    async def fingerprint_of(self, session: ReadSession, desk: Desk, external_id: str) -> str | None:
        """What is stored of a ticket, to compare with."""
        mine = (Ticket.workspace_id == session.workspace_id, Ticket.desk_id == desk.id)
        query = select(Ticket.fingerprint).where(*mine, Ticket.external_id == clean_line(external_id, LONGEST_ID))
        return (await session.scalars(query)).one_or_none()

    async def take(
        self, session: WriteSession, actor: Actor, desk: Desk, incoming: IncomingTicket | PreparedTicket
    ) -> IntakeResult:
        """The same again changes nothing; what is new on a known ticket becomes messages on it."""
        ready = incoming if isinstance(incoming, PreparedTicket) else await self.prepare(incoming)
        known = await self._known(session, desk, ready.external_id)
        if known is not None and known.fingerprint == ready.fingerprint:
            return IntakeResult(known.typed_id, new=False)
        if known is not None and known.operator is not None:
            raise Conflict("This id belongs to an operator's instruction, which nobody writes anew.")
        if ready.unchanged:
            # It was the same when it was prepared, and somebody has changed it since.
            ready = await self.prepare(ready.ticket)
        ready = replace(ready, ticket=believed_ticket(ready.ticket, desk.vouched_by))
        if known is None:
            stored = await self._store(session, actor, desk, ready)
            if stored is not None and not ready.messages:
                return IntakeResult(stored, new=True)
            # With messages of its own, or because somebody else stored it a moment earlier.
            known = await self._must(session, desk, ready.external_id)
            if stored is not None:
                return IntakeResult(stored, new=True, messages=await self._add_messages(session, actor, known, ready))
            if known.fingerprint == ready.fingerprint:
                return IntakeResult(known.typed_id, new=False)
        return IntakeResult(known.typed_id, new=False, messages=await self._update(session, actor, known, ready))

    async def written(self, session: ReadSession, ticket: Ticket) -> OriginalTicket:
        """What was really written, decrypted."""
        sealing = await self._vault.opening(session, subject_of(ticket.id), _PURPOSE)
        texts = json.loads(sealing.open_text(ticket.body_encrypted))
        messages = [
            OriginalMessage(
                id=row.id,
                author=row.author,
                body=sealing.open_text(row.body_encrypted),
                at=row.at,
                private=row.private,
                automatic=row.automatic,
                author_email=row.author_email,
                verified_by=row.verified_by,
            )
            for row in await self.messages(session, ticket.id)
        ]
        return OriginalTicket(texts["title"], texts["body"], tuple(messages))

    async def add_message(
        self,
        session: WriteSession,
        actor: Actor,
        ticket: Ticket,
        incoming: IncomingMessage | PreparedMessage,
        *,
        automatic: bool = False,
    ) -> bool:
        """False when it is there already. What a machine wrote sets nobody to work, or two machines never stop.

        `verified_by` is stored as it stands, so it is for the caller to know that the desk is believed in this."""
        ready = incoming if isinstance(incoming, PreparedMessage) else await self.prepare_message(incoming)
        message = ready.message
        body_encrypted = await self._vault.seal(session, subject_of(ticket.id), message.body, _PURPOSE)
        row = {
            "workspace_id": session.workspace_id,
            "id": self._ids.new(),
            "ticket_id": ticket.id,
            "external_id": message.external_id[:LONGEST_ID],
            "author": message.author,
            "author_email": message.author_email,
            "verified_by": message.verified_by,
            "body": ready.redacted,
            "body_encrypted": body_encrypted,
            "private": message.private,
            "at": message.at or self._clock.now(),
            "automatic": automatic,
        }
        added = await session.execute(
            _insert(session, TicketMessage).values(**row).on_conflict_do_nothing().returning(TicketMessage.id)
        )
        if added.first() is None:
            return False
        ticket.changed_at = self._clock.now()
        payload = {
            "ticket_id": str(ticket.id),
            "author": message.author,
            "private": message.private,
            "automatic": automatic,
        }
        session.emit(Event("ticket.message", session.workspace_id, actor, payload))
        return True

    async def _store(self, session: WriteSession, actor: Actor, desk: Desk, ready: PreparedTicket) -> TicketId | None:
        """None when the same ticket came a moment earlier."""
        ticket = ready.ticket
        ticket_id = TicketId(self._ids.new())
        now = self._clock.now()
        texts = json.dumps({"title": ticket.title, "body": ticket.body})
        automatic = bool(ticket.metadata.get("automatic"))
        row = {
            "workspace_id": session.workspace_id,
            "id": ticket_id,
            "desk_id": desk.id,
            "external_id": ready.external_id,
            "title": ready.title,
            "body": ready.body,
            "body_encrypted": await self._vault.seal(session, subject_of(ticket_id), texts, _PURPOSE),
            "customer": ticket.customer,
            "requester_email": ticket.requester_email,
            "requester_verified": ticket.requester_verified,
            "priority": ticket.priority,
            "status": "skipped" if automatic or ticket.closed else "queued",
            "received_at": ticket.received_at or now,
            "changed_at": now,
            "source_metadata": _small(ticket.metadata),
            "fingerprint": ready.fingerprint,
            "sla_at": ticket.sla_at,
            "closed_at": now if ticket.closed else None,
            "desk_changed_at": ticket.changed_at,
        }
        stored = await session.execute(
            _insert(session, Ticket).values(**row).on_conflict_do_nothing().returning(Ticket.id)
        )
        if stored.first() is None:
            return None
        wants_reference(session, Ticket, ticket_id)
        payload = {
            "ticket_id": str(ticket_id),
            "desk": desk.name,
            "external_id": ready.external_id,
            "rank": rank_of(ticket.priority),
            "queued": row["status"] == "queued",
        }
        session.emit(Event("ticket.received", session.workspace_id, actor, payload))
        return ticket_id

    async def _update(self, session: WriteSession, actor: Actor, known: Ticket, ready: PreparedTicket) -> int:
        ticket = ready.ticket
        if _is_older(ticket, known):
            # It was overtaken on its way. What people wrote is kept, whatever the order it comes in.
            overtaken = replace(ready, ticket=replace(ticket, body=""))
            return await self._add_messages(session, actor, known, overtaken)
        known.fingerprint = ready.fingerprint
        known.desk_changed_at = ticket.changed_at or known.desk_changed_at
        known.priority = ticket.priority
        known.sla_at = ticket.sla_at
        kept = {name: value for name, value in known.source_metadata.items() if name in _FIRST}
        known.source_metadata = {**known.source_metadata, **_small(ticket.metadata), **kept}
        known.changed_at = self._clock.now()
        if ticket.closed and known.closed_at is None:
            known.closed_at = self._clock.now()
            session.emit(Event("ticket.closed", session.workspace_id, actor, {"ticket_id": str(known.id)}))
        elif not ticket.closed:
            known.closed_at = None
        return await self._add_messages(session, actor, known, ready)

    async def _add_messages(self, session: WriteSession, actor: Actor, known: Ticket, ready: PreparedTicket) -> int:
        ticket = ready.ticket
        # The texts were redacted before it was known whom this desk believes.
        texts = [each.redacted for each in ready.messages]
        messages = [PreparedMessage(each, text) for each, text in zip(ticket.messages, texts, strict=True)]
        stored_text = await self._vault.open(session, subject_of(known.id), known.body_encrypted, _PURPOSE)
        known_bodies = {json.loads(stored_text)["body"], *(each.body for each in ticket.messages)}
        if ticket.body and ticket.body not in known_bodies:
            # Somebody has edited the text. What it said before may have been acted on, so both stay.
            messages.append(ready.edit)
        automatic = bool(ticket.metadata.get("automatic"))
        return sum([await self.add_message(session, actor, known, each, automatic=automatic) for each in messages])

    async def _known(self, session: ReadSession, desk: Desk, external_id: str) -> Ticket | None:
        mine = (Ticket.workspace_id == session.workspace_id, Ticket.desk_id == desk.id)
        query = select(Ticket).where(*mine, Ticket.external_id == external_id).with_for_update()
        return (await session.scalars(query)).one_or_none()

    async def _must(self, session: ReadSession, desk: Desk, external_id: str) -> Ticket:
        ticket = await self._known(session, desk, external_id)
        if ticket is None:
            raise NotFound
        return ticket


def _insert(session: WriteSession, table: type[Ticket] | type[TicketMessage]) -> Any:
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    return insert(table)


def subject_of(ticket_id: UUID) -> str:
    """Whose key everything is sealed with that was written or found out about a ticket."""
    return f"ticket:{ticket_id}"


def _is_older(ticket: IncomingTicket, known: Ticket) -> bool:
    return (
        ticket.changed_at is not None
        and known.desk_changed_at is not None
        and ticket.changed_at < known.desk_changed_at
    )


def _small(metadata: Any) -> dict[str, Any]:
    """Adapters keep little here; a desk that sends a lot gets none of it stored."""
    try:
        text = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return {}
    whole = text.encode("utf-8", "replace").decode()
    return json.loads(_NUL.sub(r"\1", whole)) if len(text) <= _MOST_METADATA else {}
