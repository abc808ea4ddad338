"""Values of the text that could fill a parameter, each with where it stands."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gaby.mind.arguments.affinity import LIKELY, NONE, POSSIBLE, SURE, affinity
from gaby.mind.arguments.slots import Slot
from gaby.mind.changes import VERB_STEMS
from gaby.mind.entities import Entity
from gaby.mind.words import listed, stem, stems

_SPECIFIC = re.compile(r"[A-Za-z0-9]{2}|\\d\{[0-9]")
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FROM = re.compile(r"\b(?:from|since|after|starting|between|beginning)(?: on| the)? ?\Z", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:to|until|till|before|through|and|by|ending|-|–)(?: the)? ?\Z", re.IGNORECASE)
_STARTS = stems("since from start begin after beginning earliest min")
_ENDS = stems("until to end before till latest max")
_STATUS = stems("status code http")
_CURRENCY = frozenset({stem("currency")})
_PERSON = re.compile(
    r"(?<![\w@.])([A-Z][a-zà-öø-ÿ]{1,20})((?: (?:van|von|de|da|del))? [A-Z][a-zà-öø-ÿ'\-]{1,24}){1,2}(?![\w@])"
)
_PERSON_WORDS = stems("name full display fullname displayname person employee contact assignee user customer")
_NOT_NAMES = listed(
    """
    The This That Please Could Can Hello Dear Our My We Your Since After When Error User Order Invoice Ticket Best
    Kind Thank Thanks Many Internal Service Bad Not Too Gateway Server Access Account New Old Hi Hey Good
    """
)
_DIGITS = 15


@dataclass(frozen=True)
class Candidate:
    value: Any
    start: int
    end: int
    score: float
    aspect: str = "whole"
    """Which part of what stands there it is: an amount and its currency stand in the same place."""


def from_entities(slot: Slot, entities: Sequence[Entity], text: str) -> Iterator[Candidate]:
    for entity in entities:
        score = _with_hints(slot, entity, affinity(slot, entity))
        if score > NONE:
            score = min(score, _span_score(slot, entity, text)) if entity.kind == "date" else score
            for value, aspect in _spellings(slot, entity):
                yield Candidate(value, entity.start, entity.end, score, aspect)
    yield from _domains(slot, entities)


def people(slot: Slot, text: str) -> Iterator[Candidate]:
    """Names in capitals, where a name is asked for."""
    words = set(slot.words)
    is_first, is_last = bool(words & {"first", "given"}), bool(words & {"last", "famili", "surnam"})
    if "name" not in words and not is_last and not (words & _PERSON_WORDS and "name" in slot.described):
        return
    if "name" in words and not (words & (_PERSON_WORDS - {"name"}) or len(words) == 1 or is_first or is_last):
        return  # The name of a group or a file is nobody's.
    if slot.is_number:
        return
    for found in _PERSON.finditer(text):
        start, end = found.span()
        if found[1] in _NOT_NAMES or stem(found[1].lower()) in VERB_STEMS:
            start = found.end(1) + 1
            if " " not in text[start:end]:
                continue
        if is_first:
            end = start + len(text[start:end].partition(" ")[0])
        elif is_last:
            start = end - len(found[0].rpartition(" ")[2])
        yield Candidate(text[start:end], start, end, LIKELY if is_first or is_last else 0.65)


def _with_hints(slot: Slot, entity: Entity, score: float) -> float:
    """A pattern or an example can make a value certain whatever the parameter is called."""
    if slot.is_number or slot.format:
        return score
    pattern = slot.schema.get("pattern")
    # Whether it fits is checked later, for every value.
    if isinstance(pattern, str) and _SPECIFIC.search(pattern) and entity.kind not in {"quoted", "date", "time"}:
        score = max(score, LIKELY)
    if any(_shape(example) == _shape(entity.value.lstrip("#")) for example in slot.examples):
        score = max(score, LIKELY)
    return score


def _spellings(slot: Slot, entity: Entity) -> Iterator[tuple[Any, str]]:
    """The ways to write it, the best first; what the schema does not allow is dropped by whoever asked."""
    if entity.kind == "money":
        yield from _money(slot, entity)
    elif slot.is_number:
        yield from ((number, "number") for number in _numbers(entity.plain))
    elif entity.kind in {"date", "time"}:
        yield from ((value, "whole") for value in _days(slot, entity))
    elif entity.kind == "error_code" and any(word in _STATUS for word in slot.words):
        yield entity.plain, "whole"
    elif entity.kind in {"id", "version"} and entity.normal is not None:
        yield entity.normal, "whole"
        yield entity.value, "whole"
    else:
        yield entity.value, "whole"


def _money(slot: Slot, entity: Entity) -> Iterator[tuple[Any, str]]:
    if not _CURRENCY.isdisjoint(slot.words):
        if entity.label:
            yield entity.label, "currency"
            yield entity.label.lower(), "currency"
    elif entity.normal is not None:
        number = entity.normal.partition(" ")[0]
        if slot.is_number:
            yield from ((value, "number") for value in _numbers(number))
        else:
            yield entity.value, "whole"


def _days(slot: Slot, entity: Entity) -> Iterator[str]:
    wants_iso = (
        slot.format is not None or "pattern" in slot.schema or "iso" in slot.described or "yyyi" in slot.described
    )
    if entity.normal is not None and (wants_iso or _ISO_DAY.match(entity.normal)):
        yield entity.normal
        if slot.format == "date" and "T" in entity.normal:
            yield entity.normal.partition("T")[0]
    if slot.format is None:
        yield entity.value


def _numbers(text: str) -> Iterator[int | float]:
    digits = text.lstrip("#")
    if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS:
        yield int(digits)
    elif "." in digits and digits.replace(".", "", 1).isascii() and digits.replace(".", "", 1).isdigit():
        yield float(digits)


def _span_score(slot: Slot, entity: Entity, text: str) -> float:
    """Of a span of time the start is told by `from` and `since`, the end by `to` and `until`."""
    begins, finishes = not _STARTS.isdisjoint(slot.words), not _ENDS.isdisjoint(slot.words)
    if begins == finishes:
        return SURE
    before = text[max(0, entity.start - 16) : entity.start]
    says_from, says_until = bool(_FROM.search(before)), bool(_UNTIL.search(before))
    if says_from == says_until:
        return POSSIBLE + 0.05
    return SURE if says_from == begins else NONE


def _domains(slot: Slot, entities: Sequence[Entity]) -> Iterator[Candidate]:
    """The host of an address or of a link, where a domain or a host is asked for."""
    if slot.is_number or (slot.format not in {None, "hostname"}) or "domain" not in slot.words:
        return
    for entity in entities:
        if entity.kind == "email" and (at := entity.value.rfind("@")) >= 0:
            yield Candidate(entity.value[at + 1 :], entity.start + at + 1, entity.end, LIKELY)


def _shape(value: str) -> str:
    """`INV-2041` and `INV-7` have the same shape, `ORD-77` another."""
    letters = re.sub(r"[0-9]+", "9", value)
    return letters if re.search(r"[0-9]", value) and re.search(r"[A-Za-z]", value) else f"?{value}"
