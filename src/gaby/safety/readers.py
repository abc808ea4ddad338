"""Readers: who may be shown a value. Every value has its readers; what is put together keeps those of all its parts."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from gaby.safety.addresses import canonical_identity
from gaby.safety.value_match import occurrences, same_case
from gaby_connectors.sdk.manifest import Audience


@dataclass(frozen=True)
class Reader:
    """Somebody whom a text would reach."""

    kind: Literal["staff", "verified", "stranger"]
    address: str = ""
    """Whose mailbox it is, for somebody who was verified."""

    @property
    def in_words(self) -> str:
        match self.kind:
            case "staff":
                return "colleagues"
            case "verified":
                return self.address or "the requester"
            case "stranger":
                return f"{self.address}, who was not verified" if self.address else "somebody who was not verified"


STAFF_READER = Reader("staff")


@dataclass(frozen=True)
class Readers:
    """Who may be shown one value: everybody of an audience, and its owners whatever that is."""

    audience: Audience = Audience.STAFF
    owners: frozenset[str] = frozenset()
    """Canonical addresses."""

    def allow(self, reader: Reader) -> bool:
        if reader.kind == "staff" or self.audience is Audience.PUBLIC:
            return True
        if reader.kind == "stranger":
            return False
        return self.audience is Audience.CUSTOMERS or canonical_identity(reader.address) in self.owners


STAFF_ONLY = Readers()
EVERYBODY = Readers(Audience.PUBLIC)


def owned_by(*addresses: str) -> Readers:
    return Readers(owners=frozenset(map(canonical_identity, addresses)))


@dataclass(frozen=True)
class Disclosure:
    """Something that a text would tell a reader who may not know it."""

    source: str
    """In a person's words: `the result of directory.find_user`."""
    reader: str
    value: str = ""
    """The value itself, where it is known; otherwise whoever wrote the text had seen the whole source."""


@dataclass(frozen=True)
class _ReaderValues:
    common: frozenset[str]
    """The words of pages that the reader may open."""
    closed: tuple[tuple[str, str, str], ...]
    """Source, value and the value in one case, of each that the reader may not know."""


@dataclass
class ReadingRecord:
    """What one run has read, and who may be told of it. Nothing that was entered is ever taken out."""

    _sources: dict[str, set[Readers]] = field(default_factory=dict[str, set[Readers]])
    _values: dict[str, list[tuple[str, Readers]]] = field(default_factory=dict[str, list[tuple[str, Readers]]])
    _texts: list[tuple[str, str, Readers]] = field(default_factory=list[tuple[str, str, Readers]])
    _by_reader: dict[Reader, _ReaderValues] = field(default_factory=dict[Reader, _ReaderValues])
    """Derived from the above, so that every placeholder of a long text is not a pass over all that was read."""

    def read(self, source: str, readers: Iterable[Readers]) -> None:
        """A source as a whole."""
        self._sources.setdefault(source, set()).update(readers)

    def read_value(self, source: str, value: str, readers: Readers) -> None:
        self._sources.setdefault(source, set()).add(readers)
        if len(value) >= _TELLING:
            self._by_reader.clear()
            known = self._values.setdefault(value, [])
            if (source, readers) not in known:
                known.append((source, readers))

    def read_text(self, source: str, text: str, readers: Readers) -> None:
        """A page of the company's own: it may be read to understand, and quoted only to its readers."""
        if (source, text, readers) not in self._texts:
            self._by_reader.clear()
            self._texts.append((source, text, readers))

    def quoted_in(self, text: str, reader: Reader) -> list[Disclosure]:
        """Pages that this reader may not see and that a text repeats: a run of their words, or a value of theirs."""
        closed = [each for each in self._texts if not each[2].allow(reader)]
        if not closed:
            return []
        known = " ".join(page for _, page, readers in self._texts if readers.allow(reader))
        runs = set(_runs(text)) - set(_runs(known))
        values = _telling_words(text) - _telling_words(known)
        disclosures: list[Disclosure] = []
        for source, page, _ in closed:
            repeated = chain(sorted(values & _telling_words(page)), (run for run in _runs(page) if run in runs))
            if (value := next(repeated, None)) is not None:
                disclosures.append(Disclosure(source, reader.in_words, value))
        return disclosures

    def unreadable(self, reader: Reader) -> list[Disclosure]:
        """The sources of which this reader may not be told everything."""
        return [
            Disclosure(source, reader.in_words)
            for source, all_readers in self._sources.items()
            if not all(readers.allow(reader) for readers in all_readers)
        ]

    def disclosures(self, text: str, reader: Reader, cited: Collection[str] = ()) -> list[Disclosure]:
        """What a text that rules put together tells of places where this reader may not look.

        A source that is closed to the reader as a whole is told of by citing it; of a source that is open in part, the
        values count that are found nowhere else.
        """
        closed = [
            Disclosure(source, reader.in_words)
            for source, all_readers in self._sources.items()
            if source in cited and not any(readers.allow(reader) for readers in all_readers)
        ]
        known = {each.source for each in closed}
        closed += [
            Disclosure(source, reader.in_words)
            for source in dict.fromkeys(name for name, _, readers in self._texts if not readers.allow(reader))
            if source in cited and source not in known
        ]
        folded, known_to = same_case(text), self._values_of(reader)
        values = [
            Disclosure(source, reader.in_words, value)
            for source, value, in_one_case in known_to.closed
            if _tells(folded, in_one_case, known_to.common)
        ]
        return closed + values

    def _values_of(self, reader: Reader) -> _ReaderValues:
        if (known := self._by_reader.get(reader)) is None:
            pages = [page for _, page, readers in self._texts if readers.allow(reader)]
            known = self._by_reader[reader] = _ReaderValues(
                common=frozenset(word for page in pages for word in _WORD.findall(same_case(page))),
                closed=tuple(
                    (places[0][0], value, same_case(value))
                    for value, places in self._values.items()
                    if not any(readers.allow(reader) for _, readers in places)
                ),
            )
        return known

    def owned_by_others(self, text: str, reader: Reader) -> list[Disclosure]:
        """Values in a text that a system says are somebody else's, and that this reader sees nowhere else."""
        folded = same_case(text)
        return [
            Disclosure(known[0][0], reader.in_words, value)
            for value, known in self._values.items()
            if any(readers.owners for _, readers in known)
            and not any(readers.allow(reader) for _, readers in known)
            and _tells(folded, same_case(value), ())
        ]


def _runs(text: str) -> list[str]:
    """Every few words in a row, without punctuation and case."""
    words = _WORD.findall(same_case(text))
    return [" ".join(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)]


def _telling_words(text: str) -> set[str]:
    """Addresses, numbers and codes: what nobody says by chance."""
    return {
        word.strip(".,;:!?")
        for word in _VALUE.findall(same_case(text))
        if sum(map(str.isdigit, word)) > 2 or "@" in word
    }


def _tells(text: str, value: str, common: Collection[str]) -> bool:
    """Whether the value stands in the text as a whole. A word that the reader has before them anyway tells nothing."""
    if value in common:
        return False
    places = ((start, start + len(value)) for start in occurrences(text, value))
    return any(not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()) for start, end in places)


_WORD = re.compile(r"[^\W_]+")
_VALUE = re.compile(r"[^\s()<>\[\]{}`\"'|*]+")
_RUN = 6
"""So many words in a row are a quotation; fewer are everybody's."""
_TELLING = 3
"""Shorter values appear in every text by chance."""
