"""Conditions as people write them: "`locked_at` is set", "two charges have the same `payment_request`".

A clause speaks of a field in backticks. The words before it say of what: "the account's `status`". What cannot be
understood makes no condition; whoever asks then leaves the branch alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from gaby.mind.records import spelled
from gaby.mind.words import STOP_WORDS, stem, words

Operator = Literal["set", "empty", "is", "above", "below", "older", "newer", "has", "within", "past", "future", "self"]


@dataclass(frozen=True)
class Ref:
    """A field, of what, and of which tool's answer, as far as the words say so."""

    name: str
    nouns: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Test:
    """One record must have a field that is so."""

    ref: Ref
    operator: Operator
    values: tuple[str, ...] = ()
    other: Ref | None = None
    """Another field that it is compared with."""
    number: float = 0.0
    age: timedelta = timedelta()
    negated: bool = False


@dataclass(frozen=True)
class Same:
    """Several records have the same value in a field."""

    ref: Ref
    least: int = 2


@dataclass(frozen=True)
class Count:
    """There are so many records; with tests, of those that pass them."""

    nouns: frozenset[str]
    tests: tuple[Test, ...]
    least: int = 1
    most: int | None = None
    """0: there is none."""


@dataclass(frozen=True)
class Known:
    """Whether the requester is somebody whom the company knows."""

    known: bool


Condition = Test | Same | Count | Known

_TICKED = re.compile(r"`([^`\n]{1,200})`")
_OR_IF = re.compile(r",?\s+or\s+(?:if|when)\s+")
_NUMBERS = {"no": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "several": 2, "many": 3}
_COUNTED = re.compile(
    r"(?:there (?:is|are) )?(?:(at least|more than|fewer than|less than|only|exactly) )?"
    r"(no|none|not one|[0-9]{1,6}|two|three|four|five|several|many)\b(?: of)?(?: or (more))?(?= )",
    re.IGNORECASE,
)
_SAME = re.compile(r"\b(?:have|has|with|share|of|in)\s+the\s+same\s+`([^`\n]{1,100})`", re.IGNORECASE)
_FOLLOWS = re.compile(r"(?:whose|its|their|with|which|that|it|they)\b", re.IGNORECASE)
_OF = re.compile(r"\s+(?:of|in|from)\s+(?:the |a |an |any |each )?((?:`[^`\n]{1,100}`)|[a-z][a-z\- ]{1,40}?)(?=\s|$)")
_REQUESTER = re.compile(
    r"\b(?:the )?requester(?:'s|s')? (?:own )?(?:e-?mail )?address\b|\bwhoever is asking\b", re.IGNORECASE
)
_UNKNOWN = re.compile(
    r"(?:nobody|no one|no user|none of the users|no person|no account)\b.{0,40}\brequester|"
    r"\brequester(?:'s address)? (?:is (?:not|unknown)|cannot|belongs to nobody|has no)",
    re.IGNORECASE,
)
_AGE = re.compile(r"([0-9]{1,6}|an?|one|two|three) (second|minute|hour|day|week|month|year)s?", re.IGNORECASE)
_SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_592_000,
    "year": 31_536_000,
}
_FIGURE = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,6})?")
_EMPTY = re.compile(r"(?:is|are|was) (?:empty|missing|null|unset|not set|not there|not filled|absent)\b", re.IGNORECASE)
_SET = re.compile(r"(?:is|are|was) (?:set|filled|there|present|given|not empty|not null|not missing)\b", re.IGNORECASE)
_PAST = re.compile(r"(?:is|lies|was) in the past\b|has passed\b", re.IGNORECASE)
_FUTURE = re.compile(r"(?:is|lies) in the future\b|has not passed\b|is still to come\b", re.IGNORECASE)
_OLDER = re.compile(r"(?:is|was) (?:older than|more than (?=.{1,20}(?: ago| old)\b))", re.IGNORECASE)
_NEWER = re.compile(
    r"(?:is|was) (?:newer than|younger than|less than (?=.{1,20}(?: ago| old)\b)|within the last|from the last)",
    re.IGNORECASE,
)
_ABOVE = re.compile(r"(?:is|are|was) (?:(?:more|greater|higher|larger) than|above|over)\b", re.IGNORECASE)
_LEAST = re.compile(r"(?:is|are|was) (?:at least|not below|not less than)\b", re.IGNORECASE)
_BELOW = re.compile(r"(?:is|are|was) (?:(?:less|lower|smaller|fewer) than|below|under)\b", re.IGNORECASE)
_MOST = re.compile(r"(?:is|are|was) (?:at most|not above|not more than)\b", re.IGNORECASE)
_HAS = re.compile(r"(?:(does not|do not) )?(?:contains?|mentions?|names?|includes?|speaks? of|says?)\b", re.IGNORECASE)
_WITHIN = re.compile(r"(?:is|are) (?:(not) )?(?:in|among|one of|listed in)\b", re.IGNORECASE)
_SAME_AS = re.compile(r"(?:is|are) (?:(not) )?(?:the same as|equal to|as in)\b", re.IGNORECASE)
_IS = re.compile(r"(?:(?:is|are|was|were|has|have|=|:)\b ?)?(not )?", re.IGNORECASE)
_BARE = re.compile(r"[\w.\-*:]{1,60}")
_POINTS = re.compile(r"\b(?:of|in|from|by|that|which) \Z", re.IGNORECASE)


