"""Which unit of which page answers a question, and how surely.

By the question's terms, each weighed by how rare it is among the passages and compared by meaning where the words
differ, by the meaning of the whole, and by the order in which the search gave the passages. A unit that lacks a code, a
number or a name of the question is no answer, however well the rest fits.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gaby.llm.embeddings.embed import Embed
from gaby.mind.languages import language_of
from gaby.mind.page_units import PageUnit, page_units
from gaby.mind.question_terms import (
    Name,
    asked_terms,
    codes,
    content_terms,
    every_word,
    exact_tokens,
    marked_names,
    names,
    numbered,
)
from gaby.mind.situations import Found
from gaby.mind.words import STOP_WORDS, words

_CAPITALISES = "German"
"""Every noun has a capital letter, which so makes no name."""
_MOST_UNITS = 300
_READ = 1500
"""Characters of a unit that are compared."""
_ALIKE, _SAME = 0.5, 0.85
"""Cosines of two words: below the first they have nothing to do with each other, above the second they are the same."""
_ELSEWHERE = 0.75
"""What a term counts for that only the headings have."""
_ON_THE_PAGE = 0.35
"""What a term counts for that stands in other units of the passage."""
_MANY_UNITS = 30
_NAME_WEIGHT = 1.5
_UNKNOWN_WEIGHT = 0.8
_EXACT = 0.5
_STEEPNESS, _EVEN = 6.0, 0.86
_NEAR_ENOUGH = 0.42
_DOUBTFUL = 0.5
_TOLD_BEFORE = 0.15
"""What a term counts for that the ticket tells beside its question."""


@dataclass(frozen=True)
class Asked:
    question: str
    told: str = ""
    """What else the ticket says: its title, and what stands before the question."""


@dataclass(frozen=True)
class Candidate:
    """A unit with the passage it stands in."""

    unit: PageUnit
    citation: str
    title: str
    rank: int
    around: str
    """The whole passage."""

    @property
    def context(self) -> str:
        return " . ".join((self.title, *self.unit.headings, self.unit.lead))

    @cached_property
    def own_tokens(self) -> set[str]:
        return exact_tokens(f"{self.context} {self.unit.label} {self.unit.text}")


@dataclass(frozen=True)
class Ranked:
    candidate: Candidate
    score: float
    signs: "Signs"
    is_eligible: bool = True
    """It lacks no code, number or name of the question."""
    is_exact: bool = False
    """The question gives a code or a number, and this unit has it."""

    @property
    def certainty(self) -> float:
        """Between 0 and 1: how surely it answers. How the limits were chosen stands in decision 33."""
        if not self.is_eligible:
            return 0.0
        fit = self.signs.covered + self.signs.close - _UNKNOWN_WEIGHT * self.signs.unknown + _EXACT * self.is_exact
        sure = 1 / (1 + math.exp(-_STEEPNESS * (fit - _EVEN)))
        return round(sure if self.signs.close >= _NEAR_ENOUGH or self.is_exact else min(sure, _DOUBTFUL), 3)


class Signs(NamedTuple):
    """Each between 0 and 1."""

    own: float
    """How much of the question the unit says by itself."""
    covered: float
    """The same with its headings and, less, with the rest of its passage."""
    close: float
    """How near it is in meaning."""
    told: float
    """How much it says of what is told beside the question."""
    unknown: float
    """How much of the question no passage says."""
    rank: float


def candidates(passages: Sequence[Found]) -> list[Candidate]:
    found = [
        Candidate(unit, passage.citation, passage.title, rank, passage.text)
        for rank, passage in enumerate(passages)
        for unit in page_units(passage.text)
        if unit.kind != "code"
    ]
    return found[:_MOST_UNITS]


def ranked(asked: Asked, among: Sequence[Candidate], embed: Embed) -> list[Ranked]:
    """The best first, and behind them those that lack what must be matched exactly."""
    if not among:
        return []
    needed = _needed(asked, among)
    eligible = {id(each) for each in _named(asked, [each for each in among if needed <= each.own_tokens])}
    match = _Match(asked, among, embed)
    found = [match.ranked(each, is_eligible=id(each) in eligible, is_exact=bool(needed)) for each in among]
    return sorted(found, key=lambda each: (not each.is_eligible, -each.score))


def _needed(asked: Asked, among: Sequence[Candidate]) -> set[str]:
    """Codes, and numbers and ids that the pages tell apart: `error 809` where the items of a list are called errors."""
    text = f"{asked.told}\n{asked.question}"
    labelled = {word for each in among for word, _ in numbered(f"{each.unit.label}\n{' '.join(each.unit.headings)}")}
    given = {each for each in exact_tokens(text) if not each.isdigit()}
    return (
        codes(text)
        | {number for word, number in numbered(text) if word in labelled}
        | {each for each in given if any(each in other.own_tokens for other in among)}
    )


def _named(asked: Asked, among: Sequence[Candidate]) -> list[Candidate]:
    """Only the pages that have the names of the question, where any page has them; a name that is told beside the
    question counts where pages are called by it."""
    if language_of(asked.question) == _CAPITALISES:
        return list(among)
    known = every_word("\n".join({f"{each.title}\n{each.around}" for each in among}))
    if not marked_names(asked.question) <= known:
        return []
    pages = {each.citation: names(f"{each.title}\n{each.around}") for each in among}
    called = {each.citation: names(f"{each.title}\n{chr(10).join(each.unit.headings)}") for each in among}
    left = list(among)
    for name, of_pages in (
        *((each, pages) for each in names(asked.question)),
        *((each, called) for each in names(asked.told)),
    ):
        having = _pages_with(name, of_pages)
        if having or (of_pages is pages and _is_another(name, pages)):
            left = [each for each in left if each.citation in having]
    return left


def _is_another(name: Name, pages: Mapping[str, set[Name]]) -> bool:
    """No page has the name, and pages have others of its kind: asked about the Blue Account, they tell of the Green
    Account."""
    return len(name) > 1 and any(len(each) > 1 and each[-1] == name[-1] for known in pages.values() for each in known)


def _pages_with(name: Name, of_pages: Mapping[str, set[Name]]) -> set[str]:
    """By the whole name; else by one that goes on after it, as `Gold Account` does after `Gold`."""
    whole = {citation for citation, known in of_pages.items() if name in known}
    return whole or {
        citation for citation, known in of_pages.items() if any(each[: len(name)] == name for each in known)
    }


class _Match:
    """The terms of a question held against all units at once."""

    def __init__(self, asked: Asked, among: Sequence[Candidate], embed: Embed) -> None:
        language = language_of(f"{asked.told}\n{asked.question}")

        def terms(text: str) -> frozenset[str]:
            return frozenset(content_terms(text, language))

        self._own = {id(each): terms(f"{each.unit.label} {each.unit.text}") for each in among}
        self._context = {id(each): terms(each.context) for each in among}
        self._around = {each.citation: terms(each.around) for each in among}
        known = Counter(term for each in among for term in self._own[id(each)] | self._context[id(each)])
        self._asked = dict.fromkeys(asked_terms(asked.question, language), 1.0)
        told = dict.fromkeys(asked_terms(asked.told, language), 1.0)
        self._told = {term: 1.0 for term in told if term not in self._asked}
        # Among a handful of units rarity means little.
        spread = min(1.0, len(among) / _MANY_UNITS)
        self._rarity = {
            term: 1 + spread * (math.log((1 + len(among)) / (1 + known[term])) / math.log(2 + len(among)) - 0.5)
            for term in (*self._asked, *self._told)
        }
        for term in {term for name in names(asked.question) for word in name for term in content_terms(word)}:
            if term in self._rarity:
                self._rarity[term] *= _NAME_WEIGHT
        self._near = _Nearness([*self._asked, *self._told], set(known).union(*self._around.values()), embed)
        self._unknown = self._share(self._asked, lambda term: 1.0 - self._near.best(term))
        whole = _plain(f"{asked.told} {asked.question}"), _plain(asked.question)
        texts = [_plain(f"{each.context} {each.unit.label} {each.unit.text[:_READ]}") for each in among]
        vectors = np.asarray(embed([*whole, *texts]), dtype=np.float64)
        close = np.maximum(vectors[2:] @ vectors[0], vectors[2:] @ vectors[1])
        self._close = {id(each): float(value) for each, value in zip(among, close, strict=True)}

    def ranked(self, candidate: Candidate, *, is_eligible: bool, is_exact: bool) -> Ranked:
        own, context = self._own[id(candidate)], self._context[id(candidate)]
        around = self._around[candidate.citation]

        def by_itself(term: str) -> float:
            return max(self._near.to(term, own), _ELSEWHERE * self._near.to(term, context))

        def with_page(term: str) -> float:
            return max(by_itself(term), _ON_THE_PAGE * self._near.to(term, around))

        own_share = self._share(self._asked, lambda term: self._near.to(term, own))
        covered = self._share(self._asked, with_page)
        told = self._share(self._told, by_itself)
        close = self._close[id(candidate)]
        signs = Signs(own_share, covered, close, told, self._unknown, 1 / (1 + candidate.rank))
        score = 0.3 * own_share + 0.5 * covered + 0.5 * close + _TOLD_BEFORE * told + 0.15 * signs.rank
        return Ranked(candidate, score, signs, is_eligible, is_exact and is_eligible)

    def _share(self, terms: Mapping[str, float], of: Callable[[str], float]) -> float:
        whole = sum(self._rarity[term] for term in terms)
        return sum(self._rarity[term] * of(term) for term in terms) / whole if whole else 0.0


class _Nearness:
    """How near each term of the question is to the words of a unit: the same, alike in meaning, or not at all."""

    def __init__(self, asked: Sequence[str], known: set[str], embed: Embed) -> None:
        self._known = known
        self._places = {term: place for place, term in enumerate(sorted(known))}
        self._near: dict[str, NDArray[np.float64]] = {}
        if asked and known:
            vectors = np.asarray(embed([*asked, *self._places]), dtype=np.float64)
            table = vectors[: len(asked)] @ vectors[len(asked) :].T
            scaled = np.clip((table - _ALIKE) / (_SAME - _ALIKE), 0.0, 0.9)
            self._near = dict(zip(asked, scaled, strict=True))

    def to(self, term: str, told: frozenset[str]) -> float:
        if term in told:
            return 1.0
        row = self._near.get(term)
        places = [self._places[each] for each in told if each in self._places]
        return float(row[places].max()) if row is not None and places else 0.0

    def best(self, term: str) -> float:
        row = self._near.get(term)
        return 1.0 if term in self._known else float(row.max()) if row is not None and len(row) else 0.0


def _plain(text: str) -> str:
    return " ".join(word for word in words(text) if word not in STOP_WORDS)
