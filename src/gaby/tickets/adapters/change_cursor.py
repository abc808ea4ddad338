"""Follows a list that is sorted by change, without gaps: where to go on, and what was brought already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import orjson

from gaby.tickets.adapters.payload import mapping, moment

_LAG = timedelta(minutes=2)
"""A search index may show a change after a later one, so the last minutes are looked at again."""
_SETTLED = timedelta(seconds=10)
"""Times are told to the second or less; what changed just now may change again at the same time."""
_MOST_SEEN = 300


@dataclass(frozen=True)
class ChangedItem:
    id: str
    at: datetime | None


@dataclass(frozen=True)
class ChangeCursor:
    start: datetime
    """Nothing that changed before it is wanted."""
    since: datetime
    """The next page begins with changes of this time."""
    offset: int = 0
    """How many of them are left out, when more happened at one time than a page holds."""
    newest: datetime | None = None
    seen: Mapping[str, str] = field(default_factory=dict[str, str])
    """What was brought of the last minutes, with the time of its change."""

    def fresh(self, page: Sequence[ChangedItem]) -> list[str]:
        return [change.id for change in page if change.at is None or self.seen.get(change.id) != change.at.isoformat()]

    def after(self, page: Sequence[ChangedItem], *, full: bool, now: datetime, step: int) -> "ChangeCursor":
        """Where to go on. A full page has more behind it; after another one there is nothing new for the moment.
        `step` is how far to go within one time: less than a page where the desk can, since what changes meanwhile moves
        to the end and the others move up."""
        latest = max((change.at for change in page if change.at), default=None)
        newest = latest or self.newest
        if full and (latest is None or latest <= self.since):
            return replace(self, offset=self.offset + step, newest=newest)
        if newest is None:
            return replace(self, offset=0)
        seen = self._seen(page, newest - _LAG, now)
        since = latest if full and latest else max(self.start, newest - _LAG)
        return replace(self, since=since, offset=0, newest=newest, seen=seen)

    def _seen(self, page: Sequence[ChangedItem], since: datetime, now: datetime) -> Mapping[str, str]:
        brought = dict(self.seen)
        for change in page:
            if change.at and change.at <= now - _SETTLED:
                brought[change.id] = change.at.isoformat()
        kept = {each: at for each, at in brought.items() if (when := moment(at)) and when >= since}
        return dict(sorted(kept.items(), key=lambda pair: pair[1])[-_MOST_SEEN:])

    def dumped(self) -> dict[str, object]:
        return {
            "start": self.start.isoformat(),
            "since": self.since.isoformat(),
            "offset": self.offset,
            "newest": self.newest.isoformat() if self.newest else None,
            "seen": dict(self.seen),
        }

    @classmethod
    def loaded(cls, value: object, otherwise: datetime) -> "ChangeCursor":
        stored = mapping(value)
        start, since, offset = moment(stored.get("start")), moment(stored.get("since")), stored.get("offset")
        if start is None or since is None:
            return cls(otherwise, otherwise)
        seen = {name: at for name, at in mapping(stored.get("seen")).items() if isinstance(at, str)}
        return cls(start, since, offset if isinstance(offset, int) else 0, moment(stored.get("newest")), seen)


def cursor_of(value: Mapping[str, object]) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def of_cursor(cursor: str | None) -> dict[str, object]:
    try:
        return mapping(orjson.loads(cursor or "{}"))
    except ValueError:
        return {}
