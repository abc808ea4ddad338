"""Postings: what an investigation sends to the desk and to colleagues. Each arrives once, whatever happens on the way.

A posting is noted as being sent before it is sent. Whoever finds it so later does not know whether it arrived, and asks
the desk before sending again; where the desk cannot tell, a person has to look.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, cast
from uuid import UUID

from sqlalchemy import select, update

from gaby.audit import AuditLog, Fence, FenceBroken
from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import SubjectSealer
from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.errors import GabyError, NotFound
from gaby.kernel.failpoints import failpoint_async
from gaby.kernel.ids import RunId, WorkspaceId
from gaby.tickets.adapters.adapter import (
    DeskOutcomeUnknown,
    DeskRefused,
    DeskReply,
    DeskUnavailable,
    TicketAdapter,
    TicketUnreadable,
)
from gaby.tickets.canonical_ticket import IncomingMessage
from gaby.tickets.desks import Desks
from gaby.tickets.escalation_sender import EscalationSender
from gaby.tickets.intake import Intake
from gaby.tickets.models import Desk, Posting, Ticket

PURPOSE = "posting"
KINDS = ("reply", "ack", "status", "time", "escalation")
"""In the order in which they are sent."""
_PATIENCE = timedelta(hours=24)
"""For a desk that is down. After that a person has to look."""
_LOOKS = 3
_DECISIONS = 3
"""How often it is decided anew when the policy changes between decision and intent."""
_FIRST_PAUSE = timedelta(seconds=5)
_LONGEST_PAUSE = timedelta(minutes=15)
UNDELIVERED = frozenset({"unknown", "refused"})
"""It did not arrive, or nobody can say whether it did."""
_SETTLED = UNDELIVERED | {"posted", "dropped"}


@dataclass(frozen=True)
class PostingResult:
    """What became of one posting."""

    kind: Literal["reply", "ack", "status", "time", "escalation"]
    state: str
    shown: str
    error: str | None


@dataclass(frozen=True)
class PostingDecision:
    """What may happen with a posting, as the safety path has decided."""

    outcome: Literal["send", "wait", "refuse"]
    rule: str
    reason: str
    fence: Fence | None = None
    """What must still hold when it is sent."""
    approval_id: UUID | None = None
    until: datetime | None = None
    """How long a person may take to answer."""
    content: dict[str, Any] | None = None
    """What is sent: a person may have changed it."""


class PostingGate(Protocol):
    """Decides about everything that leaves. Tickets know nothing of how."""

    async def decide(self, posting: Posting, content: dict[str, Any]) -> PostingDecision: ...


class _Superseded(Exception):
    """Something that was decided by has changed. Nothing was sent."""


@dataclass(frozen=True)
class PostingOutcome:
    posted: tuple[PostingResult, ...]
    again_at: datetime | None = None
    """When to try again; None when everything is settled."""


class Poster:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        audit: AuditLog,
        desks: Desks,
        intake: Intake,
        escalating: EscalationSender,
    ) -> None:
        self._database = database
        self._clock = clock
        self._audit = audit
        self._desks = desks
        self._intake = intake
        self._escalating = escalating

    async def deliver(
        self, actor: Actor, run_id: RunId, sealing: SubjectSealer, fence: Fence, gate: PostingGate
    ) -> PostingOutcome:
        """Send what is due of a run, in order. What cannot be sent now is tried again later.

        `FenceBroken` when the run is no longer the caller's. What was not sent by then is left to whoever has the run.
        """
        again_at: datetime | None = None
        unheard = False
        for posting in await self._postings(actor.workspace_id, run_id):
            if posting.state not in _SETTLED:
                sending = await self._sending(posting, sealing, fence, gate)
                again_at = await self._try(actor, sending, unheard=unheard)
            if again_at is not None:
                break
            unheard |= posting.state in UNDELIVERED and _is_for_requester(posting, sealing)
        return await self._outcome(actor.workspace_id, run_id, again_at)

    async def _sending(
        self, posting: Posting, sealing: SubjectSealer, fence: Fence, gate: PostingGate
    ) -> "_OutboundPosting":
        async with self._database.read(WorkspaceId(posting.workspace_id)) as session:
            ticket = await self._intake.get(session, posting.ticket_id)
            desk = await self._desks.get(session, ticket.desk_id)
            adapter = await self._desks.adapter(session, desk)
        content = json.loads(sealing.open(posting.content))
        return _OutboundPosting(
            posting, ticket, desk, adapter, content, sealing, fence, gate, in_doubt=posting.state == "sending"
        )

    async def _try(self, actor: Actor, sending: "_OutboundPosting", *, unheard: bool) -> datetime | None:
        if unheard and sending.posting.kind == "status":
            return await self._settle(actor, sending, "dropped", error="The requester was not told, so it stays open.")
        again_at = sending.posting.again_at
        asked = sending.posting.approval_id is not None and sending.posting.tries == 0
        if again_at is not None and again_at > self._clock.now() and not asked:
            return again_at
        return await self._deliver(actor, sending)

    async def _deliver(self, actor: Actor, sending: "_OutboundPosting") -> datetime | None:
        if sending.ticket.closed_at is not None and sending.posting.kind != "escalation":
            return await self._settle(actor, sending, "dropped", error="A person closed the ticket.")
        try:
            return await (self._after_doubt if sending.in_doubt else self._decide)(actor, sending)
        except DeskUnavailable as error:
            return await self._later(actor, sending, error, error.retry_after)
        except DeskOutcomeUnknown as error:
            return await self._doubt(actor, sending, error)
        except (DeskRefused, TicketUnreadable) as error:
            return await self._settle(actor, sending, "refused", error=error.message)

    async def _decide(self, actor: Actor, sending: "_OutboundPosting") -> datetime | None:
        """Nothing is sent that was not decided a moment before. If the policy changes meanwhile, it is decided anew."""
        for _ in range(_DECISIONS):
            gated = await sending.gate.decide(sending.posting, sending.content)
            try:
                return await self._as_decided(actor, sending, gated)
            except _Superseded:
                continue
        raise FenceBroken

    async def _as_decided(self, actor: Actor, sending: "_OutboundPosting", gated: PostingDecision) -> datetime | None:
        posting = sending.posting
        match gated.outcome:
            case "send":
                content = gated.content or sending.content
                fence = gated.fence or sending.fence
                return await self._send(actor, replace(sending, content=content, fence=fence, rule=gated.rule))
            case "wait":
                posting.approval_id = gated.approval_id
                reason = f"Waits for a person: {gated.reason}"[:500]
                await self._note(
                    actor.workspace_id, posting, state="due", tries=posting.tries, error=reason, again_at=gated.until
                )
                return gated.until
            case "refuse" if sending.in_doubt:
                reason = f"Nobody can say whether it arrived, and it may not be sent again: {gated.reason}"
                return await self._settle(actor, sending, "unknown", error=reason)
            case "refuse":
                return await self._settle(actor, sending, "refused", error=gated.reason)

    async def _send(self, actor: Actor, sending: "_OutboundPosting") -> datetime | None:
        posting, tries = sending.posting, sending.posting.tries
        # What is sent may not be what was meant first. Whoever finds it at the desk later has to know its words.
        content = sending.sealing.seal(json.dumps(sending.content).encode())
        await self._note(actor.workspace_id, posting, state="sending", tries=tries + 1, content=content)
        await failpoint_async("post.before_send")
        payload = {
            "run_id": str(sending.posting.run_id),
            "ticket_id": str(sending.ticket.id),
            "desk": sending.desk.name,
            "marker": sending.posting.marker,
            "rule": sending.rule,
        }
        if sending.posting.approval_id is not None:
            payload["approval_id"] = str(sending.posting.approval_id)
        unknown: bool | None = None
        try:
            async with self._audit.effect(actor, f"desk.{posting.kind}", payload, fence=sending.fence) as intent:
                try:
                    external_id = await self._carry(sending)
                except DeskOutcomeUnknown:
                    # Saying nothing to the intent leaves its outcome unknown, which is the truth.
                    external_id, unknown = None, True
                else:
                    unknown = False
                    intent.succeeded({"external_id": external_id or ""})
        except FenceBroken:
            if unknown is None:
                # There is no intent, so nothing was sent by this attempt.
                before = "sending" if sending.in_doubt else "due"
                await self._note(actor.workspace_id, posting, state=before, tries=tries, content=posting.content)
                raise _Superseded from None
            raise
        await failpoint_async("post.after_send")
        if unknown:
            raise DeskOutcomeUnknown
        return await self._settle(actor, sending, "posted", external_id=external_id)

    async def _carry(self, sending: "_OutboundPosting") -> str | None:
        posting, ticket, adapter, content = sending.posting, sending.ticket, sending.adapter, sending.content
        metadata = ticket.source_metadata
        match posting.kind:
            case "reply" | "ack":
                reply = DeskReply(content["body"], posting.marker, content["private"])
                return await adapter.post_reply(ticket.external_id, reply, metadata)
            case "status":
                await adapter.update_status(ticket.external_id, content["verdict"], metadata)
            case "time":
                note, minutes = content["note"], content["minutes"]
                await adapter.log_time_entry(ticket.external_id, minutes, note, posting.marker, metadata)
            case _:
                await self._escalating.send(WorkspaceId(posting.workspace_id), posting.marker, content)
        return None

    async def _after_doubt(self, actor: Actor, sending: "_OutboundPosting") -> datetime | None:
        """It was being sent when something broke. Look before sending again."""
        posting, ticket, adapter = sending.posting, sending.ticket, sending.adapter
        able = adapter.capabilities()
        if posting.kind in {"status", "time"} or (posting.kind in {"reply", "ack"} and able.idempotent_replies):
            return await self._decide(actor, sending)
        if posting.kind == "escalation":
            # Receivers are told its id, so a second copy can be told from a second escalation; silence cannot.
            return await self._decide(actor, sending)
        reply_id = await adapter.find_reply(ticket.external_id, posting.marker, ticket.source_metadata)
        if reply_id is not None:
            return await self._settle(actor, sending, "posted", external_id=reply_id)
        if able.finds_replies:
            return await self._decide(actor, sending)
        return await self._doubt(actor, sending, DeskOutcomeUnknown())

    async def _doubt(self, actor: Actor, sending: "_OutboundPosting", error: GabyError) -> datetime | None:
        """Look again a few times: some desks show a reply only after a while. Then a person has to look."""
        posting = sending.posting
        tries = posting.tries + int(sending.in_doubt)
        if posting.tries >= _LOOKS + 1:
            reason = "Nobody can say whether it arrived, so it was not sent again. Look at the desk."
            return await self._settle(actor, sending, "unknown", error=reason)
        again_at = self._clock.now() + self._pause(posting.tries)
        await self._note(
            actor.workspace_id,
            posting,
            state="sending",
            tries=tries,
            error=error.message,
            again_at=again_at,
        )
        return again_at

    async def _later(
        self, actor: Actor, sending: "_OutboundPosting", error: GabyError, retry_after: float | None
    ) -> datetime | None:
        """The desk did not take it: nothing was sent, so it is due again."""
        posting = sending.posting
        if self._clock.now() >= posting.created_at + _PATIENCE:
            return await self._settle(actor, sending, "refused", error=f"For a whole day: {error.message}")
        wait = max(self._pause(posting.tries), timedelta(seconds=min(retry_after or 0, 3600)))
        again_at = self._clock.now() + wait
        # Sending counts as a try by itself; a look at what arrived does not.
        state, tries = ("sending", posting.tries + 1) if sending.in_doubt else ("due", posting.tries)
        back = {} if sending.in_doubt else {"content": posting.content}
        await self._note(
            actor.workspace_id, posting, state=state, tries=tries, error=error.message, again_at=again_at, **back
        )
        return again_at

    async def _settle(
        self,
        actor: Actor,
        sending: "_OutboundPosting",
        state: str,
        *,
        external_id: str | None = None,
        error: str | None = None,
    ) -> None:
        posting = sending.posting
        async with self._database.write(actor.workspace_id) as session:
            row = await self._mine(session, posting)
            row.state, row.last_error, row.external_id = state, error and error[:500], external_id and external_id[:300]
            row.posted_at = self._clock.now() if state == "posted" else None
            if posting.kind in {"reply", "ack"} and state == "posted":
                ticket = await self._intake.get(session, posting.ticket_id)
                message = IncomingMessage(
                    external_id=external_id or posting.marker,
                    author="gaby",
                    body=sending.content["body"],
                    private=sending.content["private"],
                    at=self._clock.now(),
                )
                await self._intake.add_message(session, actor, ticket, message)
        posting.state = state

    async def _note(self, workspace_id: WorkspaceId, posting: Posting, *, state: str, tries: int, **more: Any) -> None:
        async with self._database.write(workspace_id) as session:
            row = await self._mine(session, posting)
            row.state, row.tries, row.approval_id = state, tries, posting.approval_id
            row.last_error, row.again_at = more.get("error", row.last_error), more.get("again_at")
            row.content = more.get("content", row.content)
        posting.state, posting.tries = state, tries

    async def _mine(self, session: WriteSession, posting: Posting) -> Posting:
        """To be changed, unless somebody else has meanwhile."""
        row = await session.get(Posting, (session.workspace_id, posting.id), with_for_update=True)
        if row is None:
            raise NotFound
        if (row.state, row.tries) != (posting.state, posting.tries):
            raise FenceBroken
        return row

    async def _postings(self, workspace_id: WorkspaceId, run_id: RunId) -> Sequence[Posting]:
        async with self._database.read(workspace_id) as session:
            postings = await postings_of(session, run_id)
            session.expunge_all()
        return postings

    async def _outcome(self, workspace_id: WorkspaceId, run_id: RunId, again_at: datetime | None) -> PostingOutcome:
        rows = await self._postings(workspace_id, run_id)
        results = (PostingResult(cast("Any", row.kind), row.state, row.shown, row.last_error) for row in rows)
        return PostingOutcome(tuple(results), again_at)

    def _pause(self, tries: int) -> timedelta:
        return min(_FIRST_PAUSE * 2 ** min(max(0, tries - 1), 10), _LONGEST_PAUSE)


@dataclass(frozen=True)
class _OutboundPosting:
    posting: Posting
    ticket: Ticket
    desk: Desk
    adapter: TicketAdapter
    content: dict[str, Any]
    sealing: SubjectSealer
    fence: Fence
    gate: PostingGate
    in_doubt: bool
    """Somebody began to send it and nobody knows how that ended."""
    rule: str = ""
    """By which it may be sent."""


def _is_for_requester(posting: Posting, sealing: SubjectSealer) -> bool:
    return posting.kind == "reply" and not json.loads(sealing.open(posting.content))["private"]


async def try_at_once(session: WriteSession, now: datetime) -> None:
    """Whatever waits for its next try is due. What waits for a person does so as before."""
    answered = Posting.approval_id.is_(None) | (Posting.tries > 0)
    waits = (Posting.state.in_(("due", "sending")), Posting.again_at > now, answered)
    await session.execute(update(Posting).where(*waits).values(again_at=now))


async def postings_of(session: ReadSession, run_id: UUID) -> Sequence[Posting]:
    query = select(Posting).where(Posting.workspace_id == session.workspace_id, Posting.run_id == run_id)
    rows = (await session.scalars(query)).all()
    return sorted(rows, key=lambda row: KINDS.index(row.kind))
