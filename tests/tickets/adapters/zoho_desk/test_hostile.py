"""Whatever a ticket is made of, a clean ticket comes of it or a clean refusal."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.tickets.adapters.adapter import RawTicket, TicketUnreadable
from gaby.tickets.adapters.zoho_desk.normalization import normalized
from gaby.tickets.canonical_ticket import IncomingTicket, Priority
from tests.support.desks.hostile_payloads import JSON, VALUES, is_clean

pytestmark = pytest.mark.promise("T8")
FIELDS = ("id", "subject", "description", "status", "statusType", "priority", "contact", "email", "dueDate", "webUrl")
THREAD_FIELDS = ("id", "content", "summary", "direction", "status", "createdTime", "author", "visibility")
COMMENT_FIELDS = ("id", "content", "isPublic", "commentedTime", "commenter")
PRIORITIES: dict[str, Priority] = {"high": "high"}
GOOD: dict[str, Any] = {
    "id": "231",
    "subject": "Login fails",
    "description": "<p>It says 500.</p>",
    "contact": {"email": "ann@acme.example", "account": {"accountName": "Acme"}},
    "createdTime": "2030-01-02T03:00:00.000Z",
}


def read(ticket: Any, threads: Any = (), comments: Any = ()) -> IncomingTicket | None:
    try:
        return normalized(RawTicket("231", {"ticket": ticket, "threads": threads, "comments": comments}), PRIORITIES)
    except TicketUnreadable:
        return None


def check(ticket: IncomingTicket | None) -> None:
    if ticket is None:
        return
    assert ticket.title
    texts = [
        ticket.title,
        ticket.body,
        ticket.customer,
        ticket.requester_email or "",
        *map(str, ticket.metadata.values()),
    ]
    texts += [text for each in ticket.messages for text in (each.body, each.external_id, each.author_email or "")]
    assert all(is_clean(text) for text in texts)


@pytest.mark.parametrize("name", FIELDS)
def test_a_hostile_field_gives_a_clean_ticket_or_a_refusal(name: str) -> None:
    for value in VALUES.values():
        check(read({**GOOD, name: value}))
    check(read({key: value for key, value in GOOD.items() if key != name}))
    for value in VALUES.values():
        check(read({**GOOD, "contact": {name: value, "account": value}}))


def test_hostile_messages_are_cleaned_too() -> None:
    thread = {"id": "1", "content": "Hello", "direction": "out", "createdTime": "2030-01-02T03:00:00.000Z"}
    comment = {"id": "2", "content": "Hello", "commentedTime": "2030-01-02T03:00:00.000Z"}
    hostile = [{**thread, name: value} for name in THREAD_FIELDS for value in VALUES.values()]
    check(
        read(GOOD, [*hostile, *VALUES.values()], [{**comment, n: v} for n in COMMENT_FIELDS for v in VALUES.values()])
    )


def test_a_ticket_without_words_or_of_another_id_is_refused() -> None:
    assert read({**GOOD, "subject": " \0", "description": "<p></p>"}) is None
    assert read({**GOOD, "id": "232"}) is None


@given(
    ticket=st.dictionaries(st.sampled_from(FIELDS), JSON) | JSON,
    threads=st.lists(st.dictionaries(st.sampled_from(THREAD_FIELDS), JSON), max_size=3) | JSON,
    comments=st.lists(st.dictionaries(st.sampled_from(COMMENT_FIELDS), JSON), max_size=3) | JSON,
)
def test_arbitrary_json_is_a_ticket_or_unreadable(ticket: Any, threads: Any, comments: Any) -> None:
    check(read(ticket, threads, comments))
    check(read({**GOOD, **(ticket if isinstance(ticket, dict) else {}), "id": "231"}, threads, comments))
