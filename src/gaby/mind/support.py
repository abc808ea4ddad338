"""Whether the values of a sentence stand in the sources it cites: numbers with units, dates, ids, codes and names.

Only values are judged, in every spelling of the same amount. Whether the words follow from the source is not for rules
to say.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gaby.mind.entities import Entity, EntityKind, extract
from gaby.mind.entities.dates import find_dates
from gaby.mind.moments import Moment, has_time, moments, times
from gaby.mind.words import STOP_WORDS, listed, stem, words

_READ = 20_000
_EXACT: frozenset[EntityKind] = frozenset(
    {"email", "url", "host", "ip", "uuid", "error_code", "id", "money", "version", "path", "phone"}
)
"""Values of which every character counts."""
_LOOKED_FOR = 50
"""A sentence with more values than this is none."""
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_UNITS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SPELLED = {
    "zero": 0,
    **{word: place for place, word in enumerate([*_UNITS, *_TEENS], 1)},
    **{word: 10 * place for place, word in enumerate(_TENS, 2)},
}
_TIMES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_IN_WORDS = re.compile(
    rf"\b(?:({'|'.join(_TENS)})(?:[- ]({'|'.join(_UNITS)}))?|({'|'.join([*_UNITS, *_TEENS, 'zero'])}))"
    rf"(?: ({'|'.join(_TIMES)}))?\b(?! of\b)",
    re.IGNORECASE,
)
_NO_COUNT = listed("no the this that each every any some which another")
_BETWEEN = re.compile(
    r"(?<=[0-9]) (?:working|business|calendar|consecutive|successive|full|whole|more|further|failed) (?=[a-z])"
)
"""`2 working days` are two days."""
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_PERIODS = listed("second minute hour day night week month year")
_RATE = re.compile(
    rf"(?:\b(?:per|each|every) |/ ?|(?<=[0-9A-Z€$£%] )an? |\b(?:once|twice|times|requests|calls) an? )"
    rf"({'|'.join(sorted(_PERIODS))})\b"
)
_ADVERBS = {
    "hourly": "hour",
    "daily": "day",
    "night": "day",
    "nightly": "day",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]*\b", re.IGNORECASE)
_DAY = re.compile(r"\b[0-9]{1,2}(?![0-9])")
_CURRENCY = re.compile(r"\b(?:USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|INR|CNY)\b")
_NAME = re.compile(
    r"(?<=[\w,;:] )[A-Z][^\W\d_]{1,40}(?: [A-Z][^\W\d_]{1,40}){1,4}\b|\b[^\W\d_]{1,40}[a-z][A-Z][^\W\d_]{0,40}\b"
)
"""Several words with capital letters in a row inside of a sentence, or a capital letter inside of a word. One capital
letter makes no name: in some languages every noun has one."""
_WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_DECIMALS = re.compile(r"[0-9]+\.[0-9]{1,2}")
_MINOR = re.compile(r"cents?(?![a-z])|minor|pence", re.IGNORECASE)
"""Fields with such a name count hundredths."""


@dataclass(frozen=True)
class SupportCheck:
    holds: bool
    why: str = ""
    """When it does not hold."""


def support(sentence: str, sources: Sequence[str]) -> SupportCheck:
    """By all cited sources together: one may name the account, and the other the limit."""
    together = "\n".join(source[:_READ] for source in sources)
    if not together.strip() and any(map(str.isalnum, sentence)):
        return SupportCheck(holds=False, why="There is no cited source.")
    missing = _missing(_in_digits(sentence[:_READ]), _SourceValues(_in_digits(together)))
    return SupportCheck(holds=False, why=f"No cited source says {missing}.") if missing else SupportCheck(holds=True)


def _in_digits(text: str) -> str:
    """`twenty-five` as 25 and `two working days` as 2 days. `one of them` counts nothing."""

    def number(match: re.Match[str]) -> str:
        tens, unit, single, times = (each and each.lower() for each in match.groups())
        if single == "one" and not times and not _counts(text, match):
            return match[0]
        value = _SPELLED[single] if single else _SPELLED[tens or ""] + (_SPELLED[unit] if unit else 0)
        return str(value * _TIMES[times] if times else value)

    return _BETWEEN.sub(" ", _IN_WORDS.sub(number, text))


def _counts(text: str, match: re.Match[str]) -> bool:
    """`one seat` counts; `the one`, `no one` and `one of them` do not."""
    before, after = words(text[max(0, match.start() - 12) : match.start()]), words(text[match.end() : match.end() + 16])
    return bool(after) and after[0] not in STOP_WORDS and not (before and before[-1] in _NO_COUNT)


@dataclass
class _SourceValues:
    """All that a source gives a value for."""

    text: str
    exact: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    measured: set[tuple[float | str, str]] = field(default_factory=set[tuple[float | str, str]])
    dates: set["_Date"] = field(default_factory=set["_Date"])

    def __post_init__(self) -> None:
        self.low = self.text.lower()
        self.words = frozenset(words(self.text))
        self.known = {stem(word) for word in self.words}
        self.counts_cents = _MINOR.search(self.text) is not None
        self.times = times(self.text)
        self.moments = list(moments(self.text))
        # Beside a quoted name in JSON a date is easily overlooked as a thing of its own.
        self.dates |= {_date(date) for date in find_dates(self.text)}
        self.numbers = set(_numbers(self.text))
        self.rates = _rates(self.text)
        for entity in extract(self.text):
            self.exact |= {(entity.kind, _plain(entity)), (entity.kind, entity.value.lower())}
            if entity.kind == "quantity":
                self.measured.add(_amount(entity))
            elif entity.kind == "date":
                self.dates.add(_date(entity))

    def says(self, entity: Entity) -> bool:
        if (entity.kind, _plain(entity)) in self.exact or _stands_in(entity.value.lower(), self.low):
            return True
        return entity.kind == "error_code" and self._gives(entity)

    def _gives(self, code: Entity) -> bool:
        """`http status: 401` where the source has `"http_status": 401`."""
        named = [stem(word) for word in words(code.value) if word.isalpha()]
        return (code.normal or "").isdigit() and code.normal in self.numbers and self.known.issuperset(named)

    def has_number(self, number: str) -> bool:
        """`12.5` is there where the source counts 1250 cents."""
        if number in self.numbers:
            return True
        in_cents = self.counts_cents and _DECIMALS.fullmatch(number)
        return bool(in_cents) and str(round(float(number) * 100)) in self.numbers

    def has_name(self, name: str) -> bool:
        """All of its words, in any order: the source may have them in two fields."""
        return self.words.issuperset(words(name))

    def has_moment(self, moment: Moment) -> bool:
        return any(moment.is_as(other) for other in self.moments)

    def has_day(self, day: "_Date") -> bool:
        """The sentence may say less than the source."""
        return any(all(ours in (None, theirs) for ours, theirs in zip(day, kept, strict=True)) for kept in self.dates)


_Date = tuple[str | None, str | None, str | None, str | None]
"""Year, month and day, and how it is spelled where nobody knows which is which."""


def _missing(sentence: str, values: _SourceValues) -> str | None:
    """A value of the sentence that the source does not have."""
    sentence_moments = list(moments(sentence))
    if other := [each for each in sentence_moments if values.moments and not values.has_moment(each)]:
        return sentence[other[0].start : other[0].end]
    for each in reversed(sentence_moments if values.moments else []):
        sentence = f"{sentence[: each.start]} {sentence[each.end :]}"
    return _missing_value(sentence, values)


def _missing_value(sentence: str, values: _SourceValues) -> str | None:
    entities = extract(sentence)
    if len(entities) > _LOOKED_FOR:
        return "all of this"
    fits = [_fits(entity, values) for entity in entities]
    if False in fits:
        return entities[fits.index(False)].value
    rest = sentence
    for entity, fit in reversed(list(zip(entities, fits, strict=True))):
        if fit:
            rest = f"{rest[: entity.start]} {rest[entity.end :]}"
    return next(_lacking(sentence, rest, values), None)


def _lacking(sentence: str, rest: str, values: _SourceValues) -> Iterator[str]:
    """What is no thing of its own: bare numbers, currencies, periods, weekdays and names."""
    yield from (number for number in _numbers(rest) if not values.has_number(number))
    yield from sorted(set(_CURRENCY.findall(rest)) - set(_CURRENCY.findall(values.text)))
    if values.rates:
        yield from (f"per {period}" for period in sorted(_rates(sentence) - values.rates))
    yield from (day for day in _WEEKDAY.findall(rest) if day.lower().rstrip("s") not in values.low)
    yield from (name for name in _NAME.findall(rest) if not values.has_name(name))


def _fits(entity: Entity, values: _SourceValues) -> bool | None:
    """None when its numbers decide."""
    if entity.kind == "money" and values.counts_cents:
        return True if values.says(entity) else None
    if entity.kind in _EXACT:
        return values.says(entity)
    if entity.kind == "date":
        return values.has_day(_date(entity))
    if entity.kind == "time":
        return has_time(_plain(entity), values.times)
    if entity.kind == "quantity":
        # Thirty minutes in the source are no thirty days.
        is_measured = (entity.kind, _plain(entity)) in values.exact
        return True if _amount(entity) in values.measured else False if is_measured else None
    return None


def _plain(entity: Entity) -> str:
    if entity.kind in {"money", "quantity"}:
        number, blank, unit = entity.plain.lower().partition(" ")
        return _spelled(number) + blank + unit
    return entity.plain.lower()


def _amount(entity: Entity) -> tuple[float | str, str]:
    """Times in seconds: sixty seconds are a minute."""
    seconds = _SECONDS.get(entity.label or "")
    number = _plain(entity)
    try:
        return (float(number) * seconds, "second") if seconds else (number, entity.label or "")
    except ValueError:
        return number, entity.label or ""


def _date(entity: Entity) -> _Date:
    if entity.normal is not None:
        year, month, *day = entity.normal[:10].split("-")
        return year, month, day[0] if day else None, None
    month, day = _MONTH.search(entity.value), _DAY.search(entity.value)
    if month is None or day is None:
        return None, None, None, entity.value.lower()
    return None, f"{_month(month[1]):02}", f"{int(day[0]):02}", None


def _month(name: str) -> int:
    return next(place for place, month in enumerate(_MONTHS, 1) if month == name.lower())


def _stands_in(value: str, text: str) -> bool:
    """Not as a part of a longer one: `ada@...` is not in `linda@...`."""
    at = text.find(value)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(value) : at + len(value) + 2]
        goes_on = after[:1].isalnum() or after[:1] == "_" or (after[:1] in {"-", ".", "@"} and after[1:].isalnum())
        if not (before.isalnum() or (before and before in "-_.@+")) and not goes_on:
            return True
        at = text.find(value, at + len(value))
    return False


def _numbers(text: str) -> dict[str, None]:
    return dict.fromkeys(map(_spelled, _NUMBER.findall(text)))


def _spelled(number: str) -> str:
    """In one spelling: `1,000` and `1000`, `9,50` and `9.5`."""
    number = number.replace(",", "" if _THOUSANDS.fullmatch(number) else ".")
    if number.count(".") == 1:
        number = number.rstrip("0").rstrip(".")
    return number.lstrip("0") or "0"


def _rates(text: str) -> set[str]:
    rates: list[str] = _RATE.findall(text)
    return {_ADVERBS.get(period, period) for period in rates} | {
        _ADVERBS[word] for word in words(text) if word in _ADVERBS
    }
