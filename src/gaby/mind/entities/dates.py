"""Dates and times of day, in one spelling where nobody can doubt which day is meant."""

import re
from collections.abc import Iterator
from datetime import date

from gaby.mind.entities.entity import Entity

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
_ISO = re.compile(
    r"(?<![\w\-/.])([0-9]{4})([-/.])([0-9]{2})\2([0-9]{2})"
    r"(T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?:Z|[+\-][0-9]{2}:?[0-9]{2})?)?(?![\w\-/]|\.[0-9])"
)
_NUMBERS = re.compile(r"(?<![\w\-/.,])([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})(?![\w\-/]|[.,][0-9])")
_DAY_FIRST = re.compile(
    rf"(?<![\w.,:\-])([0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)?[ \-.]{{1,2}}{_MONTH}(?:,?[ \-]((?:19|"
    rf"20)[0-9]{{2}}))?(?![\w\-])",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"\b(?=[jfmasond]){_MONTH} (?:([0-9]{{1,2}})(?:st|nd|rd|th)?(?:,? ((?:19|20)[0-9]{{2}}))?|((?:19|20)[0-9]{{2}}))"
    r"(?![\w:\-]|[.,][0-9])",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?<![\w.:/,\-])([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:[.,][0-9]{1,6})?)?"
    r"( ?(?:[ap]m\b|[ap]\.m\.))?(?: ?(?:UTC|GMT|CET|CEST|EST|EDT|CST|PST|PDT|BST|IST|Z)\b)?(?![\w:])",
    re.IGNORECASE,
)
_HOUR = re.compile(r"(?<![\w.:/,\-])(1[0-2]|0?[1-9]) ?([ap])(?:m\b|\.m\.)", re.IGNORECASE)


def find_dates(text: str) -> Iterator[Entity]:
    for match in _ISO.finditer(text):
        if normal := _day(match[1], match[3], match[4]):
            yield _date(match, normal + (match[5] or ""))
    for match in _NUMBERS.finditer(text):
        if entity := _from_numbers(match):
            yield entity
    for match in _DAY_FIRST.finditer(text):
        if 1 <= int(match[1]) <= 31:
            yield _date(match, _day(match[3], _month(match[2]), match[1]))
    for match in _MONTH_FIRST.finditer(text):
        if match[4]:
            yield _date(match, f"{match[4]}-{_month(match[1]):02}")
        elif 1 <= int(match[2]) <= 31:
            yield _date(match, _day(match[3], _month(match[1]), match[2]))


def find_times(text: str) -> Iterator[Entity]:
    for match in _CLOCK.finditer(text):
        hour = _of_24(int(match[1]), match[4])
        seconds = f":{match[3]}" if match[3] else ""
        yield Entity("time", match[0], match.start(), match.end(), f"{hour:02}:{match[2]}{seconds}")
    for match in _HOUR.finditer(text):
        yield Entity("time", match[0], match.start(), match.end(), f"{_of_24(int(match[1]), match[2]):02}:00")


def _from_numbers(match: re.Match[str]) -> Entity | None:
    first, second, year = int(match[1]), int(match[3]), match[4]
    if len(year) == 2 and match[2] != "/":
        return None  # As likely a version or a number of an article.
    days = [day for day in (_day(year, second, first), _day(year, first, second)) if day]
    if not days:
        return None
    # With dots the day always comes first; with slashes nobody knows, unless one of the two cannot be a month.
    is_sure = len(year) == 4 and (match[2] == "." or len(set(days)) == 1)
    return _date(match, days[0] if is_sure and not (match[2] == "." and second > 12) else None)


def _date(match: re.Match[str], normal: str | None) -> Entity:
    return Entity("date", match[0], match.start(), match.end(), normal)


def _day(year: str | None, month: int | str, day: int | str) -> str | None:
    if year is None:
        return None
    try:
        return date(int(year) + (2000 if len(year) == 2 else 0), int(month), int(day)).isoformat()
    except ValueError:
        return None


def _month(name: str) -> int:
    return _MONTHS.index(name[:3].lower()) + 1


def _of_24(hour: int, half: str | None) -> int:
    if not half or hour > 12:
        return hour
    return hour % 12 + (12 if half.strip().lower().startswith("p") else 0)
