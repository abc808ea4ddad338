"""Which units of pages answer a question, and how surely.

By the question's terms, each weighed by how rare it is among the passages and compared by meaning where the words
differ, by the meaning of the whole, and by the order in which the search gave the passages. The best of these are
read as sentences, by a model that takes words in their order. A unit that lacks a code, a number or a name of the
question is no answer, however well the rest fits.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gaby.llm.embeddings.embed import Embed
from gaby.mind.exactness import eligible
from gaby.mind.languages import language_of
from gaby.mind.page_units import PageUnit, page_units
from gaby.mind.question_terms import (
    asked_terms,
    called_terms,
    content_terms,
    every_word,
    exact_tokens,
    is_light,
    marked_names,
    telling_terms,
)
from gaby.mind.questions import TicketQuestion
from gaby.mind.situations import FoundPassage
from gaby.mind.term_similarity import TermSimilarity
from gaby.mind.words import STOP_WORDS, words

_MOST_UNITS = 300
_READ = 1500
"""Characters of a unit that are compared."""
_ELSEWHERE = 0.75
"""What a term counts for that only the headings have."""
_ON_THE_PAGE = 0.35
"""What a term counts for that stands in other units of the passage."""
_MANY_UNITS = 30
_NAME_WEIGHT = 1.5
_NO_SUCH_NAME = 3.0
"""What a name counts for that no passage has."""
_LIGHT_WEIGHT = 0.3
_BEFORE_WEIGHT = 0.5
"""What a term counts for that the question points back to."""
_MEANT = 0.5
_TITLE = 0.2
_CONTEXT_WEIGHT = 0.15
"""What a term counts for that the ticket tells beside its question."""
_SHORTLIST = 16
"""How many units are read as sentences. More finds hardly more."""
_SENTENCE_READ = 1000
_SIMILARITY = 1.9
"""What the similarity of a unit to the whole ticket counts for, where it is above the usual."""
USUAL_SIMILARITY = 0.25


@dataclass(frozen=True)
class UnitCandidate:
    """A unit with the passage it stands in."""

    unit: PageUnit
    citation: str
    title: str
    rank: int
    around: str
    """The whole passage."""

    @property
    def page(self) -> str:
        return self.citation.partition("#")[0]

    @property
    def context(self) -> str:
        return " . ".join((self.title, *self.unit.headings, self.unit.lead))

    @cached_property
    def own_tokens(self) -> set[str]:
        return exact_tokens(f"{self.context} {self.unit.label} {self.unit.text}")


@dataclass(frozen=True)
class RankedUnit:
    candidate: UnitCandidate
    score: float
    is_eligible: bool = True
    """It lacks no code, number or name of the question."""
    is_exact: bool = False
    """The question gives a code or a number, and this unit has it."""


def candidates(passages: Sequence[FoundPassage]) -> list[UnitCandidate]:
    unit_candidates = [
        UnitCandidate(unit, passage.citation, passage.title, rank, passage.text)
        for rank, passage in enumerate(passages)
        for unit in page_units(passage.text)
        if unit.kind != "code"
    ]
    return unit_candidates[:_MOST_UNITS]


class UnitMatcher:
    """The questions of a ticket held against all units at once."""

    def __init__(
        self, ticket: str, asked: Sequence[TicketQuestion], among: Sequence[UnitCandidate], embed: Embed
    ) -> None:
        self.among = among
        self._embed = embed
        self._language = language_of("\n".join(f"{each.context}\n{each.question}" for each in asked))
        self._own = {id(each): self._terms(f"{each.unit.label} {each.unit.text}") for each in among}
        self._context = {id(each): self._terms(each.context) for each in among}
        self._around = {each.citation: self._terms(each.around) for each in among}
        known = Counter(term for each in among for term in self._own[id(each)] | self._context[id(each)])
        # Among a handful of units rarity means little.
        self._spread = min(1.0, len(among) / _MANY_UNITS)
        self._known = known
        all_text = " ".join(f"{each.question} {each.before} {each.context}" for each in asked)
        pages = " ".join(dict.fromkeys(f"{each.title} {each.around}" for each in among))
        self._near = TermSimilarity(all_text, pages, embed)
        self._words = every_word(pages)
        texts = [_plain(f"{each.context} {each.unit.label} {each.unit.text[:_READ]}") for each in among]
        self._vectors = np.asarray(embed(texts), dtype=np.float64) if texts else np.zeros((0, 1))
        self._fitting = {each: eligible(each, among) for each in asked}
        self._lexical = {each: self._lexical_scores(each) for each in asked}
        self._similarity: dict[int, float] = {}
        self._question_similarity: dict[tuple[TicketQuestion, int], float] = {}
        self._read_sentences(ticket, asked)

    def _terms(self, text: str) -> frozenset[str]:
        return frozenset(content_terms(text, self._language))

    def weights(self, asked: TicketQuestion) -> dict[str, float]:
        """The terms of a question and of what it points back to, by how much each says."""
        weights_by_term = dict.fromkeys(asked_terms(asked.before, self._language), _BEFORE_WEIGHT)
        weights_by_term |= dict.fromkeys(asked_terms(asked.question, self._language), 1.0)
        named = called_terms(asked.question)
        return {
            term: weight
            * self._rarity(term)
            * (_LIGHT_WEIGHT if is_light(term) else 1.0)
            * (1.0 if term not in named else _NAME_WEIGHT if self._near.best(term) else _NO_SUCH_NAME)
            for term, weight in weights_by_term.items()
        }

    def _rarity(self, term: str) -> float:
        size = len(self.among)
        rare = math.log((1 + size) / (1 + self._known[term])) / math.log(2 + size)
        return 1 + self._spread * (rare - 0.5)

    def ranked(self, asked: TicketQuestion) -> list[RankedUnit]:
        """The best first, and behind them those that lack what must be matched exactly."""
        fitting, is_exact = self._fitting[asked]
        ranked_units = [
            RankedUnit(
                each,
                score + _SIMILARITY * max(0.0, self.similarity(each) - USUAL_SIMILARITY),
                id(each) in fitting,
                is_exact and id(each) in fitting,
            )
            for each, score in zip(self.among, self._lexical[asked], strict=True)
        ]
        return sorted(ranked_units, key=lambda each: (not each.is_eligible, -each.score))

    def similarity(self, candidate: UnitCandidate) -> float:
        """The cosine of a unit and the whole ticket, both read as sentences; of units that were not read none."""
        return self._similarity.get(id(candidate), 0.0)

    def question_similarity(self, asked: TicketQuestion, candidate: UnitCandidate) -> float:
        """The same of one question alone. Who asks only one asks it with the whole ticket."""
        return self._question_similarity.get((asked, id(candidate)), self.similarity(candidate))

    def _read_sentences(self, ticket: str, asked: Sequence[TicketQuestion]) -> None:
        best = np.array(list(self._lexical.values())).max(axis=0) if self._lexical else np.zeros(len(self.among))
        order: list[int] = np.argsort(-best, kind="stable")[:_SHORTLIST].tolist()
        chosen = [self.among[place] for place in order]
        several = list(asked) if len(asked) > 1 else []
        questions = [" ".join(f"{each.before} {each.question}".split()) for each in several]
        whole, *vectors = self._embed.sentences([ticket[:_READ], *questions, *map(_sentence, chosen)])
        for each, vector in zip(chosen, vectors[len(several) :], strict=True):
            self._similarity[id(each)] = float(whole @ vector)
            for one, meant in zip(several, vectors, strict=False):
                self._question_similarity[one, id(each)] = float(meant @ vector)

    def _lexical_scores(self, asked: TicketQuestion) -> list[float]:
        weights = self.weights(asked)
        title = dict.fromkeys(telling_terms(asked.title, self._language), 1.0)
        context_weights = {term: 1.0 for term in asked_terms(asked.context, self._language) if term not in weights}
        whole = _plain(f"{asked.context} {asked.before} {asked.question}"), _plain(f"{asked.before} {asked.question}")
        asks = np.asarray(self._embed(list(whole)), dtype=np.float64)
        close = np.maximum(self._vectors @ asks[0], self._vectors @ asks[1])
        scores: list[float] = []
        for each, near in zip(self.among, close, strict=True):
            own = self._share(weights, lambda term, each=each: self._near.to(term, self._own[id(each)]))
            covered = self.covered(weights, [each])
            context_share = self._share(context_weights, lambda term, each=each: self._by_itself(term, [each]))
            called = self._share(title, lambda term, each=each: self._by_itself(term, [each]))
            scores.append(
                _TITLE * called
                + 0.3 * own
                + 0.5 * covered
                + 0.5 * float(near)
                + _CONTEXT_WEIGHT * context_share
                + 0.15 / (1 + each.rank)
            )
        return scores

    def has_unknown_name(self, asked: TicketQuestion) -> bool:
        """It speaks of something by a name such as `SAP` that no passage has."""
        return not marked_names(asked.question) <= self._words

    def names(self, asked: TicketQuestion, label: str) -> bool:
        """Whether a question speaks of what a label says."""
        called = self._terms(label)
        return any(self._near.to(term, called) >= _MEANT for term in telling_terms(asked.question, self._language))

    def covered(self, weights: Mapping[str, float], by: Collection[UnitCandidate]) -> float:
        """How much of a question some units say, with their headings and, less, with the rest of their passages."""
        around = frozenset[str]().union(*(self._around[each.citation] for each in by))
        return self._share(
            weights, lambda term: max(self._by_itself(term, by), _ON_THE_PAGE * self._near.to(term, around))
        )

    def _by_itself(self, term: str, by: Collection[UnitCandidate]) -> float:
        own = frozenset[str]().union(*(self._own[id(each)] for each in by))
        context = frozenset[str]().union(*(self._context[id(each)] for each in by))
        return max(self._near.to(term, own), _ELSEWHERE * self._near.to(term, context))

    def _share(self, weights: Mapping[str, float], of: Callable[[str], float]) -> float:
        whole = sum(weights.values())
        return sum(weight * of(term) for term, weight in weights.items()) / whole if whole else 0.0


def _sentence(candidate: UnitCandidate) -> str:
    """A unit with the heading and the sentence above it."""
    unit = candidate.unit
    heading = unit.headings[-1] if unit.headings else candidate.title
    return " ".join(f"{heading}. {unit.lead} {unit.text[:_SENTENCE_READ]}".split())


def _plain(text: str) -> str:
    return " ".join(word for word in words(text) if word not in STOP_WORDS)
