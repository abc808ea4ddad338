"""Answers go out: each once, whatever happens on the way, with status and time."""

import pytest

from gaby.tickets.adapters.adapter import DeskOutcomeUnknown, DeskRefused, DeskReply, DeskUnavailable
from gaby.tickets.adapters.zoho_desk.desk import ZohoDesk
from tests.support.desks.dependencies import MARKER, REPLY, Standing, post_once
from tests.support.desks.faults import HTML, Trouble
from tests.support.desks.zoho_desk import ScriptedZohoDesk
from tests.tickets.adapters.zoho_desk.conftest import Opening

pytestmark = pytest.mark.promise("T6")
TO = {"email": "ann@acme.example"}
POST = ("POST", "/sendReply")


@pytest.fixture
def ticket(vendor: ScriptedZohoDesk) -> str:
    return vendor.add("Login fails")


async def test_a_public_reply_is_a_mail_to_the_customer(vendor: ScriptedZohoDesk, desk: ZohoDesk, ticket: str) -> None:
    posted = await desk.post_reply(ticket, DeskReply("Use <b> & restart.", MARKER), TO)

    thread = vendor.threads[ticket][0]
    assert (thread["id"], thread["to"]) == (posted, "ann@acme.example")
    assert "Use &lt;b&gt; &amp; restart." in thread["content"]
    assert MARKER in thread["content"]
    assert await desk.find_reply(ticket, MARKER, TO) == posted
    assert await desk.find_reply(ticket, "gaby-" + "f" * 32, TO) is None


async def test_a_private_reply_reaches_only_colleagues(vendor: ScriptedZohoDesk, desk: ZohoDesk, ticket: str) -> None:
    posted = await desk.post_reply(ticket, DeskReply("Look at the log.", MARKER, private=True), TO)

    assert (vendor.comments[ticket][0]["isPublic"], vendor.threads[ticket]) == (False, [])
    assert await desk.find_reply(ticket, MARKER, TO) == posted


async def test_a_customer_without_an_address_reads_it_on_the_portal(
    vendor: ScriptedZohoDesk, desk: ZohoDesk, ticket: str
) -> None:
    await desk.post_reply(ticket, REPLY, {})

    assert vendor.comments[ticket][0]["isPublic"] is True


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(*POST, "lose"),
        Trouble(*POST, "cut"),
        Trouble(*POST, status=500),
        Trouble(*POST, status=504, body=HTML),
        Trouble(*POST, status=200, body=HTML),
        Trouble(*POST, status=200, body=b"[]"),
    ],
)
async def test_a_reply_is_posted_once(vendor: ScriptedZohoDesk, desk: ZohoDesk, ticket: str, trouble: Trouble) -> None:
    for number in range(3):
        vendor.thread(ticket, f"Earlier answer {number}", direction="out")
    vendor.troubles.coming.append(trouble)

    with pytest.raises(DeskOutcomeUnknown):
        await desk.post_reply(ticket, REPLY, TO)
    done = len(vendor.threads[ticket]) - 3
    vendor.troubles.coming.append(trouble)
    found = await desk.find_reply(ticket, MARKER, TO) or await post_once(desk, ticket, REPLY, TO)

    assert done == (1 if trouble.what in {"lose", "cut"} else 0)
    assert [each["id"] for each in vendor.threads[ticket] if MARKER in each["content"]] == [found]


async def test_a_customer_who_quotes_the_marker_has_not_answered_for_gaby(
    vendor: ScriptedZohoDesk, desk: ZohoDesk, ticket: str
) -> None:
    vendor.thread(ticket, f"You wrote: {MARKER}", direction="in")

    assert await desk.find_reply(ticket, MARKER, TO) is None


async def test_a_refused_token_does_not_post_twice(vendor: ScriptedZohoDesk, desk: ZohoDesk, ticket: str) -> None:
    await desk.check()
    vendor.valid.clear()
    await desk.post_reply(ticket, REPLY, TO)

    assert len(vendor.threads[ticket]) == 1


@pytest.mark.parametrize(
    ("status", "error"), [(429, DeskUnavailable), (422, DeskRefused), (404, DeskRefused), (403, DeskRefused)]
)
async def test_what_was_certainly_not_done_is_told_so(
    vendor: ScriptedZohoDesk, desk: ZohoDesk, ticket: str, status: int, error: type[Exception]
) -> None:
    vendor.troubles.coming.append(Trouble(*POST, status=status))

    with pytest.raises(error):
        await desk.post_reply(ticket, REPLY, TO)
    assert not vendor.threads[ticket]


async def test_the_verdict_becomes_the_desks_status(
    vendor: ScriptedZohoDesk, opening: Opening, desk: ZohoDesk, ticket: str
) -> None:
    await desk.update_status(ticket, "auto_resolved", {})
    assert vendor.tickets[ticket]["status"] == "Closed"
    await opening(statuses={"needs_l2": "Level 2"}).update_status(ticket, "needs_l2", {})
    assert vendor.tickets[ticket]["status"] == "Level 2"
    await desk.update_status(ticket, "skipped", {})
    assert vendor.tickets[ticket]["status"] == "Level 2"


async def test_time_is_entered_once(vendor: ScriptedZohoDesk, desk: ZohoDesk, ticket: str) -> None:
    vendor.troubles.coming.append(Trouble("POST", "/timeEntry", "lose"))
    with pytest.raises(DeskOutcomeUnknown):
        await desk.log_time_entry(ticket, 75, "Looked into it.", MARKER, {})
    await desk.log_time_entry(ticket, 75, "Looked into it.", MARKER, {})

    assert len(vendor.times[ticket]) == 1
    entry = vendor.times[ticket][0]
    assert (entry["hoursSpent"], entry["minutesSpent"], entry["description"]) == (
        "1",
        "15",
        f"Looked into it. {MARKER}",
    )


async def test_an_id_from_elsewhere_reaches_no_other_address(vendor: ScriptedZohoDesk, desk: ZohoDesk) -> None:
    for external_id in ("../webhooks", "1/sendReply", "", "\u0661"):
        with pytest.raises(DeskRefused):
            await desk.post_reply(external_id, REPLY, TO)
    assert not vendor.asked


async def test_subscribing_twice_leaves_one_webhook(
    vendor: ScriptedZohoDesk, desk: ZohoDesk, dependencies: Standing
) -> None:
    said = await desk.subscribe("https://gaby.example/hooks/1")
    await desk.subscribe("https://gaby.example/hooks/1")

    assert said == "Zoho Desk delivers new and changed tickets to https://gaby.example/hooks/1."
    assert [hook["id"] for hook in vendor.webhooks] == [dependencies.remembered["webhook_id"]]
    assert set(vendor.webhooks[0]["subscriptions"]) == {"Ticket_Add", "Ticket_Update"}


async def test_who_may_not_subscribe_goes_on_polling(vendor: ScriptedZohoDesk, desk: ZohoDesk) -> None:
    vendor.troubles.coming.append(Trouble("POST", "/webhooks", status=403, body=b'{"message": "LICENSE"}'))

    assert "Polling brings every ticket" in await desk.subscribe("https://gaby.example/hooks/1")
