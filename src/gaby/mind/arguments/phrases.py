"""What to search for, where a tool takes words: the most telling value of the text, or else its main sentence."""

from collections.abc import Iterator, Sequence

from gaby.mind.arguments.affinity import LIKELY, PLAUSIBLE
from gaby.mind.arguments.candidates import Candidate
from gaby.mind.arguments.cues import READ
from gaby.mind.arguments.slots import Slot
from gaby.mind.entities import Entity, EntityKind
from gaby.mind.sentences import split
from gaby.mind.telling import telling
from gaby.mind.words import stem, stems

ASKED = stems("query q search term keyword keywords question phrase topic lookup")
_LANGUAGES = stems(
    "sql promql jql kql cypher regex regexp expression expr jsonpath xpath selector statement lucene syntax"
)
_BY_DESCRIPTION: tuple[tuple[EntityKind, tuple[str, ...]], ...] = (
    ("email", ("email", "mail")),
    ("error_code", ("error",)),
    ("host", ("host", "domain", "server")),
    ("username", ("user", "login", "name")),
    ("id", ("id", "number")),
    ("path", ("file", "path")),
)
_TELLING: tuple[EntityKind, ...] = ("error_code", "quoted", "id", "host", "version", "path", "ip")
_LONGEST = 300


def searched(slot: Slot, entities: Sequence[Entity], text: str) -> Iterator[Candidate]:
    """Nothing for a parameter that takes a language: a sentence is no SQL."""
    if ASKED.isdisjoint(slot.words) or not _LANGUAGES.isdisjoint((*slot.words, *slot.described)):
        return
    by_kind: dict[EntityKind, list[Entity]] = {}
    for entity in entities:
        by_kind.setdefault(entity.kind, []).append(entity)
    described = set(slot.described)
    if "domain" in described:
        yield from _domains(by_kind.get("email", ()))
    for kind, listed in _BY_DESCRIPTION:
        if kind in by_kind and not described.isdisjoint(map(stem, listed)):
            yield from (_candidate(entity, LIKELY) for entity in by_kind[kind])
    for rank, kind in enumerate(_TELLING):
        yield from (_candidate(entity, PLAUSIBLE + 0.1 - rank / 100) for entity in by_kind.get(kind, ()))
    yield from _sentence(text)


def _domains(emails: Sequence[Entity]) -> Iterator[Candidate]:
    for entity in emails:
        if (at := entity.value.rfind("@")) >= 0:
            yield Candidate(entity.value[at + 1 :], entity.start + at + 1, entity.end, LIKELY + 0.05, "search")


def _candidate(entity: Entity, score: float) -> Candidate:
    return Candidate(entity.value, entity.start, entity.end, score, "search")


def _sentence(text: str) -> Iterator[Candidate]:
    for sentence in telling(split(text[:READ]))[:1]:
        if len(sentence.text) <= _LONGEST and "\n" not in sentence.text:
            yield Candidate(sentence.text, sentence.start, sentence.end, 0.45, "search")
