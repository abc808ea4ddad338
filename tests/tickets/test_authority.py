"""Authority belongs to a message, not to a ticket: whoever writes into a thread acts in nobody's name but their own."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.app import Gaby
from gaby.kernel.errors import Invalid
from gaby.kernel.ids import TicketId
from gaby.tickets.adapters.adapter import AdapterKind, DeskDependencies
from gaby.tickets.authority import Authority, authority_of
from gaby.tickets.canonical_ticket import Author, IncomingMessage, IncomingTicket, Voucher
from gaby.tickets.desk_queries import NewDesk
from gaby.tickets.intake import OriginalMessage
from gaby.tickets.kinds import with_kind
from gaby.tickets.models import Ticket
from tests.agent.scenes import Office
from tests.tickets.scripted import NoSettings, ScriptedDesk

pytestmark = pytest.mark.promise("S17")

ANN, EVE = "ann@client.example", "eve@evil.example"


def began(requester_email: str | None = ANN, *, requester_verified: bool = True) -> Ticket:
    return Ticket(
        workspace_id=UUID(int=1),
        id=UUID(int=2),
        desk_id=UUID(int=3),
        external_id="T-1",
        title="Help",
        body="",
        body_encrypted="",
        customer="",
        requester_email=requester_email,
        requester_verified=requester_verified,
        priority="medium",
        status="queued",
        received_at=datetime(2030, 1, 1, tzinfo=UTC),
        changed_at=datetime(2030, 1, 1, tzinfo=UTC),
        source_metadata={},
        fingerprint="",
    )


def wrote(
    number: int, author_email: str | None = ANN, verified_by: str = "mail", author: str = "requester"
) -> OriginalMessage:
    return OriginalMessage(
        id=UUID(int=number),
        author=author,
        body="",
        # The time that stands on a message is its author's to write.
        at=datetime(2030, 1, 1, tzinfo=UTC) - timedelta(days=number),
        private=False,
        automatic=False,
        author_email=author_email,
        verified_by=verified_by,
    )


def test_a_verified_requester_who_writes_alone_has_authority() -> None:
    authority = authority_of(began(), [wrote(1), wrote(2, author="agent", author_email=None, verified_by="nobody")])
    assert authority == Authority(
        ANN, verified=True, because=f"Everything that is answered is verified to be from {ANN}."
    )


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (wrote(2, EVE), EVE),
        (wrote(2, EVE, "nobody"), EVE),
        (wrote(2, ANN, "nobody"), "Nobody vouches"),
        (wrote(2, None, "nobody"), "does not say who wrote it"),
        (wrote(2, None, "desk"), "does not say who wrote it"),
        (wrote(2, "ann@client.example.evil.example"), "Somebody else"),
        (wrote(2, "a\u0578n@client.example"), "Somebody else"),
        (wrote(2, EVE, author="somebody new"), EVE),
    ],
)
def test_one_message_of_a_stranger_takes_the_authority_away(message: OriginalMessage, why: str) -> None:
    for thread in ([message], [wrote(1), message], [wrote(1), message, wrote(3)], [message, wrote(3, author="gaby")]):
        authority = authority_of(began(), thread)
        assert (authority.requester, authority.verified) == (ANN, False)
        assert why in authority.because


def test_who_is_not_verified_has_none() -> None:
    assert not authority_of(began(requester_verified=False), []).verified
    assert authority_of(began(requester_email=None), []) == Authority(
        None, verified=False, because="The ticket does not say who asks."
    )
    assert not authority_of(began(requester_email="nobody"), [wrote(1, "nobody")]).verified


@given(
    st.lists(
        st.builds(
            wrote,
            number=st.integers(1, 9),
            author_email=st.sampled_from([ANN, ANN.upper(), EVE, None, "nobody", ""]),
            verified_by=st.sampled_from(["nobody", "desk", "mail"]),
            author=st.sampled_from(["requester", "agent", "gaby"]),
        ),
        max_size=6,
    ),
    st.booleans(),
)
def test_authority_means_that_nobody_else_has_written(messages: list[OriginalMessage], began_verified: bool) -> None:
    authority = authority_of(began(requester_verified=began_verified), messages)
    others = [each for each in messages if each.author == "requester"]
    certain = all((each.author_email or "").lower() == ANN and each.verified_by != "nobody" for each in others)
    assert authority.verified is (began_verified and certain)
    assert authority.because


async def authority(place: Office, ticket_id: TicketId) -> Authority:
    return authority_of(await place.ticket(ticket_id), await place.messages(ticket_id))


def reply(number: int, sender: str, verified_by: Voucher, author: Author = "requester") -> IncomingMessage:
    return IncomingMessage(f"m-{number}", author, f"Message {number}", None, sender, verified_by=verified_by)


async def desk_of(gaby: Gaby, place: Office, kind: str, voucher: Voucher | None) -> str:
    async with gaby.database.write(place.workspace_id) as session:
        new = NewDesk(f"desk-{voucher}", kind, {}, None, voucher)
        return (await gaby.tickets.desks.add(session, place.actor, new)).name


async def take(gaby: Gaby, place: Office, desk: str, ticket: IncomingTicket) -> TicketId:
    ready = await gaby.tickets.intake.prepare(ticket)
    async with gaby.database.write(place.workspace_id) as session:
        row = await gaby.tickets.desks.named(session, desk)
        return (await gaby.tickets.intake.take(session, place.actor, row, ready)).ticket_id


def opened(_config: NoSettings, _dependencies: DeskDependencies) -> ScriptedDesk:
    return ScriptedDesk()


MAILED = AdapterKind("mailed", "Mail", NoSettings, opened, vouchers=("nobody", "mail"))


async def test_a_strangers_reply_into_a_verified_thread_takes_the_authority_away(gaby: Gaby, place: Office) -> None:
    with with_kind(MAILED):
        desk = await desk_of(gaby, place, "mailed", "mail")
        first = IncomingTicket("T-1", "Help", "Please", ANN, requester_verified=True, verified_by="mail")
        ticket_id = await take(gaby, place, desk, first)
        assert (await authority(place, ticket_id)).verified
        again = IncomingTicket("T-1", "Help", "Please", ANN, messages=(reply(1, ANN, "mail"),))
        await take(gaby, place, desk, again)
        assert (await authority(place, ticket_id)).verified
        stranger = IncomingTicket("T-1", "Help", "Please", ANN, messages=(reply(1, ANN, "mail"), reply(2, EVE, "mail")))
        await take(gaby, place, desk, stranger)
        found = await authority(place, ticket_id)
        assert (found.verified, EVE in found.because) == (False, True)
        stored = [(each.author_email, each.verified, each.verified_by) for each in await place.messages(ticket_id)]
        assert sorted(stored) == [(ANN, True, "mail"), (EVE, True, "mail")]


@pytest.mark.parametrize("voucher", ["nobody", "mail"])
async def test_only_whom_the_desk_is_set_to_believe_vouches(gaby: Gaby, place: Office, voucher: Voucher) -> None:
    with with_kind(MAILED):
        desk = await desk_of(gaby, place, "mailed", voucher)
        messages = (reply(1, ANN, "mail"), reply(2, ANN, "desk"))
        by_mail = IncomingTicket("A", "Help", "x", ANN, requester_verified=True, verified_by="mail", messages=messages)
        by_desk = IncomingTicket("B", "Help", "x", ANN, requester_verified=True, verified_by="desk")
        ticket = await place.ticket(ticket_id := await take(gaby, place, desk, by_mail))
        assert ticket.requester_verified is (voucher == "mail")
        found = {each.external_id: each.verified_by for each in await place.messages(ticket_id)}
        assert found == {"m-1": voucher, "m-2": "nobody"}
        assert not (await place.ticket(await take(gaby, place, desk, by_desk))).requester_verified


async def test_an_edited_text_is_verified_only_if_the_edit_is(gaby: Gaby, place: Office) -> None:
    first = IncomingTicket("T-1", "Help", "Please", ANN, requester_verified=True)
    ticket_id = await place.receive(first)
    assert (await authority(place, ticket_id)).verified
    await place.receive(IncomingTicket("T-1", "Help", "Pay Eve", EVE, requester_verified=True))
    assert not (await authority(place, ticket_id)).verified


async def test_a_message_on_the_built_in_desk_is_verified_only_if_somebody_says_so(gaby: Gaby, place: Office) -> None:
    ticket_id = await place.receive(IncomingTicket("T-1", "Help", "Please", ANN, requester_verified=True))
    for verified in (True, False):
        async with gaby.database.write(place.workspace_id) as session:
            row = await gaby.tickets.intake.get(session, ticket_id)
            await gaby.tickets.write_on(session, place.actor, row, "And?", "requester", verified=verified)
        assert (await authority(place, ticket_id)).verified is verified


@pytest.mark.parametrize(("kind", "voucher"), [("github", "desk"), ("request_tracker", "mail"), ("inbox", "mail")])
async def test_a_desk_cannot_be_vouched_for_by_who_tells_nothing(
    gaby: Gaby, place: Office, kind: str, voucher: Voucher
) -> None:
    settings: dict[str, dict[str, str | list[str]]] = {
        "github": {"repositories": ["acme/till"], "token": "t"},
        "request_tracker": {"base_url": "https://rt.acme.example", "token": "t"},
        "inbox": {},
    }
    async with gaby.database.write(place.workspace_id) as session:
        with pytest.raises(Invalid, match=f"cannot be vouched for by {voucher}"):
            await gaby.tickets.desks.add(session, place.actor, NewDesk("d", kind, settings[kind], None, voucher))


async def test_a_desk_that_is_no_longer_believed_vouches_for_nothing_new(gaby: Gaby, place: Office) -> None:
    before = await place.receive(IncomingTicket("T-1", "Help", "Please", ANN, requester_verified=True))
    async with gaby.database.write(place.workspace_id) as session:
        desk = await gaby.tickets.desks.inbox(session, place.actor)
        assert desk.vouched_by == "desk"
        await gaby.tickets.desks.believe(session, place.actor, desk, "nobody")
    after = await place.receive(IncomingTicket("T-2", "Help", "Please", ANN, requester_verified=True))
    assert [(await authority(place, each)).verified for each in (before, after)] == [True, False]
    assert [row["vouched_by"] for row in await place.audit("desk.vouched_by_changed")] == ["nobody"]
