"""What an investigation sends arrives once, whatever the desk does; where nobody can tell, a person is told to look."""

import json
from collections.abc import Generator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, update

from gaby.agent.run_loader import sealing_of
from gaby.agent.transitions import Lease
from gaby.audit import FenceBroken
from gaby.kernel.clock import ManualClock
from gaby.kernel.crypto import SubjectSealer
from gaby.kernel.ids import RunId, TicketId
from gaby.tickets.adapters.adapter import DeskCapabilities
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.tickets.desk_queries import NewDesk
from gaby.tickets.escalation import parse_target
from gaby.tickets.models import Posting, Ticket, TicketMessage
from gaby.tickets.postings import Poster, PostingDecision, PostingGate, PostingOutcome, postings_of
from tests.agent.scenes import Office
from tests.support.receiver import receiving
from tests.tickets.scripted import ScriptedDesk, Trouble, scripted_desk

pytestmark = pytest.mark.promise("T6")
one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
MARKER = "gaby-" + "0" * 32
CONTENT: dict[str, Any] = {
    "reply": {"body": "The disk is full [1].", "private": True},
    "status": {"verdict": "needs_tech"},
    "time": {"minutes": 3, "note": "Gaby looked into it"},
    "escalation": {
        "verdict": "needs_tech",
        "title": "Disk full",
        "reasons": ["A person has to add a disk."],
        "summary": "The disk is full.",
        "steps": ["company.list_disks: done"],
        "run_id": "r",
        "ticket": "T-1",
    },
}


@pytest.fixture
def far() -> Generator[ScriptedDesk]:
    with scripted_desk() as desk:
        yield desk


class EverythingMayGo:
    """A gate that lets all through: what it decides is shown with the agent."""

    async def decide(self, posting: Posting, content: dict[str, Any]) -> PostingDecision:
        return PostingDecision("send", "act", "It may go.")


class Changed:
    """A gate behind which a person has put other words."""

    def __init__(self, *outcomes: str) -> None:
        self._outcomes = list(outcomes)

    async def decide(self, posting: Posting, content: dict[str, Any]) -> PostingDecision:
        outcome = self._outcomes.pop(0) if self._outcomes else "send"
        changed = {**content, "body": "Other words."}
        return PostingDecision("refuse" if outcome == "refuse" else "send", "consent", "As changed.", content=changed)


@dataclass
class Sender:
    """A run that has its verdict, in the hands of a worker."""

    place: Office
    poster: Poster
    lease: Lease
    ticket_id: TicketId
    sealing: SubjectSealer
    clock: ManualClock

    async def write(self, *kinds: str) -> None:
        gaby = self.place.gaby
        async with gaby.database.write(self.place.workspace_id) as session:
            for kind in kinds:
                session.add(
                    Posting(
                        workspace_id=self.place.workspace_id,
                        id=gaby.ids.new(),
                        run_id=self.lease.run_id,
                        ticket_id=self.ticket_id,
                        kind=kind,
                        state="due",
                        marker=MARKER,
                        content=self.sealing.seal(json.dumps(CONTENT[kind]).encode()),
                        shown=kind,
                        created_at=gaby.clock.now(),
                    )
                )

    async def deliver(self, gate: PostingGate | None = None) -> PostingOutcome:
        return await self.poster.deliver(
            self.place.actor, self.lease.run_id, self.sealing, self.lease.fence, gate or EverythingMayGo()
        )

    async def until_settled(self) -> None:
        """As the loop does it: at each of its times."""
        for _ in range(200):
            outcome = await self.deliver()
            if outcome.again_at is None:
                return
            assert outcome.again_at > self.clock.now()
            self.clock.advance(outcome.again_at - self.clock.now())
        raise AssertionError("it never settles")

    async def states(self) -> dict[str, str]:
        async with self.place.gaby.database.read(self.place.workspace_id) as session:
            return {row.kind: row.state for row in await postings_of(session, self.lease.run_id)}


@pytest.fixture
async def sender(place: Office, far: ScriptedDesk, clock: ManualClock) -> Sender:
    gaby = place.gaby
    async with gaby.database.write(place.workspace_id) as session:
        desk = await gaby.tickets.desks.add(session, place.actor, NewDesk("far", "scripted", {}))
        taken = await gaby.tickets.intake.take(session, place.actor, desk, IncomingTicket("T-1", "Disk full", "Help"))
    run = await place.run_of(taken.ticket_id)
    claimed = await gaby.agent.queue.claim_one("a test", place.workspace_id, RunId(run.id))
    assert claimed is not None
    async with gaby.database.read(place.workspace_id) as session:
        sealing = await sealing_of(session, gaby.vault, run)
    tickets = gaby.tickets
    poster = Poster(gaby.database, clock, gaby.audit, tickets.desks, tickets.intake, gaby.agent.escalations)
    return Sender(place, poster, claimed.lease, taken.ticket_id, sealing, clock)


