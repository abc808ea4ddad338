"""Whatever an issue is made of, a clean ticket comes of it or a clean refusal."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.tickets.adapters.adapter import RawTicket, TicketUnreadable
from gaby.tickets.adapters.github.config import GitHubConfig
from gaby.tickets.adapters.github.normalization import normalized
from gaby.tickets.canonical_ticket import IncomingTicket
from tests.support.desks.hostile_payloads import JSON, VALUES, is_clean

pytestmark = pytest.mark.promise("T8")
ISSUE_FIELDS = ("number", "title", "body", "user", "labels", "state", "html_url", "created_at", "comments")
COMMENT_FIELDS = ("id", "body", "user", "author_association", "created_at")
PRIORITIES = GitHubConfig.model_validate({"repositories": ["acme/app"], "token": "t"}).priorities
GOOD: dict[str, Any] = {
    "number": 1,
    "title": "Login fails",
    "body": "It says 500.",
    "user": {"login": "ann"},
    "labels": [{"name": "p1"}],
    "created_at": "2030-01-02T03:00:00Z",
}


def read(issue: Any, comments: Any = (), **more: Any) -> IncomingTicket | None:
    payload = {"repository": "acme/app", "issue": issue, "comments": comments, **more}
    try:
        return normalized(RawTicket("acme/app#1", payload), PRIORITIES)
    except TicketUnreadable:
        return None


def check(ticket: IncomingTicket | None) -> None:
    if ticket is None:
        return
    assert ticket.title
    texts = [ticket.title, ticket.body, ticket.customer, *map(str, ticket.metadata.values())]
    texts += [text for message in ticket.messages for text in (message.body, message.external_id)]
    assert all(is_clean(text) for text in texts)


@pytest.mark.parametrize("name", ISSUE_FIELDS)
def test_a_hostile_field_gives_a_clean_ticket_or_a_refusal(name: str) -> None:
    for value in VALUES.values():
        check(read({**GOOD, name: value}))
    check(read({key: value for key, value in GOOD.items() if key != name}))


def test_hostile_comments_are_cleaned_too() -> None:
    good = {"id": 1, "body": "Hello", "user": {"login": "ann"}, "created_at": "2030-01-02T03:00:00Z"}
    for name in COMMENT_FIELDS:
        comments = [{**good, name: value} for value in VALUES.values()]
        check(read(GOOD, [*comments, *VALUES.values()], own_login=VALUES["half a pair"]))


def test_an_issue_without_words_is_refused() -> None:
    assert read({**GOOD, "title": " \0", "body": None}) is None
    assert read({**GOOD, "number": 2}) is None


@given(
    issue=st.dictionaries(st.sampled_from(ISSUE_FIELDS), JSON) | JSON,
    comments=st.lists(st.dictionaries(st.sampled_from(COMMENT_FIELDS), JSON), max_size=3) | JSON,
)
def test_arbitrary_json_is_a_ticket_or_unreadable(issue: Any, comments: Any) -> None:
    check(read(issue, comments))
    check(read({**GOOD, **(issue if isinstance(issue, dict) else {}), "number": 1}, comments))
