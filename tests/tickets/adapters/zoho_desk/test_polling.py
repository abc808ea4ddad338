"""Tickets come in: none is left out, tokens are renewed, and the credits of the day are kept."""

import asyncio
from datetime import timedelta

import pytest

from gaby.tickets.adapters.adapter import DeskRefused, DeskUnavailable
from gaby.tickets.adapters.zoho_desk.desk import ZohoDesk
from tests.support.desks.dependencies import MARKER, Standing, everything
from tests.support.desks.faults import HTML, Trouble
from tests.support.desks.zoho_desk import ScriptedZohoDesk
from tests.tickets.adapters.zoho_desk.conftest import Opening

pytestmark = pytest.mark.promise("T3")


async def test_a_ticket_comes_with_its_threads_and_comments(vendor: ScriptedZohoDesk, desk: ZohoDesk) -> None:
    due = "2030-01-02T09:00:00.000Z"
    found = vendor.add("Login fails", "<p>It says <b>500</b>.</p><style>p{}</style>", priority="High", dueDate=due)
    vendor.thread(found, "<p>It says 500.</p>", isDescriptionThread=True)
    for words, direction in (("<p>Any news?</p>", "in"), ("<p>We are looking.</p>", "out")):
        vendor.now += timedelta(seconds=1)
        vendor.thread(found, words, direction=direction)
    vendor.thread(found, "<p>Not sent yet</p>", direction="out", status="DRAFT")
    vendor.comment(found, "Ask the second level.")

    ticket = desk.normalize((await desk.poll(None)).tickets[0])

    assert (ticket.external_id, ticket.title, ticket.body) == (found, "Login fails", "It says 500.")
    assert (ticket.requester_email, ticket.customer, ticket.priority) == ("ann@acme.example", "Acme", "high")
    assert ticket.sla_at is not None
    assert (ticket.sla_at.hour, ticket.requester_verified) == (9, False)
    assert [(each.author, each.body, each.private) for each in ticket.messages] == [
        ("requester", "Any news?", False),
        ("agent", "We are looking.", False),
        ("agent", "Ask the second level.", True),
    ]


async def test_polling_leaves_nothing_out(vendor: ScriptedZohoDesk, desk: ZohoDesk, dependencies: Standing) -> None:
    """More at one time than a page holds, and some that change between any two pages."""
    for number in range(130):
        vendor.now += timedelta(seconds=0 if number < 90 else 1)
        vendor.add(f"Ticket {number}")
    known = list(vendor.tickets)
    cursor, found, more = None, list[str](), True
    while more:
        page = await desk.poll(cursor)
        cursor, more = page.cursor, page.more
        found += [ticket.external_id for ticket in page.tickets]
        vendor.now += timedelta(seconds=1)
        if len(found) < 400:
            vendor.thread(known.pop(0), "One more thing.")

    assert set(found) == set(vendor.tickets)


async def test_what_appears_late_in_the_search_is_found(vendor: ScriptedZohoDesk, desk: ZohoDesk) -> None:
    """A search index may show a ticket after others that changed later."""
    vendor.now += timedelta(minutes=1)
    vendor.add("Shown at once")
    _, cursor = await everything(desk, None)
    vendor.now -= timedelta(seconds=50)
    late = vendor.add("Shown late")

    assert (await everything(desk, cursor))[0] == [late]


async def test_from_now_on_unless_told_since_when(
    vendor: ScriptedZohoDesk, opening: Opening, dependencies: Standing
) -> None:
    vendor.add("Long ago")
    desk = opening()
    nothing = await desk.poll(None)
    vendor.now = dependencies.clock.now() + timedelta(seconds=1)
    found = vendor.add("Just now")

    assert not nothing.tickets
    assert [ticket.external_id for ticket in (await desk.poll(nothing.cursor)).tickets] == [found]


async def test_one_ticket_that_may_not_be_opened_does_not_hold_up_the_others(
    vendor: ScriptedZohoDesk, desk: ZohoDesk
) -> None:
    hidden, gone, fine = vendor.add("Hidden"), vendor.add("Gone"), vendor.add("Fine")
    vendor.troubles.coming += [Trouble("GET", hidden, status=403), Trouble("GET", gone, status=404)]

    page = await desk.poll(None)

    assert [desk.normalize(raw).title for raw in page.tickets] == ["Hidden", "Fine"]
    assert page.tickets[1].external_id == fine


async def test_long_conversations_come_with_the_newest_whole(vendor: ScriptedZohoDesk, desk: ZohoDesk) -> None:
    found = vendor.add("Long story")
    for number in range(130):
        vendor.now += timedelta(seconds=1)
        vendor.thread(found, f"Message {number} with many words in it")

    messages = desk.normalize((await desk.poll(None)).tickets[0]).messages

    assert len(messages) == 130
    assert (messages[0].body, messages[-1].body) == ("Message 0 with many", "Message 129 with many words in it")