async def test_a_reply_is_posted_once_and_stands_on_the_ticket(sender: Sender, far: ScriptedDesk) -> None:
    await sender.write("reply")
    await sender.deliver()
    await sender.deliver()

    assert [(each.body, each.marker, each.private) for each in far.replies] == [
        (CONTENT["reply"]["body"], MARKER, True)
    ]
    assert await sender.states() == {"reply": "posted"}
    [message] = await sender.place.messages(sender.ticket_id)
    assert (message.author, message.external_id) == ("gaby", "reply-1")
    assert len(await sender.place.audit("desk.reply.intent")) == 1


CASES: list[tuple[DeskCapabilities, list[Trouble], int, str]] = [
    (DeskCapabilities(finds_replies=True), ["lost"], 1, "posted"),
    (DeskCapabilities(finds_replies=True), ["swallowed", "swallowed"], 1, "posted"),
    (DeskCapabilities(finds_replies=True), ["swallowed", "lost"], 1, "posted"),
    (DeskCapabilities(idempotent_replies=True), ["lost", "lost"], 1, "posted"),
    (DeskCapabilities(idempotent_replies=True), ["swallowed"], 1, "posted"),
    (DeskCapabilities(), ["lost"], 1, "unknown"),
    (DeskCapabilities(), ["swallowed"], 0, "unknown"),
    (DeskCapabilities(), ["busy", "busy"], 1, "posted"),
    (DeskCapabilities(finds_replies=True), ["lost", "busy"], 1, "posted"),
    (DeskCapabilities(), ["refused"], 0, "refused"),
    (DeskCapabilities(finds_replies=True), ["swallowed"] * 40, 0, "unknown"),
    (DeskCapabilities(), ["busy"] * 200, 0, "refused"),
]


@one_engine
@pytest.mark.parametrize(("able", "troubles", "arrived", "state"), CASES)
async def test_whatever_the_desk_does_a_reply_never_arrives_twice(
    sender: Sender, far: ScriptedDesk, able: DeskCapabilities, troubles: list[Trouble], arrived: int, state: str
) -> None:
    far.able, far.troubles = able, list(troubles)
    await sender.write("reply")
    await sender.until_settled()

    assert len(far.replies) == arrived
    assert await sender.states() == {"reply": state}
    settled = (await sender.deliver()).posted[0]
    assert (settled.error is None) == (state == "posted")
    assert len(await sender.place.messages(sender.ticket_id)) == (state == "posted")


@one_engine
async def test_an_outage_of_an_hour_costs_no_reply(sender: Sender, far: ScriptedDesk) -> None:
    began = sender.clock.now()
    await sender.write("reply")
    far.troubles = ["busy"] * 9
    while sender.clock.now() < began + timedelta(hours=1):
        outcome = await sender.deliver()
        assert outcome.again_at is not None
        sender.clock.advance(outcome.again_at - sender.clock.now())
    far.troubles = []
    await sender.until_settled()

    assert len(far.replies) == 1


@one_engine
async def test_a_pause_that_the_desk_asks_for_is_kept(sender: Sender, far: ScriptedDesk) -> None:
    far.troubles = ["busy"]
    await sender.write("reply")
    outcome = await sender.deliver()
    assert outcome.again_at is not None
    assert outcome.again_at >= sender.clock.now() + timedelta(minutes=30)

    sender.clock.advance(timedelta(minutes=20))
    assert (await sender.deliver()).again_at == outcome.again_at
    assert far.replies == []


@one_engine
@pytest.mark.parametrize("trouble", ["lost", "swallowed", "busy"])
async def test_status_and_time_are_set_and_a_lost_answer_does_no_harm(
    sender: Sender, far: ScriptedDesk, trouble: Trouble
) -> None:
    far.troubles = [trouble, "lost"]
    await sender.write("time", "status")
    await sender.until_settled()

    assert set(far.statuses) == {"needs_tech"}
    assert far.times == {MARKER: 3}
    assert await sender.states() == {"status": "posted", "time": "posted"}


