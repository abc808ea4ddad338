"""Conditions of a runbook: "`locked_at` is set", "two charges have the same `payment_request`".

A clause speaks of a field in backticks. The words before it say of what: "the account's `status`". Every word of a
clause has to be understood; where one is not, there is no condition, and `ConditionError` says why.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from gaby.mind.runbooks.field_refs import FieldRef, Nouns, dotted, nouns_in, number_of
from gaby.mind.runbooks.operators import OPERATORS, FieldPredicate, Operator
from gaby.mind.words import spelled

__all__ = [
    "Condition",
    "ConditionError",
    "CountCondition",
    "FieldRef",
    "FieldTest",
    "RequesterKnown",
    "SameValue",
    "alternatives",
]


class ConditionError(ValueError):
    """Why a condition is not understood, and what to write."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.why, self.hint = why, hint


@dataclass(frozen=True)
class FieldTest:
    """One record must have a field that is so."""

    ref: FieldRef
    operator: Operator
    values: tuple[str, ...] = ()
    other: FieldRef | None = None
    """Another field that it is compared with."""
    number: float = 0.0
    age: timedelta = timedelta()
    negated: bool = False
    words: str = ""


@dataclass(frozen=True)
class SameValue:
    """Several records have the same value in a field."""

    ref: FieldRef
    least: int = 2
    words: str = ""


@dataclass(frozen=True)
class CountCondition:
    """There are so many records; with tests, of those that pass them."""

    nouns: Nouns
    tests: tuple[FieldTest, ...]
    least: int = 1
    most: int | None = None
    """0: there is none."""
    tools: frozenset[str] = frozenset()
    words: str = ""


@dataclass(frozen=True)
class RequesterKnown:
    """Whether the requester is somebody whom the company knows."""

    known: bool
    words: str = ""


Condition = FieldTest | SameValue | CountCondition | RequesterKnown

_LONGEST = 1000
_WORDS = r"[A-Za-z][A-Za-z'’\-]{0,40}(?: [A-Za-z][A-Za-z'’\-]{0,40}){0,7}"
_TICKED = r"`[^`\n]{1,100}`"
_OR_IF = re.compile(r",?\s+or\s+(?:if|when)\s+")
_AND = re.compile(r",?\s+and\s+(?:if\s+|that\s+|when\s+)?")
_HOW_MANY = (
    r"(?:there (?:is|are) )?(?:(?P<how>at least|at most|more than|fewer than|less than|only|exactly) )?"
    r"(?P<number>no|none|[0-9]{1,6}|one|two|three|four|five|several)(?: or (?P<more>more))?(?: of)?(?: the)?"
)
_SAME = re.compile(
    rf"(?:{_HOW_MANY} )?(?P<nouns>{_WORDS}?)(?: whose (?P<field>{_TICKED}) is (?P<value>{_TICKED}))?"
    rf" (?:have|has|share|with) the same (?P<same>{_TICKED})",
    re.IGNORECASE,
)
_COUNT = re.compile(
    rf"{_HOW_MANY} (?P<nouns>{_WORDS}?)(?: (?:of|in|from) (?P<tool>{_TICKED}))?"
    rf"(?: (?:have|has|with|whose) (?P<test>`.*))?",
    re.IGNORECASE | re.DOTALL,
)
_TEST = re.compile(
    rf"(?P<subject>{_WORDS} )?(?P<field>{_TICKED})"
    rf"(?: (?:of|in|from) (?:(?P<tool>{_TICKED})|(?P<of>(?:the|a|an|any|each|this|that|their|its) {_WORDS}?)))?"
    rf" (?P<operation>(?:is|are|was|were|has|have|does|do|lies|=|contains?|mentions?|includes?|names?|`|[0-9]).*)",
    re.IGNORECASE | re.DOTALL,
)
_FOLLOWS = re.compile(r"(?:whose|its|their|with|which|that|it|they)\b", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"(?:nobody|no one|no user|no person|no account|no customer) (?:there )?has the requester['’]s "
    r"(?:e-?mail )?address|"
    r"the requester is (?:unknown|not known)|the requester['’]s (?:e-?mail )?address is (?:unknown|not known)",
    re.IGNORECASE,
)
_HINT = "write it as ``a device's `status` is `offline` ``; the guide has a table of all forms"


