"""How well a value of a certain kind suits a parameter, by the parameter's format, name and description."""

import re
from collections.abc import Iterable

from gaby.mind.arguments.slots import ParameterSlot
from gaby.mind.entities import Entity, EntityKind
from gaby.mind.words import stem, stems

_FORMATS: dict[str, tuple[EntityKind, ...]] = {
    "email": ("email",),
    "idn-email": ("email",),
    "uri": ("url",),
    "url": ("url",),
    "iri": ("url",),
    "uri-reference": ("url", "path"),
    "hostname": ("host",),
    "idn-hostname": ("host",),
    "ipv4": ("ip",),
    "ipv6": ("ip",),
    "ip": ("ip",),
    "uuid": ("uuid",),
    "date": ("date",),
    "date-time": ("date",),
    "time": ("time",),
    "phone": ("phone",),
}
_NAMES: dict[EntityKind, str] = {
    "email": "email mail mailbox recipient sender upn cc bcc requester",
    "url": "url uri link href endpoint callback website webpage webhook",
    "host": "host hostname server domain machine fqdn node instance",
    "ip": "ip ipv4 ipv6",
    "uuid": "uuid guid",
    "id": "id ids identifier number reference key ticket order invoice case",
    "error_code": "error exception errno fault status",
    "date": "date day since until start end begin after before due deadline timestamp time month",
    "time": "time hour clock",
    "money": "amount price total sum cost currency fee",
    "version": "version release build firmware",
    "username": "user username login uid samaccountname account logon principal member assignee",
    "path": "path file filename folder directory filepath log",
    "phone": "phone telephone mobile msisdn fax",
    "quantity": "",
    "quoted": "",
}
_KINDS_OF: dict[str, set[EntityKind]] = {}
for _kind, _listed in _NAMES.items():
    for _word in _listed.split():
        _KINDS_OF.setdefault(stem(_word), set()).add(_kind)

_MAIL_WORDS = stems("email mail address")
_PREFIX = re.compile(r"([A-Za-z]{1,10})[-_]")
_ID_WORDS = frozenset({"id", "ids", "identifier", "number", "no", "ref", "key", "uuid", "guid", "serial"})
_NUMBERED = stems("ticket case issue order request invoice incident task bug job number")
"""What people write with a # before its number."""
_KNOWN = stems(
    "order invoice ticket customer user account charge device incident payment transaction subscription refund project "
    "case group endpoint webhook contract booking request parcel"
)
_NOT_CENTS = stems("cent cents minor pence")
_UNIT_WORDS = {
    stem(word): unit
    for unit, listed in {
        "%": "percent percentage",
        "MB": "mb megabytes",
        "GB": "gb gigabytes",
        "millisecond": "ms milliseconds",
        "second": "second seconds secs sec",
        "minute": "minute minutes mins min",
        "hour": "hour hours hrs",
        "day": "day days",
        "week": "week weeks",
        "month": "month months",
        "year": "year years",
        "user": "users people",
        "seat": "seats licenses licences",
        "device": "devices",
        "request": "requests",
        "row": "rows records",
        "item": "items quantity",
    }.items()
    for word in listed.split()
}

SURE, LIKELY, PLAUSIBLE, POSSIBLE, NONE = 0.9, 0.8, 0.6, 0.4, 0.0


def affinity(slot: ParameterSlot, entity: Entity) -> float:
    """Between 0 and 1."""
    if slot.format in _FORMATS:
        return SURE if entity.kind in _FORMATS[slot.format] else NONE
    if entity.kind in {"id", "uuid"}:
        return _of_id(slot, entity)
    if entity.kind == "quantity":
        return _of_quantity(slot, entity)
    if entity.kind == "money":
        return _of_money(slot)
    if entity.kind == "error_code":
        return _of_code(slot, entity)
    return _by_words(slot, entity.kind)


def _stands_for(prefix: str, noun: str) -> bool:
    """`INV` for invoice, `usr` for user, `tkt` for ticket: its letters, in order, from the first."""
    rest = iter(noun)
    return prefix[0].lower() == noun[0] and all(character in rest for character in prefix.lower())


def _by_words(slot: ParameterSlot, kind: EntityKind) -> float:
    named = _kinds_of(slot.words)
    if kind in named:
        # `user_email` is an e-mail and not a user: the last word says what it is.
        last = next(kinds for word in reversed(slot.words) if (kinds := _KINDS_OF.get(word)))
        return SURE if kind in last else POSSIBLE
    says = set(slot.described)
    said_kinds = _kinds_of(says)
    if kind == "email" and "username" in named:
        return LIKELY if not says.isdisjoint(_MAIL_WORDS) else POSSIBLE
    if named - {"id"}:
        return NONE
    return PLAUSIBLE if kind in said_kinds else NONE


def _kinds_of(terms: Iterable[str]) -> set[EntityKind]:
    return {kind for term in terms for kind in _KINDS_OF.get(term, ())}


def _of_id(slot: ParameterSlot, entity: Entity) -> float:
    """By what the text calls it, or else by its prefix. A number that names something else is never taken."""
    nouns = slot.nouns
    if entity.label:
        return SURE if entity.label == "id" or not stems(entity.label).isdisjoint(nouns) else NONE
    if entity.kind == "uuid" and _by_words(slot, "uuid"):
        return SURE
    if not _wants_id(slot):
        return NONE
    if not nouns:
        return PLAUSIBLE
    if entity.value.startswith("#"):
        return PLAUSIBLE if not _NUMBERED.isdisjoint(nouns) else NONE
    return _by_prefix(entity.value, nouns)


def _by_prefix(value: str, nouns: Iterable[str]) -> float:
    prefix = _PREFIX.match(value)
    if prefix is None:
        return POSSIBLE
    if any(_stands_for(prefix[1], noun) for noun in nouns):
        return SURE if len(prefix[1]) > 1 else PLAUSIBLE
    return NONE if any(_stands_for(prefix[1], noun) for noun in _KNOWN) else POSSIBLE


def _wants_id(slot: ParameterSlot) -> bool:
    last = slot.words[-1] if slot.words else ""
    return last in _ID_WORDS or _by_words(slot, "id") >= LIKELY or not _KNOWN.isdisjoint(slot.words[-1:])


def _of_quantity(slot: ParameterSlot, entity: Entity) -> float:
    named = {_UNIT_WORDS[word] for word in slot.words if word in _UNIT_WORDS}
    units = {_UNIT_WORDS[word] for word in slot.described if word in _UNIT_WORDS}
    if named:
        return SURE if entity.label in named else NONE  # Hours are not turned into minutes.
    return LIKELY if entity.label in units else NONE


def _of_money(slot: ParameterSlot) -> float:
    if not _NOT_CENTS.isdisjoint((*slot.words, *slot.described)):
        return NONE
    return _by_words(slot, "money")


def _of_code(slot: ParameterSlot, entity: Entity) -> float:
    is_status = entity.normal is not None and entity.normal.isdigit()
    if slot.is_number:
        says_status = any(word in {stem("status"), "http", "error", "code"} for word in slot.words)
        return LIKELY if is_status and says_status else NONE
    named = slot.words == ("code",) or any(
        word in {"error", stem("exception"), "errno", "fault"} for word in slot.words
    )
    return LIKELY if named else _by_words(slot, "error_code")