def alternatives(text: str) -> list[tuple[Condition, ...]] | None:
    """The conditions of an `if`: one of the groups must hold, as a whole. None when a part makes no sense."""
    found: list[tuple[Condition, ...]] = []
    for part in _OR_IF.split(text[:1000]):
        group: list[Condition] = []
        before: frozenset[str] = frozenset()
        for clause in _clauses(part):
            conditions = list(_conditions(clause, before))
            if not conditions:
                return None
            group += conditions
            before = _nouns_of(conditions[0]) or before
        found.append(tuple(group))
    return [group for group in found if group] or None


def _clauses(text: str) -> Iterator[str]:
    """Cut at `and`, where it is not between two backticks."""
    at = 0
    for cut in re.finditer(r",?\s+and\s+(?:if\s+|that\s+|when\s+)?", text):
        if text.count("`", 0, cut.start()) % 2 == 0:
            yield text[at : cut.start()].strip(" ,.")
            at = cut.end()
    yield text[at:].strip(" ,.")


def _conditions(clause: str, before: frozenset[str]) -> Iterator[Condition]:
    if _UNKNOWN.search(clause) and not _TICKED.search(clause):
        yield Known(known=False)
        return
    if same := _SAME.search(clause):
        counted = _COUNTED.match(clause)
        least = max(2, _number(counted[2])) if counted else 2
        nouns = _nouns(clause[: same.start()]) or before
        yield Same(Ref(spelled(same[1]), nouns), least)
        if test := _test(clause[: same.start()], before):
            yield replace(test, ref=replace(test.ref, nouns=nouns))
        return
    counted = _COUNTED.match(clause)
    if counted and (count := _count(clause, counted)):
        yield count
    elif test := _test(clause, before):
        yield test


def _count(clause: str, counted: re.Match[str]) -> Count | None:
    rest = clause[counted.end() :]
    test = _test(rest, frozenset())
    nouns = test.ref.nouns if test else _nouns(rest.replace("`", ""))
    if not nouns:
        return None
    number, how = _number(counted[2]), (counted[1] or "").lower()
    tests = (test,) if test else ()
    if number == 0:
        return Count(nouns, tests, 0, 0)
    if how in {"fewer than", "less than"}:
        return Count(nouns, tests, 0, number - 1)
    if how in {"only", "exactly"}:
        return Count(nouns, tests, number, number)
    return Count(nouns, tests, number + (how == "more than"))


def _test(clause: str, before: frozenset[str]) -> Test | None:
    marks = list(_TICKED.finditer(clause))
    # In "groups of `get_user` have `grants`" the first only says whose answer is meant.
    field = next(
        (each for each in marks[:-1] if not _POINTS.search(clause, 0, each.start())), marks[-1] if marks else None
    )
    if field is None:
        return None
    ahead, behind = clause[: field.start()], clause[field.end() :]
    name, nouns, tools = _dotted(field[1])
    nouns |= _nouns(ahead)
    if of := _OF.match(behind):
        nouns |= _nouns(of[1].strip("`"))
        behind = behind[of.end() :]
    tools |= {each[1] for each in _TICKED.finditer(ahead)} | ({of[1].strip("`")} if of and "`" in of[1] else set())
    if not nouns or _FOLLOWS.match(ahead.strip() or "it"):
        nouns = nouns | before
    return _operated(Ref(name, frozenset(nouns), frozenset(tools)), behind.strip())


