"""An issue on GitHub as the canonical ticket."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gaby.tickets.adapters.adapter import RawTicket, TicketUnreadable
from gaby.tickets.adapters.github.config import REPOSITORY
from gaby.tickets.adapters.payload import MARKER, entries, identity, line, link, mapping, moment, text, within
from gaby.tickets.canonical_ticket import PRIORITIES, Author, IncomingMessage, IncomingTicket, Priority

VERDICT_LABEL = "gaby:"
_COLLEAGUES = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_COMMENTS = re.compile(r"<!--.*?-->", re.DOTALL)
_OWN = re.compile(rf"<!-- ({MARKER.pattern}) -->\s*\Z")
_PREFIX = re.compile(r"^(?:priority|prio|severity)\s*[:/=-]\s*")
_LAST_NUMBER = 10**12


def external_id(repository: object, issue: Mapping[str, Any]) -> str | None:
    """`owner/name#12`."""
    number = issue.get("number")
    if not isinstance(repository, str) or not REPOSITORY.fullmatch(repository):
        return None
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < _LAST_NUMBER:
        return None
    return f"{repository}#{number}"


def normalized(raw: RawTicket, priorities: Mapping[str, Priority]) -> IncomingTicket:
    issue = mapping(raw.payload.get("issue"))
    ticket_id = external_id(raw.payload.get("repository"), issue)
    if ticket_id is None or ticket_id != raw.external_id or "pull_request" in issue:
        raise TicketUnreadable
    body = _words(issue.get("body"))
    title = line(issue.get("title")) or line(body, 80)
    if not title:
        raise TicketUnreadable("The issue has neither a title nor a text.")
    login = line(within(issue, "user", "login"), 80)
    labels = [line(label.get("name"), 100) for label in entries(issue.get("labels"))]
    metadata = {"number": f"#{issue['number']}", "link": link(issue.get("html_url")), "login": login}
    own = raw.payload.get("own_login")
    return IncomingTicket(
        external_id=ticket_id,
        title=title,
        body=body,
        # GitHub signed the author in; which address that person has it does not tell, so nobody can be vouched for.
        requester_verified=False,
        customer=login,
        priority=_priority(labels, priorities),
        received_at=moment(issue.get("created_at")),
        changed_at=moment(issue.get("updated_at")),
        closed=issue.get("state") == "closed",
        messages=tuple(_messages(raw.payload, own if isinstance(own, str) else "")),
        metadata={name: value for name, value in metadata.items() if value},
    )


def _messages(payload: Mapping[str, Any], own: str) -> Iterator[IncomingMessage]:
    asker = within(payload, "issue", "user", "login")
    for comment in entries(payload.get("comments")):
        if comment_id := identity(comment.get("id")):
            yield IncomingMessage(
                external_id=comment_id,
                author=_author(comment, asker, own),
                body=_words(comment.get("body")),
                at=moment(comment.get("created_at")),
            )


def _author(comment: Mapping[str, Any], asker: object, own: str) -> Author:
    """Anybody can write a marker, so it counts only where Gaby puts it, and from Gaby's own account; while that is not
    known, from somebody who belongs to the repository, or from a program, as an app's token has no account."""
    login = within(comment, "user", "login")
    colleague = line(comment.get("author_association"), 40) in _COLLEAGUES
    program = within(comment, "user", "type") == "Bot"
    trusted = login == own if own else colleague or program
    if trusted and isinstance(body := comment.get("body"), str) and _OWN.search(body[-200:]):
        return "gaby"
    return "agent" if colleague and login != asker else "requester"


def _priority(labels: list[str], priorities: Mapping[str, Priority]) -> Priority:
    """Of several, the most urgent."""
    plain = [_PREFIX.sub("", label.lower()) for label in labels]
    matching = {priorities[each] for each in (*plain, *(label.lower() for label in labels)) if each in priorities}
    for each in reversed(PRIORITIES):
        if each in matching:
            return each
    return "medium"


def _words(value: object) -> str:
    """Without HTML comments, which no reader of the issue sees."""
    if not isinstance(value, str):
        return ""
    # Behind the last end there are only openings without one, each of which would be searched for to the end.
    closed, end, rest = value.rpartition("-->")
    return text(_COMMENTS.sub("", closed + end) + rest)
