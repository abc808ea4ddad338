"""The people a ticket is about: their names, addresses and numbers, found again wherever they stand."""

import re
from collections.abc import Collection, Iterable, Iterator

from pydantic import BaseModel

from gaby.safety.redaction.reading import COMPATIBLE, FOLDED, INVISIBLE, Reading, lower
from gaby.safety.redaction.sight import Sight
from gaby.safety.redaction.spans import Certainty, Kind, Span

_WORD = re.compile(r"[^\W_]+")
_NOT_A_WORD = bytes(
    byte if byte >= 128 or chr(byte).isalnum() else 32 for byte in range(256)
)  # Bytes of letters beyond ASCII stay.
_SHORTEST_PART = 3
_SHORTEST_PHONE = 7
_GAP = r"[\W_]{1,3}"

# Parts of names that are ordinary words too: alone they are no one's name.
ORDINARY_WORDS = frozenset(
    """
    the and for not you all any can her was one our out day get has him his how man new now old see two way who boy did
    its let put say she too use dad mom test user admin customer support client account company team service sales info
    will mark grace may june april august rose bill art hope joy page case chase young long short white black brown green
    king price rich frank guy pat drew sue miles dean faith ray max van der von den del las los dos rob gene earl major
    duke prince baron bishop cook baker carter mason hunter fisher miller smith taylor tailor walker porter parker potter
    turner ward wood woods field fields hill brook brooks stone banks bank bush cross church street rivers lake north
    south east west summer winter autumn spring monday friday sunday christian chance chip cliff clay crystal dawn dusty
    ivy iris jasmine lily olive pearl ruby violet amber sky storm star sunny angel honor justice liberty patience penny
    melody harmony reed root roots post rush sharp small strong swift best good love little wise noble power powers cash
    dollar nickel gold silver steel wall gates key keys lock bell horn drum reader writer author day days week knight
    """.split()
)


class KnownPerson(BaseModel, frozen=True):
    names: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    phones: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()


class Dictionary:
    """Whole words, whatever their case. A name is also known by each of its parts."""

    def __init__(self, people: Iterable[KnownPerson] = ()) -> None:
        self._by_first_word: dict[bytes, set[tuple[Kind, str]]] = {}
        self._phones: dict[str, set[str]] = {}
        for person in people:
            self._learn(person)

    def find(self, sight: Sight) -> Iterator[Span]:
        words = sight.low.encode("utf-8", "surrogatepass").translate(_NOT_A_WORD).split()
        if not self._by_first_word.keys().isdisjoint(words):
            for word in self._by_first_word.keys() & set(words):
                for kind, pattern in self._by_first_word[word]:
                    for found in re.finditer(pattern, sight.low):
                        yield Span(found.start(), found.end(), kind, Certainty.SURE)
        if self._phones:
            yield from self._find_phones(sight)

    def finder(self, kinds: Collection[Kind]) -> "_Wanted | None":
        """To look only for what a profile asks for; nothing when nothing is known."""
        return _Wanted(self, kinds) if self._by_first_word or self._phones else None

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
        if words:
            pattern = rf"(?<![^\W_]){_GAP.join(words)}(?![^\W_])"
            self._by_first_word.setdefault(words[0].encode("utf-8", "surrogatepass"), set()).add((kind, pattern))

    def _find_phones(self, sight: Sight) -> Iterator[Span]:
        for run in sight.runs:
            digits = run.digits.lstrip("0")
            known = self._phones.get(digits[-_SHORTEST_PHONE:], ())
            if any(phone.endswith(digits) for phone in known):
                start = run.start - (sight.text[run.start - 1 : run.start] in {"+", "("})
                yield Span(start, run.end, "phone", Certainty.SURE)


class _Wanted:
    def __init__(self, dictionary: Dictionary, kinds: Collection[Kind]) -> None:
        self._dictionary = dictionary
        self._kinds = kinds

    def __call__(self, sight: Sight) -> Iterator[Span]:
        return (span for span in self._dictionary.find(sight) if span.kind in self._kinds)


def _words(text: str) -> list[str]:
    reading = Reading(text).without(INVISIBLE).translated(COMPATIBLE).translated(FOLDED)
    return _WORD.findall(lower(reading.text))
