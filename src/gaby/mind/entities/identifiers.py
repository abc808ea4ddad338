"""Ids: of tickets, orders, invoices, customers and whatever else a company numbers."""

import re
from collections.abc import Iterator

from gaby.mind.entities.entity import Entity, made_up_words, said_before
from gaby.mind.words import listed

_UUID = re.compile(r"(?<![\w\-])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![\w\-])")
_DASHED = re.compile(r"(?<![\w\-/.#])#?([A-Z][A-Z0-9]{0,9})(?:[-/][A-Z0-9]{1,16}){1,5}+(?![\w/]|-\w)")
_UNDERSCORED = re.compile(
    r"(?<![\w\-/.])[a-z]{2,10}_(?:[a-z]{2,8}_)?(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{2,40}(?![\w\-])"
)
_HASHED = re.compile(r"(?<![\w&#/])#([0-9]{2,15}|[A-Za-z]{1,6}-?[0-9]{1,12})(?![\w\-])")
_SERIAL = re.compile(r"(?<![\w\-/.])(?=[A-Z]{0,28}[0-9])(?=[0-9]{0,28}[A-Z])[A-Z0-9]{8,30}(?![\w\-])")
_CALLED = re.compile(
    r"\b(order|invoice|ticket|case|customer|client|account|acct|transaction|payment|reference|ref|request|subscription|"
    r"contract|booking|reservation|incident|device|serial|imei|tracking|purchase order|po|shipment|parcel|claim|"
    r"policy|member|"
    r"license|licence|quote|change|problem|task|job|charge|refund|tenant|workspace|organi[sz]ation|org|project|"
    r"sku|asset|"
    r"part|article|item|batch|commit|sha|trace|span|session|correlation|deployment|release|build|user|employee|patient|"
    r"site|store|till|terminal|id)"
    r"((?: |-|_)?(?:id|ids|number|numbers|no\.?|nr\.?|num|code|key|ref))?( is |[ ]?[:=#][ ]?#?| |\()[\"'`]?\Z",
    re.IGNORECASE,
)
# Standards, formats and products that have the look of an id.
_NOT_IDS = listed(
    """
    UTF ISO SHA AES RFC TLS SSL HTTP HTTPS COVID WPA USB GPT MP TCP UDP IPV IP MD RSA DES WIFI CPU GPU RAM IEEE DIN
    EN PS H COM LPT VGA RJ RS OAUTH SAML WIN OS PCI B2B A UTC GMT CET CEST EST EDT PST PDT BST
    """
)
_SYNONYMS = {"acct": "account", "ref": "reference", "po": "purchase order", "licence": "license", "org": "organization"}
_DAY = re.compile(r"[0-9]{1,4}[-/][0-9]{1,2}[-/][0-9]{1,4}")
_MONTH = re.compile(r"[0-9]{1,4}[-/][0-9]{1,2}")
_GOES_ON = frozenset("@%:")
_ENOUGH_DIGITS = 3


def find_identifiers(text: str) -> Iterator[Entity]:
    for match in _UUID.finditer(text):
        yield Entity("uuid", match[0], match.start(), match.end(), match[0].lower())
    for match in _DASHED.finditer(text):
        # "A-4" may be a road; with one letter it takes more digits to be a record's number.
        if match[1] not in _NOT_IDS and _digits(match[0]) >= (1 if len(match[1]) > 1 else _ENOUGH_DIGITS):
            yield _id(match[0], match.start())
    for match in _UNDERSCORED.finditer(text):
        yield _id(match[0], match.start())
    for match in _HASHED.finditer(text):
        yield Entity("id", match[0], match.start(), match.end(), match[1])
    for match in _SERIAL.finditer(text):
        if _digits(match[0]) >= _ENOUGH_DIGITS and len(match[0]) - _digits(match[0]) >= 2:
            yield _id(match[0], match.start())
    yield from _called(text)


def _called(text: str) -> Iterator[Entity]:
    """What a word before it makes an id: `order 77120`, `customer no. A-17`, `request id: 8f2c`."""
    for word in made_up_words(text):
        value = word[0].rstrip("-/_.")
        if (
            not _digits(value)
            or not value[0].isalnum()
            or "." in value
            or text[word.end() : word.end() + 1] in _GOES_ON
        ):
            continue
        if announced := said_before(_CALLED, text, word.start()):
            is_announced = bool(announced[2]) or announced[3].strip() in {":", "=", "#", ": #"}
            if _is_id(value, announced[1].lower(), is_announced=is_announced, has_number_word=bool(announced[2])):
                label = announced[1].lower()
                yield _id(value, word.start(), _SYNONYMS.get(label, label))


def _is_id(value: str, label: str, *, is_announced: bool, has_number_word: bool) -> bool:
    if _DAY.fullmatch(value) or (_MONTH.fullmatch(value) and not is_announced):
        return False
    if value.isdigit():
        return is_announced or len(value) >= _ENOUGH_DIGITS
    if label == "user" and not has_number_word:
        return False  # A login, not a record's number.
    return is_announced or _looks_generated(value)


def _looks_generated(value: str) -> bool:
    """Letters and digits mixed as no word is: `A17`, `web-12`, `8f2c`; not `3rd` and not `24h`."""
    if value[0].isdigit():
        return any(map(str.isupper, value)) or _digits(value) >= _ENOUGH_DIGITS
    return True


def _id(value: str, start: int, label: str | None = None) -> Entity:
    return Entity("id", value, start, start + len(value), value.lstrip("#"), label)


def _digits(value: str) -> int:
    return sum(map(str.isdigit, value))
