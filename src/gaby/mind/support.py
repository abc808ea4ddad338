"""Whether a source says what a sentence claims it says. It errs on the side of doubt: a doubt costs a second look."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from gaby.mind.claims import LONGEST, Claim
from gaby.mind.entities import Entity, EntityKind, extract
from gaby.mind.entities.dates import find_dates
from gaby.mind.moments import Moment, has_time, moments, times
from gaby.mind.sentences import split
from gaby.mind.states import OPPOSITES
from gaby.mind.synonyms import alike
from gaby.mind.words import STOP_WORDS, listed, stem, words

_ENOUGH = 0.5
"""The share of what a sentence speaks of that its sources must speak of too."""
_SAME = 0.5
"""The share of a clause's words in a clause of the source, from which on the two say yes or no to the same."""
_INHERITED = 0.9
"""What `it` stands for counts a little less than what is said."""
_READ = 20_000
_SENTENCES = 200
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
_ABOVE = r"above|over|exceed\w*|at least|(?:more|larger|greater|longer|bigger|later) than|after"
_BELOW = r"below|under|at most|up to|within|(?:less|fewer|smaller|shorter|earlier) than|before|until"
_BOUND = re.compile(rf"\b(?:({_ABOVE})|({_BELOW})) (?:[$€£] ?)?([0-9]+(?:[.,][0-9]+)*)", re.IGNORECASE)
_BESIDE = re.compile(r"\b(?:(after)|(before)) (?:(?:the|an?|each|every|any|your) )?([a-z]{3,30})\b", re.IGNORECASE)
_CURRENCY = re.compile(r"\b(?:USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|INR|CNY)\b")
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][a-z]{2,40}\b")
_ENGLISH = listed("the and of to is are with for by from that be can you a")
"""Where nouns begin with a capital letter, a capital letter makes no name."""
_POINTS_BACK = re.compile(r"(?:it|they|this|these|those|he|she)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:] |\b(?:but|although|though|while|because|when|if|unless|and)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Support:
    holds: bool
    share: float
    """Of what the sentence speaks of, how much the sources speak of too."""
    why: str = ""
    """When it does not hold."""


def support(sentence: str, sources: Sequence[str]) -> Support:
    """By all cited sources together: one may name the account, and the other the limit."""
    sentence = sentence[:_READ]
    together = "\n".join(source[:_READ] for source in sources)
    said = _spoken(sentence)
    known = {stem(word) for word in words(together)}
    share = sum(bool(alike(term) & known) for term in said) / len(said) if said else 1.0
    if missing := _missing(_in_digits(sentence), _Values(_in_digits(together)), known):
        return Support(holds=False, share=share, why=f"No cited source says {missing}.")
    if share < _ENOUGH:
        return Support(holds=False, share=share, why="The cited source speaks of something else.")
    if denied := _denied(sentence, together):
        return Support(holds=False, share=share, why=f"The cited source says otherwise: {denied}")
    return Support(holds=True, share=share)


def _spoken(text: str) -> frozenset[str]:
    return frozenset(
        stem(word) for word in words(text) if word not in STOP_WORDS and not word.isdigit() and len(word) > 1
    )


def _in_digits(text: str) -> str:
    """`twenty-five` as 25 and `two working days` as 2 days. `one of them` counts nothing."""

    def number(found: re.Match[str]) -> str:
        tens, unit, single, times = (each and each.lower() for each in found.groups())
        if single == "one" and not times and not _counts(text, found):
            return found[0]
        value = _SPELLED[single] if single else _SPELLED[tens or ""] + (_SPELLED[unit] if unit else 0)
        return str(value * _TIMES[times] if times else value)

    return _BETWEEN.sub(" ", _IN_WORDS.sub(number, text))


def _counts(text: str, found: re.Match[str]) -> bool:
    """`one seat` counts; `the one`, `no one` and `one of them` do not."""
    before, after = words(text[max(0, found.start() - 12) : found.start()]), words(text[found.end() : found.end() + 16])
    return bool(after) and after[0] not in STOP_WORDS and not (before and before[-1] in _NO_COUNT)


@dataclass
class _Values:
    """All that a source gives a value for."""

    text: str
    exact: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    measured: set[tuple[float | str, str]] = field(default_factory=set[tuple[float | str, str]])
    dates: set["_Date"] = field(default_factory=set["_Date"])

    def __post_init__(self) -> None:
        self.low = self.text.lower()
        self.known = {stem(word) for word in words(self.text)}
        self.times = times(self.text)
        self.moments = list(moments(self.text))
        # Beside a quoted name in JSON a date is easily overlooked as a thing of its own.
        self.dates |= {_date(found) for found in find_dates(self.text)}
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

    def has_moment(self, moment: Moment) -> bool:
        return any(moment.is_as(other) for other in self.moments)

    def has_day(self, day: "_Date") -> bool:
        """The sentence may say less than the source."""
        return any(all(ours in (None, theirs) for ours, theirs in zip(day, kept, strict=True)) for kept in self.dates)


_Date = tuple[str | None, str | None, str | None, str | None]
"""Year, month and day, and how it is spelled where nobody knows which is which."""


def _missing(sentence: str, values: _Values, known: set[str]) -> str | None:
    """A value of the sentence that the source does not have."""
    told = list(moments(sentence))
    if other := [each for each in told if values.moments and not values.has_moment(each)]:
        return sentence[other[0].start : other[0].end]
    for each in reversed(told if values.moments else []):
        sentence = f"{sentence[: each.start]} {sentence[each.end :]}"
    return _missing_value(sentence, values, known)


def _missing_value(sentence: str, values: _Values, known: set[str]) -> str | None:
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
    if lacking := next((number for number in _numbers(rest) if number not in values.numbers), None):
        return lacking
    if other := sorted(set(_CURRENCY.findall(rest)) - set(_CURRENCY.findall(values.text))):
        return other[0]
    if values.rates and (other := sorted(_rates(sentence) - values.rates)):
        return f"per {other[0]}"
    return _unknown_name(rest, known) or _other_bound(sentence, values.text)


def _fits(entity: Entity, values: _Values) -> bool | None:
    """None when its numbers decide."""
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
    found: list[str] = _RATE.findall(text)
    return {_ADVERBS.get(period, period) for period in found} | {
        _ADVERBS[word] for word in words(text) if word in _ADVERBS
    }


def _unknown_name(sentence: str, known: set[str]) -> str | None:
    if not _ENGLISH.intersection(words(sentence)):
        return None
    names = (name for name in _NAME.findall(sentence) if name.lower() not in STOP_WORDS)
    return next((name for name in names if not alike(stem(name.lower())) & known), None)


def _other_bound(sentence: str, source: str) -> str | None:
    """`above 500` where the source says `below 500`, `before the update` where it says `after an update`."""
    there = set(_bounds(source))
    return next(
        (
            f"so of {number}"
            for number, above in _bounds(sentence)
            if (number, not above) in there and (number, above) not in there
        ),
        None,
    )


def _bounds(text: str) -> Iterator[tuple[str, bool]]:
    for above, _, number in _BOUND.findall(text):
        yield _spelled(number), bool(above)
    for after, _, word in _BESIDE.findall(text):
        yield stem(word.lower()), bool(after)


def _about(term: str, terms: frozenset[str]) -> bool:
    """The opposite of a word speaks of the same."""
    return not alike(term).isdisjoint(terms) or not _opposites().get(term, frozenset()).isdisjoint(terms)


@cache
def _opposites() -> dict[str, frozenset[str]]:
    return {term: frozenset(other for one, other in OPPOSITES if one == term) for term, _ in OPPOSITES}


@dataclass(frozen=True)
class _Clause:
    claim: Claim
    own: frozenset[str]
    inherited: frozenset[str] = frozenset()
    """What `it` stands for."""

    def overlap(self, other: "_Clause") -> float:
        """How much of this one the other speaks of."""
        return sum(1.0 if _about(term, other.own) else _INHERITED * (term in other.inherited) for term in self.own)

    def covers(self, other: "_Clause") -> bool:
        """A long clause that says much more says no to that, perhaps, and not to this."""
        return sum(_about(term, self.own) for term in other.own) >= _SAME * len(other.own)

    def agrees(self, other: "_Clause") -> bool:
        states, others = self.claim.states - other.claim.states, other.claim.states - self.claim.states
        opposed = any((one, another) in OPPOSITES for one in states for another in others)
        # What is not enabled is disabled.
        return (self.claim.negated != other.claim.negated) == opposed


def _clauses(text: str) -> list[_Clause]:
    found: list[_Clause] = []
    before: frozenset[str] = frozenset()
    for sentence in split(text)[:_SENTENCES]:
        plain = sentence.plain
        inherited = before if _POINTS_BACK.match(plain) else frozenset[str]()
        parts = _CLAUSE.split(plain[:LONGEST])
        found += [_Clause(Claim(part.strip()), own, inherited) for part in parts if (own := _spoken(part))]
        before = _spoken(plain)
    return found


def _denied(sentence: str, source: str) -> str | None:
    """What the source says of the same, if it says the opposite. Each clause is held against the one most like it."""
    theirs = _clauses(source)
    for clause in _clauses(sentence):
        overlaps = [clause.overlap(other) for other in theirs]
        best = max(overlaps, default=0.0)
        if not clause.own or best < _SAME * len(clause.own):
            continue
        nearest = [other for other, overlap in zip(theirs, overlaps, strict=True) if overlap == best]
        against = [other for other in nearest if not clause.agrees(other) and clause.covers(other)]
        if len(against) == len(nearest):
            return against[0].claim.text
    return None
