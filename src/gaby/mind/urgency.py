"""How urgent a ticket is: what the examples teach, raised or lowered by what the ticket says outright."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from gaby.mind.entities import Entity
from gaby.mind.ticket_features import TicketFeatures

Urgency = Literal["low", "medium", "high", "critical"]
URGENCIES: tuple[Urgency, ...] = ("low", "medium", "high", "critical")

_PRODUCTION = re.compile(r"\b(?:production|prod|live system|live site|prod-[a-z0-9]+|env=prod\w*)\b", re.IGNORECASE)
_GONE = re.compile(
    r"\b(?:down|outage|unreachable|not reachable|offline|failing|broken|rejected|lost|stopped|stands still|"
    r"5[0-9]{2})\b",
    re.IGNORECASE,
)
_RANKED_FIRST = re.compile(r"\b(?:p1|prio(?:rity)? ?1|sev(?:erity)?[- ]?[01])\b", re.IGNORECASE)
_DEADLINE = re.compile(
    r"\b(?:within (?:the|an|one|[0-9]{1,2}) ?(?:hours?|minutes?)|in (?:an|one|two|[0-9]{1,2}) ?(?:hours?|minutes?|"
    r"mins?)|"
    r"by (?:noon|tonight|end of day|eod|[0-9]{1,2}(?::[0-9]{2})? ?(?:am|pm))|before (?:noon|[0-9]{1,2}(?::[0-9]{2})?)|"
    r"this hour|end of (?:the )?day|(?:deadline|due|closes|expires|ends|starts|needed?|must|until|"
    r"stopped) .{0,30}today)\b",
    re.IGNORECASE,
)
_LOUD = re.compile(
    r"\b(?:urgent|urgently|asap|immediately|emergency|at once|right now|right away|critical)\b", re.IGNORECASE
)
_NOT = re.compile(r"\b(?:not|no|isn't|nothing) (?:very |that |so )?(?:urgent|critical|rush|hurry)\b", re.IGNORECASE)
_DANGER_TO_LIFE = re.compile(
    r"\b(?:patients?|ambulance|operation|surgery|safety|alarm system|injur\w+|fire brigade)\b", re.IGNORECASE
)
_CROWD = 10
_CROWD_UNITS = frozenset({"user", "device"})
_CALM_INTENTS = frozenset({"spam", "feedback", "how_to", "other"})
_BROKEN_INTENTS = frozenset({"outage", "access", "bug", "integration", "security"})


class UrgencyRule(NamedTuple):
    at_least: Urgency | None
    at_most: Urgency | None
    reason: str


def decide(form: TicketFeatures, intent: str, learned: Urgency) -> tuple[Urgency, list[str]]:
    """The level, and why it differs from the learned one."""
    level = URGENCIES.index(learned)
    reasons: list[str] = []
    for rule in _rules(form, intent):
        if rule.at_least and level < URGENCIES.index(rule.at_least):
            level = URGENCIES.index(rule.at_least)
            reasons.append(rule.reason)
        if rule.at_most and level > URGENCIES.index(rule.at_most):
            level = URGENCIES.index(rule.at_most)
            reasons.append(rule.reason)
    return URGENCIES[level], reasons


def _rules(form: TicketFeatures, intent: str) -> Iterator[UrgencyRule]:
    """In order: what lowers comes before what raises, so that a fire in a calm letter is still a fire."""
    is_calm = form.says("no_hurry") or _NOT.search(form.text) is not None
    if is_calm:
        yield UrgencyRule(None, "medium", "It says that there is no hurry.")
    if intent in _CALM_INTENTS:
        yield UrgencyRule(None, "medium", "Nothing is broken.")
    is_broken = intent in _BROKEN_INTENTS
    if is_broken and _is_crowd(form):
        yield UrgencyRule("high", None, "Many are affected.")
    if intent == "security" and form.says("danger"):
        yield UrgencyRule("medium", None, "It is about security.")
    if is_broken and _RANKED_FIRST.search(form.text):
        yield UrgencyRule("critical", None, "It is ranked first by its writer.")
    if is_broken and _PRODUCTION.search(form.text) and _GONE.search(form.text):
        yield UrgencyRule("critical", None, "Production is down.")
    if intent == "outage" and _is_crowd(form) and _DANGER_TO_LIFE.search(form.text):
        yield UrgencyRule("critical", None, "People's safety depends on it.")
    if intent not in _CALM_INTENTS and not is_calm:
        yield from _pressing(form, is_broken=is_broken)


def _pressing(form: TicketFeatures, *, is_broken: bool) -> Iterator[UrgencyRule]:
    if _DEADLINE.search(form.text):
        yield UrgencyRule("high", None, "There is a deadline within hours.")
    elif _LOUD.search(form.text):
        yield UrgencyRule("high" if is_broken else "medium", None, "It asks for help at once.")


def _is_crowd(form: TicketFeatures) -> bool:
    return form.says("everybody") or any(map(_counts_many, form.entities))


def _counts_many(entity: Entity) -> bool:
    if entity.kind != "quantity" or entity.label not in _CROWD_UNITS or entity.normal is None:
        return False
    return float(entity.normal) >= _CROWD
