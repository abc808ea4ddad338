"""What a condition can say of a field: is set, is `active`, is at least 3, is more than 2 hours ago, mentions `x`."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from gaby.mind.runbooks.field_refs import FieldRef, dotted, nouns_in

Operator = Literal["set", "empty", "is", "above", "below", "older", "newer", "has", "within", "past", "future", "self"]


@dataclass(frozen=True)
class FieldPredicate:
    operator: Operator
    values: tuple[str, ...] = ()
    other: FieldRef | None = None
    number: float = 0.0
    age: timedelta = timedelta()
    negated: bool = False


_Read = Callable[[re.Match[str]], FieldPredicate | None]

_IS = r"(?:is|are|was|were)"
_T = r"`[^`\n]{1,100}`"
_VALUE = rf"(?:{_T}|-?[0-9]{{1,15}}(?:\.[0-9]{{1,6}})?|true|false|yes|no)"
_VALUES = rf"{_VALUE}(?:(?:, or |, | or ){_VALUE}){{0,20}}"
_WORDS = r"[A-Za-z][A-Za-z'’\-]{0,40}(?: [A-Za-z][A-Za-z'’\-]{0,40}){0,5}"
_OTHER = rf"(?P<whose>(?:the|its|their|a|an|this|that) (?:{_WORDS} )?)(?P<other>{_T})"
_NUMBER = r"(?P<number>-?[0-9]{1,15}(?:\.[0-9]{1,6})?)(?: [a-z%]{1,20})?"
_AGE = r"(?P<count>[0-9]{1,6}|an?|one|two|three) (?P<unit>second|minute|hour|day|week|month|year)s?"
_SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_592_000,
    "year": 31_536_000,
}
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}
_MOST_SECONDS = 3_000_000_000
"""About a hundred years."""


def _fixed(operator: Operator) -> _Read:
    return lambda _: FieldPredicate(operator)


def _aged(operator: Operator) -> _Read:
    def read(match: re.Match[str]) -> FieldPredicate | None:
        count = int(match["count"]) if match["count"].isdigit() else _COUNTS[match["count"].lower()]
        seconds = count * _SECONDS[match["unit"].lower()]
        return FieldPredicate(operator, age=timedelta(seconds=seconds)) if seconds <= _MOST_SECONDS else None

    return read


def _measured(operator: Operator, *, negated: bool) -> _Read:
    def read(match: re.Match[str]) -> FieldPredicate | None:
        if match["other"]:
            return FieldPredicate(operator, other=_other(match), negated=negated)
        return FieldPredicate(operator, number=float(match["number"]), negated=negated)

    return read


def _compared(operator: Operator) -> _Read:
    def read(match: re.Match[str]) -> FieldPredicate | None:
        negated = bool(match["no"])
        if match["other"]:
            return FieldPredicate(operator, other=_other(match), negated=negated)
        values = tuple(each.strip("`") for each in re.findall(_VALUE, match["values"]))
        return FieldPredicate(operator, values, negated=negated)

    return read


def _other(match: re.Match[str]) -> FieldRef:
    name, nouns, tools = dotted(match["other"].strip("`"))
    return FieldRef(name, frozenset(nouns | nouns_in(match["whose"] or "")), frozenset(tools))


def _within_field(match: re.Match[str]) -> FieldPredicate | None:
    """One name behind `is in` is a field that holds a list: `in `zones``."""
    name, nouns, tools = dotted(match["values"].strip("`"))
    return FieldPredicate("within", other=FieldRef(name, frozenset(nouns), frozenset(tools)), negated=bool(match["no"]))


def _requester(match: re.Match[str]) -> FieldPredicate | None:
    return FieldPredicate("self", negated=bool(match["no"]))


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_NOT = r"(?P<no>not )?"
_COMPARED_WITH = rf"(?:{_OTHER}|{_NUMBER})"
_VALUES_OR_OTHER = rf"(?:{_OTHER}|(?P<values>{_VALUES}))"

OPERATORS: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (_pattern(rf"{_IS} (?:empty|missing|null|unset|not set|not there|absent)"), _fixed("empty")),
    (_pattern(rf"{_IS} (?:set|filled|there|present|given|not empty|not null|not missing)"), _fixed("set")),
    (_pattern(r"(?:is|lies|was) in the past|has passed"), _fixed("past")),
    (_pattern(r"(?:is|lies) in the future|has not passed"), _fixed("future")),
    (_pattern(rf"{_IS} older than {_AGE}"), _aged("older")),
    (_pattern(rf"{_IS} more than {_AGE} (?:ago|old)"), _aged("older")),
    (_pattern(rf"{_IS} (?:newer than|younger than|within the last|from the last) {_AGE}"), _aged("newer")),
    (_pattern(rf"{_IS} less than {_AGE} (?:ago|old)"), _aged("newer")),
    (
        _pattern(rf"{_IS} (?:(?:more|greater|higher|larger) than|above|over) {_COMPARED_WITH}"),
        _measured("above", negated=False),
    ),
    (_pattern(rf"{_IS} (?:at least|not below|not less than) {_COMPARED_WITH}"), _measured("below", negated=True)),
    (
        _pattern(rf"{_IS} (?:(?:less|lower|smaller|fewer) than|below|under) {_COMPARED_WITH}"),
        _measured("below", negated=False),
    ),
    (_pattern(rf"{_IS} (?:at most|not above|not more than) {_COMPARED_WITH}"), _measured("above", negated=True)),
    (
        _pattern(rf"(?P<no>(?:does|do) not )?(?:contains?|mentions?|names?|includes?) {_VALUES_OR_OTHER}"),
        _compared("has"),
    ),
    (_pattern(rf"{_IS} {_NOT}(?:the same as|equal to) {_VALUES_OR_OTHER}"), _compared("is")),
    (_pattern(rf"{_IS} {_NOT}in (?P<values>{_T})"), _within_field),
    (_pattern(rf"{_IS} {_NOT}(?:in|among|listed in) {_OTHER}(?P<values>)"), _compared("within")),
    (_pattern(rf"{_IS} {_NOT}(?:in|among|one of) (?P<values>{_VALUES})(?P<other>)"), _compared("is")),
    (_pattern(rf"{_IS} {_NOT}the requester['’]s (?:own )?(?:e-?mail )?address"), _requester),
    (_pattern(rf"(?:(?:{_IS}|has|have|=) )?{_NOT}(?P<values>{_VALUES})(?P<other>)"), _compared("is")),
    (_pattern(rf"{_IS} {_NOT}{_OTHER}(?P<values>)"), _compared("is")),
)
"""Tried in this order; each has to fit the whole text."""
