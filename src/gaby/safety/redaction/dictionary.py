"""The people a ticket is about: their names, addresses and numbers, found again wherever they stand."""

import re
from collections.abc import Collection, Iterable, Iterator
from email.utils import parseaddr
from typing import Self

from pydantic import BaseModel

from gaby.safety.redaction.normalized_text import FOLDED, INVISIBLE, NormalizedText, lower
from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import Kind, SpanCertainty, TextSpan

_WORD = re.compile(r"[^\W_]+")
_SHORTEST_PART = 3
_SHORTEST_PHONE = 7
_GAP = r"[\W_]{1,3}"

# Parts of names that are ordinary words too: alone they are no one's name.
_ORDINARY_WORDS = """
account admin all amber and angel any april art august author autumn baker bank banks baron bell best bill bishop
black boy brook brooks brown bush can carter case cash chance chase chip christian church clay client cliff company
cook cross crystal customer dad dawn day days dean del den der did dollar dos drew drum duke dusty earl east faith
field fields fisher for frank friday gates gene get gold good grace green guy harmony has her hill him his honor
hope horn how hunter info iris its ivy jasmine joy june justice key keys king knight lake las let liberty lily
little lock long los love major man mark mason max may melody miles miller mom monday new nickel noble north not now
old olive one our out page parker pat patience pearl penny porter post potter power powers price prince put ray
reader reed rich rivers rob root roots rose ruby rush sales say see service sharp she short silver sky small smith
south spring star steel stone storm street strong sue summer sunday sunny support swift tailor taylor team test the
too turner two use user van violet von walker wall ward was way week west white who will winter wise wood woods
writer you young
"""
ORDINARY_WORDS = frozenset(_ORDINARY_WORDS.split())
_LONGEST_NAME = 200
_ASIDE = re.compile(r"\([^)]{0,80}\)|\[[^\]]{0,80}\]|\b(?:via|from|at|c/o)\b.{0,120}|,? (?:dr|phd|md|mba|jr|sr)\b\.?|"
                    r"\b(?:mr|mrs|ms|dr|prof|herr|frau|mme|m)\b\.?(?= )", re.IGNORECASE)  # fmt: skip
_ROLES = """
support helpdesk service desk info sales admin administrator team noreply reply billing contact office hello mailer
daemon postmaster root webmaster notifications alerts accounts hr it security help customer care
"""
_ROLE = frozenset(_ROLES.split())
"""Addresses and display names of a function, not of a person."""


class KnownPerson(BaseModel, frozen=True):
    names: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    phones: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()


class Dictionary:
    """Whole words, whatever their case. A name is also known by each of its parts."""

    def __init__(self, people: Iterable[KnownPerson] = ()) -> None:
        self._by_first_word: dict[str, set[tuple[Kind, str]]] = {}
        self._first_words: set[str] = set()
        self._phones: dict[str, set[str]] = {}
        for person in people:
            self._learn(person)

    @classmethod
    def of_people(cls, *, names: Iterable[str] = (), emails: Iterable[str] = (), phones: Iterable[str] = ()) -> Self:
        """From what a ticket says of its people: display names (`Lovelace, Ada`, `Ada Lovelace via Support`), mail
        headers (`"Ada Lovelace" <ada@acme.example>`) and addresses, whose local part often is the name."""
        return cls(person for given in (*names, *emails) for person in _people(given)).with_phones(phones)

    def with_phones(self, phones: Iterable[str]) -> Self:
        self._learn(KnownPerson(phones=tuple(phones)))
        return self

    def learn_values(self, values: Iterable[str]) -> bool:
        """Values that somebody called personal, whatever they look like. Whether any was new."""
        before = sum(map(len, self._by_first_word.values()))
        for value in values:
            if words := _words(value):
                self._add("personal", words)
        return sum(map(len, self._by_first_word.values())) > before

    def find(self, sight: ScannedText) -> Iterator[TextSpan]:
        for word in self._first_words & sight.words:
            for kind, pattern in self._by_first_word[word]:
                for match in re.finditer(pattern, sight.low):
                    yield TextSpan(match.start(), match.end(), kind, SpanCertainty.SURE)
        if self._phones:
            yield from self._find_phones(sight)

    def finder(self, kinds: Collection[Kind]) -> "_DictionaryDetector | None":
        """To look only for what a profile asks for; nothing when nothing is known."""
        return _DictionaryDetector(self, kinds) if self._by_first_word or self._phones else None

    def _learn(self, person: KnownPerson) -> None:
        for name in person.names:
            words = _words(name)
            if len(words) > 1:
                self._add("name", words)
            for part in words:
                if len(part) >= _SHORTEST_PART and part not in ORDINARY_WORDS and part.isalpha():
                    self._add("name", [part])
        for email in person.emails:
            self._add("email", _words(email))
        for account in person.accounts:
            self._add("account", _words(account))
        for phone in person.phones:
            digits = "".join(_words(phone)).lstrip("0")
            if len(digits) >= _SHORTEST_PHONE and digits.isdigit():
                self._phones.setdefault(digits[-_SHORTEST_PHONE:], set()).add(digits)

    def _add(self, kind: Kind, words: list[str]) -> None:
        if sum(map(len, words)) >= _SHORTEST_PART:
            pattern = rf"(?<![^\W_]){_GAP.join(words)}(?![^\W_])"
            self._first_words.add(words[0])
            self._by_first_word.setdefault(words[0], set()).add((kind, pattern))

    def _find_phones(self, sight: ScannedText) -> Iterator[TextSpan]:
        for run in sight.runs:
            digits = run.digits.lstrip("0")
            known = self._phones.get(digits[-_SHORTEST_PHONE:], ())
            if any(phone.endswith(digits) for phone in known):
                start = run.start - (sight.text[run.start - 1 : run.start] in {"+", "("})
                yield TextSpan(start, run.end, "phone", SpanCertainty.SURE)


class _DictionaryDetector:
    def __init__(self, dictionary: Dictionary, kinds: Collection[Kind]) -> None:
        self._dictionary = dictionary
        self._kinds = kinds

    def __call__(self, sight: ScannedText) -> Iterator[TextSpan]:
        return (span for span in self._dictionary.find(sight) if span.kind in self._kinds)


def _people(given: str) -> Iterator[KnownPerson]:
    """One for each person that a display name or an address tells of."""
    shown, address = parseaddr(given[:_LONGEST_NAME])
    name = shown if "@" in address else given[:_LONGEST_NAME]
    person = _ASIDE.sub(" ", name).strip(" \"'")
    if person and "@" not in person and not _ROLE & set(_words(person)):
        yield KnownPerson(names=(person,))
    if "@" in address:
        local = address.partition("@")[0].partition("+")[0]
        parts = [part for part in _words(local) if part.isalpha()]
        # `ada.lovelace` is a name, and so is `ada`; `adalovelace99` is known as a whole address only.
        named = " ".join(parts) if len(parts) > 1 and not _ROLE & set(parts) else ""
        yield KnownPerson(emails=(address,), names=(named,) if named else ())


def _words(text: str) -> list[str]:
    reading = NormalizedText(text).without(INVISIBLE).translated(FOLDED)
    return _WORD.findall(lower(reading.text))