@pytest.mark.promise("T6")
async def test_a_customer_who_quotes_gaby_stays_the_customer(vendor: ScriptedZohoDesk, desk: ZohoDesk) -> None:
    found = vendor.add("Login fails")
    vendor.thread(found, f"<p>Restart it.</p><div>{MARKER}</div>", direction="out")
    vendor.now += timedelta(seconds=1)
    vendor.thread(found, f"<p>That did not help.</p><blockquote>Restart it. {MARKER}</blockquote>")

    messages = desk.normalize((await desk.poll(None)).tickets[0]).messages

    assert [message.author for message in messages] == ["gaby", "requester"]


async def test_a_token_is_renewed_when_refused_and_before_it_ends(
    vendor: ScriptedZohoDesk, desk: ZohoDesk, opening: Opening, dependencies: Standing
) -> None:
    await desk.check()
    until, token = dependencies.remembered["session"].split()
    assert (token, int(until)) == (vendor.valid[0], int(dependencies.clock.now().timestamp()) + 3600)

    vendor.valid.clear()
    await desk.check()
    dependencies.clock.advance(timedelta(minutes=56))
    await desk.check()
    assert len(vendor.valid) == 2

    other = opening(session=dependencies.remembered["session"])
    await other.check()
    assert len(vendor.valid) == 2


async def test_several_that_need_a_token_ask_for_one(vendor: ScriptedZohoDesk, desk: ZohoDesk) -> None:
    await asyncio.gather(desk.check(), desk.check(), desk.check())

    assert len(vendor.valid) == 1


@pytest.mark.parametrize(
    ("body", "error", "wait"),
    [
        (b'{"error": "invalid_code"}', DeskRefused, None),
        (b'{"error": "Access Denied", "error_description": "You have made too many requests"}', DeskUnavailable, 600),
        (HTML, DeskUnavailable, None),
    ],
)
async def test_no_token_is_an_error_that_has_a_name(
    vendor: ScriptedZohoDesk, desk: ZohoDesk, body: bytes, error: type[Exception], wait: float | None
) -> None:
    vendor.troubles.coming.append(Trouble("POST", "/token", status=200, body=body))

    with pytest.raises(error) as caught:
        await desk.check()
    assert getattr(caught.value, "retry_after", None) == wait


@pytest.mark.parametrize(
    ("headers", "body", "wait"),
    [
        ({"Retry-After": "120"}, b'{"errorCode": "THRESHOLD_EXCEEDED"}', 120.0),
        ({}, b'{"errorCode": "THRESHOLD_EXCEEDED"}', 3600.0),
        ({}, b'{"errorCode": "TOO_MANY_REQUESTS"}', 5.0),
        ({"Retry-After": "-1e9"}, HTML, 5.0),
    ],
)
async def test_limits_are_honoured(
    vendor: ScriptedZohoDesk, desk: ZohoDesk, headers: dict[str, str], body: bytes, wait: float
) -> None:
    vendor.troubles.coming.append(Trouble("GET", "/search", status=429, headers=headers, body=body))

    with pytest.raises(DeskUnavailable) as caught:
        await desk.poll(None)
    assert caught.value.retry_after == wait


async def test_the_last_credits_are_kept_for_answers(
    vendor: ScriptedZohoDesk, desk: ZohoDesk, dependencies: Standing
) -> None:
    found = vendor.add("Login fails")
    vendor.credits = 499
    _, cursor = await everything(desk, None)

    with pytest.raises(DeskUnavailable, match="credits"):
        await desk.poll(cursor)
    await desk.update_status(found, "needs_tech", {})
    vendor.credits = 50_000
    dependencies.clock.advance(timedelta(minutes=16))
    assert not (await desk.poll(cursor)).tickets


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (Trouble("GET", "/search", status=200, body=HTML), DeskUnavailable),
        (Trouble("GET", "/search", "cut"), DeskUnavailable),
        (Trouble("GET", "/search", "lose"), DeskUnavailable),
        (Trouble("GET", "/search", status=500), DeskUnavailable),
        (Trouble("GET", "/search", status=302, headers={"Location": "http://elsewhere.example"}), DeskRefused),
        (Trouble("GET", "/search", status=403, body=b'{"message": "SCOPE_MISMATCH"}'), DeskRefused),
        (Trouble("GET", "/search", status=404), DeskRefused),
    ],
)
async def test_garbage_is_an_error_that_has_a_name(
    vendor: ScriptedZohoDesk, desk: ZohoDesk, trouble: Trouble, error: type[Exception]
) -> None:
    vendor.add("Still there")
    vendor.troubles.coming.append(trouble)

    with pytest.raises(error):
        await desk.poll(None)
    assert len((await desk.poll(None)).tickets) == 1


async def test_check_says_what_was_reached(opening: Opening, desk: ZohoDesk) -> None:
    assert await desk.check() == "Zoho Desk of Acme Support, which Gaby may read."
    with pytest.raises(DeskRefused, match="refresh token"):
        await opening(refresh_token="wrong").check()
    with pytest.raises(DeskRefused, match="Another organization"):
        await opening(org_id="1").check()