@one_engine
async def test_when_one_is_refused_the_others_go_on(sender: Sender, far: ScriptedDesk) -> None:
    far.troubles = ["refused"]
    await sender.write("status", "reply", "time")
    await sender.until_settled()

    assert await sender.states() == {"reply": "refused", "status": "posted", "time": "posted"}


@one_engine
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_whoever_takes_over_in_the_middle_of_a_posting_asks_before_sending_again(
    sender: Sender, far: ScriptedDesk, moment: str
) -> None:
    """A worker died: the row says `sending`, and nobody knows whether it was."""
    far.able = DeskCapabilities(finds_replies=True)
    await sender.write("reply")
    if moment == "after":
        await sender.deliver()
    async with sender.place.gaby.database.write(sender.place.workspace_id) as session:
        mine = Posting.workspace_id == sender.place.workspace_id
        await session.execute(update(Posting).where(mine).values(state="sending", tries=1, external_id=None))
    await sender.until_settled()

    assert far.asked == 1
    assert len(far.replies) == 1
    assert len(await sender.place.messages(sender.ticket_id)) == 1


@one_engine
async def test_what_stands_on_the_ticket_after_a_crash_are_the_words_that_were_sent(
    sender: Sender, far: ScriptedDesk
) -> None:
    far.able = DeskCapabilities(finds_replies=True)
    await sender.write("reply")
    await sender.deliver(Changed())
    async with sender.place.gaby.database.write(sender.place.workspace_id) as session:
        mine = (Posting.workspace_id == sender.place.workspace_id,)
        await session.execute(update(Posting).where(*mine).values(state="sending", tries=1, external_id=None))
        await session.execute(delete(TicketMessage).where(TicketMessage.workspace_id == sender.place.workspace_id))
    await sender.deliver()
    assert [reply.body for reply in far.replies] == ["Other words."]
    assert [each.body for each in await written(sender)] == ["Other words."]


@one_engine
async def test_what_may_have_arrived_is_not_called_refused(sender: Sender, far: ScriptedDesk) -> None:
    await sender.write("reply")
    async with sender.place.gaby.database.write(sender.place.workspace_id) as session:
        mine = Posting.workspace_id == sender.place.workspace_id
        await session.execute(update(Posting).where(mine).values(state="sending", tries=1))
    far.able = DeskCapabilities(finds_replies=True)
    await sender.deliver(Changed("refuse"))
    assert await sender.states() == {"reply": "unknown"}
    assert far.replies == []


async def written(sender: Sender) -> list[Any]:
    intake = sender.place.gaby.tickets.intake
    async with sender.place.gaby.database.read(sender.place.workspace_id) as session:
        ticket = await intake.get(session, sender.ticket_id)
        return [each for each in (await intake.written(session, ticket)).messages if each.author == "gaby"]


async def test_a_worker_that_lost_its_run_posts_nothing(sender: Sender, far: ScriptedDesk) -> None:
    await sender.write("reply")
    queue = sender.place.gaby.agent.queue
    assert await queue.release_dead() == 0
    sender.clock.advance(queue.lease)
    assert await queue.claim("another") != []

    with pytest.raises(FenceBroken):
        await sender.deliver()
    assert far.replies == []


@one_engine
@pytest.mark.promise("T7")
async def test_a_ticket_that_a_person_closed_meanwhile_gets_no_reply_but_is_escalated(
    sender: Sender, far: ScriptedDesk
) -> None:
    place = sender.place
    await sender.write("reply", "status", "escalation")
    with receiving() as receiver:
        async with place.gaby.database.write(place.workspace_id) as session:
            target = parse_target(f"webhook:{receiver.url}", secret="a secret of sixteen letters")
            await place.gaby.agent.escalations.set_target(session, place.actor, target)
            mine = Ticket.workspace_id == place.workspace_id
            await session.execute(update(Ticket).where(mine).values(closed_at=place.gaby.clock.now()))
        await sender.until_settled()

        assert (far.replies, far.statuses) == ([], [])
        assert await sender.states() == {"reply": "dropped", "status": "dropped", "escalation": "posted"}
        [body] = receiver.accepted
    told = body.decode()
    for each in ("needs_tech", "Disk full", "A person has to add a disk.", "company.list_disks", MARKER):
        assert each in told
    assert "/runs/r" in told


@one_engine
@pytest.mark.promise("T7")
async def test_an_escalation_to_nobody_is_refused_with_what_to_do(sender: Sender) -> None:
    await sender.write("escalation")
    await sender.until_settled()

    [posted] = (await sender.deliver()).posted
    assert posted.state == "refused"
    assert "gaby agent escalate" in (posted.error or "")