def _operated(ref: Ref, text: str) -> Test | None:
    if _REQUESTER.search(text) and (found := _IS.match(text)):
        return Test(ref, "self", negated=bool(found[1]))
    simple: tuple[tuple[re.Pattern[str], Operator], ...] = (
        (_EMPTY, "empty"),
        (_SET, "set"),
        (_FUTURE, "future"),
        (_PAST, "past"),
    )
    for pattern, operator in simple:
        if pattern.match(text):
            return Test(ref, operator)
    return _aged(ref, text) or _measured(ref, text) or _compared(ref, text)


def _aged(ref: Ref, text: str) -> Test | None:
    for pattern, operator in ((_OLDER, "older"), (_NEWER, "newer")):
        if (found := pattern.match(text)) and (age := _AGE.search(text, found.end())):
            count = int(age[1]) if age[1].isdigit() else max(1, _NUMBERS.get(age[1].lower(), 1))
            seconds = count * _SECONDS[age[2].lower()]
            return Test(ref, "older" if operator == "older" else "newer", age=timedelta(seconds=seconds))
    return None


def _measured(ref: Ref, text: str) -> Test | None:
    """`at least 3` is not below 3."""
    forms: tuple[tuple[re.Pattern[str], Operator, bool], ...] = (
        (_ABOVE, "above", False),
        (_LEAST, "below", True),
        (_BELOW, "below", False),
        (_MOST, "above", True),
    )
    for pattern, operator, negated in forms:
        if found := pattern.match(text):
            rest = text[found.end() :]
            if other := _other(rest):
                return Test(ref, operator, other=other, negated=negated)
            figure = _FIGURE.search(rest.replace(",", ""))
            return Test(ref, operator, number=float(figure[0]), negated=negated) if figure else None
    return None


def _compared(ref: Ref, text: str) -> Test | None:
    if found := _HAS.match(text):
        return _against(ref, "has", text[found.end() :], negated=bool(found[1]))
    if found := _WITHIN.match(text):
        return _against(ref, "within", text[found.end() :], negated=bool(found[1]))
    if found := _SAME_AS.match(text):
        return _against(ref, "is", text[found.end() :], negated=bool(found[1]), strictly=False)
    found = _IS.match(text)
    rest = text[found.end() :] if found else text
    return _against(ref, "is", rest, negated=bool(found and found[1]), strictly=True)


def _against(ref: Ref, operator: Operator, text: str, *, negated: bool, strictly: bool = False) -> Test | None:
    """With values, or with another field. `is `x`` means the value x; `is the release's `x`` means a field."""
    values = tuple(each[1] for each in _TICKED.finditer(text))
    other = _other(text) if not strictly or re.match(r"(?:the|its|their)\b", text.strip()) else None
    if not values:
        bare = [word for word in _BARE.findall(text) if word.lower() not in {"or", "a", "an", "the"}]
        values = (bare[0],) if bare else ()
    return Test(ref, operator, values, other, negated=negated) if values or other else None


def _other(text: str) -> Ref | None:
    found = _TICKED.search(text)
    if found is None:
        return None
    name, nouns, tools = _dotted(found[1])
    ahead = text[: found.start()]
    return Ref(name, frozenset(nouns | _nouns(ahead)), frozenset(tools))


def _dotted(name: str) -> tuple[str, set[str], set[str]]:
    """`account.status` says of what it is a field."""
    owner, _, last = name.strip().rpartition(".")
    return spelled(last), {stem(word) for word in words(owner)}, {owner} if owner else set()


def _nouns(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS and len(word) > 2)


def _nouns_of(condition: Condition) -> frozenset[str]:
    if isinstance(condition, Test | Same):
        return condition.ref.nouns
    return condition.nouns if isinstance(condition, Count) else frozenset()


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS.get(word.lower(), 0)
