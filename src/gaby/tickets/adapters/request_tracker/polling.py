"""Which tickets changed.

Request Tracker reads the times in a query in the zone of whoever asks, which nobody tells us, and has no query for one
exact second. So the newest changes are listed without a time, and compared here. Only when there are more of them than a
list holds does a query name a time, and then as so many days ago.
"""

import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gaby.tickets.adapters.adapter import DeskRefused
from gaby.tickets.adapters.request_tracker.rest import Rest
from gaby.tickets.adapters.request_tracker.shapes import Listed, items
from gaby.tickets.adapters.request_tracker.tickets import PER_PAGE

MOST_TICKETS = 10
# A change is dated when it begins and seen when it is committed; another one in the same second may come after it.
SETTLED_AFTER = timedelta(seconds=30)
_MOST_PAGES = 1000
_CURSOR = re.compile(r"(\d{1,12}):(\d{1,18}):(\d{1,12})")


@dataclass(frozen=True)
class Cursor:
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


def parse(text: str) -> Cursor:
    found = _CURSOR.fullmatch(text)
    if found is None:
        raise DeskRefused("This is no cursor of a Request Tracker.")
    at, after, floor = (int(number) for number in found.groups())
    return Cursor(_moment(at), after, _moment(floor) if floor else None)


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@dataclass(frozen=True)
class Batch:
    tickets: Sequence[Listed]
    cursor: Cursor
    more: bool


class Changes:
    def __init__(self, rest: Rest, queues: Sequence[str]) -> None:
        self._rest = rest
        self._where = " OR ".join(f"Queue = '{queue}'" for queue in queues) or "id > 0"

    async def after(self, cursor: Cursor, now: datetime) -> Batch:
        """The oldest first."""
        listed, server_now = await self._newest()
        floor = cursor.floor or max(cursor.at, (server_now or now) - SETTLED_AFTER)
        fresh = [ticket for ticket in listed if ticket.place > cursor.place]
        if fresh and len(fresh) == len(listed) >= PER_PAGE:
            fresh = await self._oldest(cursor, server_now or now)
        fresh.sort(key=lambda ticket: ticket.place)
        batch, more = fresh[:MOST_TICKETS], len(fresh) > MOST_TICKETS
        place = batch[-1].place if batch else cursor.place
        if more:
            return Batch(batch, Cursor(*place, floor), more)
        return Batch(batch, Cursor(*min(place, (floor, 0))), more)

    async def _newest(self) -> tuple[list[Listed], datetime | None]:
        query = {"query": f"( {self._where} )", "order": "DESC", **_LISTED}
        answer = await self._rest.get("tickets", query)
        return items(Listed, answer.body), answer.at

    async def _oldest(self, cursor: Cursor, now: datetime) -> list[Listed]:
        """More than a batch of those after the cursor, so that there is known to be more."""
        for when in (f" AND LastUpdated > '{_ago(now - cursor.at)}'", ""):
            fresh: list[Listed] = []
            async for ticket in self._all(f"( {self._where} ){when}"):
                fresh.extend([ticket] if ticket.place > cursor.place else [])
                if len(fresh) > MOST_TICKETS:
                    return fresh
        return fresh

    async def _all(self, where: str) -> AsyncGenerator[Listed]:
        for page in range(1, _MOST_PAGES):
            answer = await self._rest.get("tickets", {"query": where, "order": "ASC", "page": page, **_LISTED})
            found = items(Listed, answer.body)
            for ticket in found:
                yield ticket
            if len(found) < PER_PAGE:
                return


_LISTED = {"fields": "LastUpdated", "orderby": "LastUpdated", "per_page": PER_PAGE}


def _ago(span: timedelta) -> str:
    """With room to spare. Numbers of four digits and more would be taken for a year or a time."""
    days = max(span.days, 0) + 2
    return f"{days} days ago" if days < 100 else f"{min(days // 7 + 1, 999)} weeks ago"
