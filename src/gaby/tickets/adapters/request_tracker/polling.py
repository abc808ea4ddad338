"""Which tickets changed.

Request Tracker reads the times in a query in the zone of whoever asks, which nobody tells us, and has no query for one
exact second. So the newest changes are listed without a time, and compared here. Only when there are more of them than
a list holds does a query name a time, and then as so many days ago.
"""

import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gaby.tickets.adapters.adapter import DeskRefused
from gaby.tickets.adapters.request_tracker.payloads import ListedTicket, items
from gaby.tickets.adapters.request_tracker.rest import RestClient, RestResponse
from gaby.tickets.adapters.request_tracker.tickets import PER_PAGE

MOST_TICKETS = 10
# A change is dated when it begins and seen when it is committed; another one in the same second may come after it.
SETTLED_AFTER = timedelta(seconds=30)
_MOST_PAGES = 1000
_CURSOR = re.compile(r"(\d{1,12}):(\d{1,18}):(\d{1,12})")


@dataclass(frozen=True)
class TrackerCursor:
    at: datetime
    """Changes before it were given."""
    after: int = 0
    """Of the changes in that second, those of tickets up to this number too."""
    floor: datetime | None = None
    """While a round of pages lasts: where the next round begins at the latest, as newer changes may not all be seen."""

    def __str__(self) -> str:
        return f"{int(self.at.timestamp())}:{self.after}:{int(self.floor.timestamp()) if self.floor else 0}"

    @property
    def place(self) -> tuple[datetime, int]:
        return self.at, self.after


def parse(text: str) -> TrackerCursor:
    match = _CURSOR.fullmatch(text)
    if match is None:
        raise DeskRefused("This is no cursor of a Request Tracker.")
    at, after, floor = (int(number) for number in match.groups())
    return TrackerCursor(_moment(at), after, _moment(floor) if floor else None)


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@dataclass(frozen=True)
class PollBatch:
    tickets: Sequence[ListedTicket]
    cursor: TrackerCursor
    more: bool


class TrackerChanges:
    def __init__(self, rest: RestClient, queues: Sequence[str]) -> None:
        self._rest = rest
        self._where = " OR ".join(f"Queue = '{queue}'" for queue in queues) or "id > 0"

    async def after(self, cursor: TrackerCursor, now: datetime) -> PollBatch:
        """The oldest first."""
        answer = await self._list(f"( {self._where} )", "DESC", 1)
        now = answer.at or now
        floor = cursor.floor or max(cursor.at, now - SETTLED_AFTER)
        listed = items(ListedTicket, answer.body)
        fresh = [ticket for ticket in listed if ticket.place > cursor.place]
        if len(fresh) == len(listed) and not _is_last(answer, listed):
            fresh = await self._oldest(cursor, now)
        fresh.sort(key=lambda ticket: ticket.place)
        batch, more = fresh[:MOST_TICKETS], len(fresh) > MOST_TICKETS
        place = batch[-1].place if batch else cursor.place
        if more:
            return PollBatch(batch, TrackerCursor(*place, floor), more)
        return PollBatch(batch, TrackerCursor(*min(place, (floor, 0))), more)

    async def _oldest(self, cursor: TrackerCursor, now: datetime) -> list[ListedTicket]:
        """More than a batch of those after the cursor, so that there is known to be more."""
        for when in (f" AND LastUpdated > '{_ago(now - cursor.at)}'", ""):
            fresh: list[ListedTicket] = []
            async for ticket in self._all(f"( {self._where} ){when}"):
                fresh.extend([ticket] if ticket.place > cursor.place else [])
                if len(fresh) > MOST_TICKETS:
                    return fresh
        return fresh

    async def _all(self, where: str) -> AsyncGenerator[ListedTicket]:
        for page in range(1, _MOST_PAGES):
            answer = await self._list(where, "ASC", page)
            tickets = items(ListedTicket, answer.body)
            for ticket in tickets:
                yield ticket
            if _is_last(answer, tickets):
                return

    async def _list(self, where: str, order: str, page: int) -> RestResponse:
        by = {"orderby": ["LastUpdated", "id"], "order": [order, order]}
        query = {"query": where, "fields": "LastUpdated", "per_page": PER_PAGE, "page": page, **by}
        return await self._rest.get("tickets", query)


def _is_last(answer: RestResponse, tickets: Sequence[ListedTicket]) -> bool:
    """Where the server does not tell how many there are, a page may lack some, and only an empty one is the last."""
    return not tickets or (answer.body.get("total") is not None and not answer.body.get("next_page"))


def _ago(span: timedelta) -> str:
    """With room to spare. Numbers of four digits and more would be taken for a year or a time."""
    days = max(span.days, 0) + 2
    return f"{days} days ago" if days < 100 else f"{min(days // 7 + 1, 999)} weeks ago"
