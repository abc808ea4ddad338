"""Moments and times of day as values, so that `14:05` is found in `14:05:00Z` and `7:00` in `2030-03-04T07:00:00Z`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gaby.mind.entities.dates import find_times

_MOMENT = re.compile(
    r"(?<![\w\-/.])([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T|,? at |,? )([0-9]{1,2}):([0-9]{2})"
    r"(?::([0-9]{2})(?:[.,][0-9]{1,9})?)?(?: ?(Z|UTC|GMT|[+\-][0-9]{2}:?[0-9]{2})(?!\w))?(?![\w:])"
)
_HOUR = 60


@dataclass(frozen=True)
class Moment:
    start: int
    end: int
    at: datetime
    """As it is written, without its zone."""
    has_seconds: bool
    ahead: timedelta | None
    """Of UTC. None when nothing is said of it."""

    def is_as(self, other: "Moment") -> bool:
        """Written alike as far as both go; or, where both name their zone, the same instant."""
        exact = self.has_seconds and other.has_seconds
        one, two = (self.at, other.at) if exact else (_to_minutes(self.at), _to_minutes(other.at))
        if self.ahead is not None and other.ahead is not None:
            return one - self.ahead == two - other.ahead
        return one == two


def moments(text: str) -> Iterator[Moment]:
    for match in _MOMENT.finditer(text):
        year, month, day, hour, minute = (int(each) for each in match.groups()[:5])
        try:
            at = datetime(year, month, day, hour, minute, int(match[6] or 0), tzinfo=UTC)
        except ValueError:
            continue
        yield Moment(match.start(), match.end(), at, match[6] is not None, _ahead(match[7]))


def times(text: str) -> set[tuple[str, str]]:
    """Hours with minutes, and seconds; of moments, too."""
    clocks = {each.normal or "" for each in find_times(text)}
    clocks |= {f"{each.at:%H:%M:%S}" if each.has_seconds else f"{each.at:%H:%M}" for each in moments(text)}
    return {_clock(each) for each in clocks}


def has_time(normal: str, known: set[tuple[str, str]]) -> bool:
    """The sentence may say less than the source, and a full minute has no seconds."""
    minutes, seconds = _clock(normal)
    return any(at == minutes and seconds in {"", "00", theirs} for at, theirs in known)


def _clock(normal: str) -> tuple[str, str]:
    return normal[:5], normal[6:8]


def _to_minutes(at: datetime) -> datetime:
    return at.replace(second=0)


def _ahead(zone: str | None) -> timedelta | None:
    if zone is None:
        return None
    if zone[0] not in "+-":
        return timedelta()
    minutes = int(zone[1:3]) * _HOUR + int(zone[-2:])
    return timedelta(minutes=minutes if zone[0] == "+" else -minutes)