def alternatives(text: str) -> list[tuple[Condition, ...]]:
    """The conditions of an `if`: one of the groups must hold, as a whole."""
    if len(text) > _LONGEST:
        raise ConditionError(f"the condition is longer than {_LONGEST} characters", "divide it into several causes")
    if text.count("`") % 2:
        raise ConditionError("a backtick is not closed")
    groups: list[tuple[Condition, ...]] = []
    for part in _cut(text, _OR_IF):
        group: list[Condition] = []
        before: Nouns = frozenset()
        for clause in _cut(part, _AND):
            conditions = [replace(each, words=clause) for each in _conditions(clause, before)]
            group += conditions
            before = _nouns_of(conditions[0]) or before
        groups.append(tuple(group))
    return groups


def _cut(text: str, at: re.Pattern[str]) -> Iterator[str]:
    """Where it is not between two backticks."""
    begin = 0
    for cut in at.finditer(text):
        if text.count("`", 0, cut.start()) % 2 == 0:
            yield text[begin : cut.start()].strip(" ,.")
            begin = cut.end()
    yield text[begin:].strip(" ,.")


def _conditions(clause: str, before: Nouns) -> list[Condition]:
    if not clause:
        raise ConditionError("a part of the condition is empty")
    if _UNKNOWN.fullmatch(clause):
        return [RequesterKnown(known=False)]
    if "`" not in clause and not _COUNT.fullmatch(clause):
        raise ConditionError(f"“{clause[:80]}” names no field in backticks", _HINT)
    if same := _SAME.fullmatch(clause):
        return _same(same, before)
    if (counted := _COUNT.fullmatch(clause)) and (counted["test"] or "`" not in counted["nouns"]):
        return [_count(counted)]
    return [_test(clause, before)]


def _same(match: re.Match[str], before: Nouns) -> list[Condition]:
    nouns = nouns_in(match["nouns"]) or before
    least = max(2, number_of(match["number"])) if match["number"] else 2
    same: list[Condition] = [SameValue(FieldRef(spelled(match["same"].strip("`")), nouns), least)]
    if match["field"]:
        ref = FieldRef(spelled(match["field"].strip("`")), nouns)
        same.append(FieldTest(ref, "is", (match["value"].strip("`"),)))
    return same


def _count(match: re.Match[str]) -> CountCondition:
    nouns = nouns_in(match["nouns"])
    if not nouns:
        raise ConditionError(
            "nothing says what is counted", "write ``at least 3 logins have `reason` `bad_password` ``"
        )
    tools = frozenset({match["tool"].strip("`")} if match["tool"] else ())
    tests: tuple[FieldTest, ...] = ()
    if match["test"]:
        test = _test(match["test"], nouns)
        ref = replace(test.ref, nouns=test.ref.nouns or nouns, tools=test.ref.tools | tools, implied=False)
        tests = (replace(test, ref=ref),)
    number, how = number_of(match["number"]), (match["how"] or "").lower()
    least, most = {
        "fewer than": (0, number - 1),
        "less than": (0, number - 1),
        "at most": (0, number),
        "only": (number, number),
        "exactly": (number, number),
        "more than": (number + 1, None),
    }.get(how, (number, 0 if number == 0 else None))
    return CountCondition(nouns, tests, least, most, tools)


def _test(clause: str, before: Nouns) -> FieldTest:
    match = _TEST.fullmatch(clause)
    if match is None:
        raise ConditionError(f"“{clause[:120]}” is not understood", _HINT)
    name, nouns, tools = dotted(match["field"].strip("`"))
    subject = (match["subject"] or "").strip()
    said = nouns_in(subject) | nouns_in(match["of"] or "")
    nouns |= said
    if match["tool"]:
        tools |= {match["tool"].strip("`")}
    implied = not nouns
    if implied or _FOLLOWS.match(subject or "it"):
        nouns |= before
    operation = _operation(match["operation"].strip())
    return FieldTest(
        FieldRef(name, frozenset(nouns), frozenset(tools), implied),
        operation.operator,
        operation.values,
        operation.other,
        operation.number,
        operation.age,
        operation.negated,
    )


def _operation(text: str) -> FieldPredicate:
    for pattern, read in OPERATORS:
        if (match := pattern.fullmatch(text)) and (operation := read(match)) is not None:
            return operation
    hint = "put values in backticks: is `active`" if re.fullmatch(r"(?:is|are)(?: not)? [\w \-]{1,60}", text) else _HINT
    raise ConditionError(f"“{text[:120]}” is not understood behind the field", hint)


def _nouns_of(condition: Condition) -> Nouns:
    if isinstance(condition, FieldTest | SameValue):
        return condition.ref.nouns
    return condition.nouns if isinstance(condition, CountCondition) else frozenset()
