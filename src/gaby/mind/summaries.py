"""Summaries made only of what the sources say: sentences copied from them, each with the sources it came from."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gaby.llm.embeddings.embed import Embed
from gaby.mind.bm25 import Bm25Ranker
from gaby.mind.fields import FieldStatement, NamedField, statements
from gaby.mind.states import TROUBLE
from gaby.mind.synonyms import widened
from gaby.mind.words import stem, terms, words


@dataclass(frozen=True)
class SummaryPassage:
    citation: str
    text: str


@dataclass(frozen=True)
class CitedSentence:
    text: str
    citations: tuple[str, ...]
    released: bool = False
    """A runbook of the company says that the requester is told this."""


@dataclass(frozen=True)
class ExtractiveSummary:
    sentences: tuple[CitedSentence, ...]


@dataclass(frozen=True)
class _Piece:
    text: str
    citations: tuple[str, ...]
    is_record: bool


_READ = 4000
_MOST_PIECES = 1500
_FIELDS_TOGETHER = 5
_BY_WORDS = 0.55
_TROUBLE_WEIGHT = 0.12
_RECORD_WEIGHT = 0.05
_ENOUGH = 0.3
_ENOUGH_ADDED = 0.2
_SHARE_OF_BEST = 0.25
"""What is less than this share of the best sentence says something else."""
_NEWNESS = 0.3
_OTHERS = 0.15
_FOLLOWED = 2
_LEAD = 0.4
_COUNTED = 4
_UNHEARD = 0.7
_OWN_WEIGHT = 0.5
_AROUND = 0.2


def summarise(
    question: str, passages: Sequence[SummaryPassage], embed: Embed, max_sentences: int = 5
) -> ExtractiveSummary:
    """The most fitting first. Empty when nothing in the passages has to do with the question."""
    pieces = _merged(piece for passage in passages for piece in _pieces(passage, question))[:_MOST_PIECES]
    if not pieces or max_sentences <= 0 or not terms(question):
        return ExtractiveSummary(())
    vectors = np.asarray(embed([question[:_READ], *(piece.text for piece in pieces)]), dtype=np.float64)
    fit = _fit(question[:_READ], pieces, vectors[1:] @ vectors[0])
    picked = _picked(fit, vectors[1:], pieces, max_sentences)
    return ExtractiveSummary(tuple(CitedSentence(pieces[place].text, pieces[place].citations) for place in picked))


def _pieces(passage: SummaryPassage, question: str) -> Iterator[_Piece]:
    asked = set(terms(question[:_READ]))
    for statement in statements(passage.text):
        if statement.text:
            yield _Piece(statement.text, (passage.citation,), is_record=False)
        for group in _groups(statement, asked):
            group_text = ", ".join(field.text for field in group)
            text = f"{statement.subject}: {group_text}" if statement.subject else group_text
            yield _Piece(text, (passage.citation,), is_record=True)


def _groups(statement: FieldStatement, asked: set[str]) -> Iterator[list[NamedField]]:
    """The fields of a thing, those that matter together and first, each group in the order in which it was given."""
    places = sorted(range(len(statement.fields)), key=lambda place: -_weight(statement.fields[place], asked))
    for start in range(0, len(places), _FIELDS_TOGETHER):
        yield [statement.fields[place] for place in sorted(places[start : start + _FIELDS_TOGETHER])]


def _weight(field: NamedField, asked: set[str]) -> float:
    field_terms = set(terms(field.text))
    return len(field_terms & asked) + 1.5 * bool(field_terms & TROUBLE) - 0.01 * len(field.value)


def _merged(pieces: Iterator[_Piece]) -> list[_Piece]:
    """What several sources say in the same words is said once, with all of them."""
    merged: dict[str, _Piece] = {}
    for piece in pieces:
        key = " ".join(words(piece.text))
        if (same := merged.get(key)) is None:
            merged[key] = piece
        elif piece.citations[0] not in same.citations:
            merged[key] = _Piece(same.text, (*same.citations, *piece.citations), same.is_record)
    return list(merged.values())


def _fit(question: str, pieces: Sequence[_Piece], close: NDArray[np.float64]) -> NDArray[np.float64]:
    """Between 0 and about 1: by the share of the question's words, by meaning, a little by whether it tells of
    trouble."""
    piece_terms = [frozenset(terms(piece.text)) for piece in pieces]
    ranker = Bm25Ranker([sorted(each) for each in piece_terms])
    asked = dict.fromkeys(terms(question), 1.0)
    shares = _shares(piece_terms, ranker, widened(asked, [stem(word) for word in words(question)]), asked)
    trouble = np.array([not TROUBLE.isdisjoint(each) for each in piece_terms])
    records = np.array([piece.is_record for piece in pieces])
    near = np.clip((close - 0.15) / 0.6, 0.0, 1.0)
    matter = _BY_WORDS * shares + (1 - _BY_WORDS) * near
    fit = matter + (matter > 0.1) * (_TROUBLE_WEIGHT * trouble + _RECORD_WEIGHT * records)
    fit += _AROUND * _of_sources(pieces, fit)
    best = [int(place) for place in np.argsort(-fit, kind="stable")[:_FOLLOWED] if fit[place] >= _ENOUGH]
    # What the best of them speak of leads on: a rule says that suspended accounts are silent, a record says suspended.
    led_to = {term: 1.0 for place in best for term in piece_terms[place] if term not in asked}
    if led_to:
        lead = _LEAD * _shares(piece_terms, ranker, led_to, led_to, _FOLLOWED)
        lead[best] = 0.0
        fit += lead + (lead > 0.1) * _TROUBLE_WEIGHT * trouble
    return fit


def _of_sources(pieces: Sequence[_Piece], fit: NDArray[np.float64]) -> NDArray[np.float64]:
    """How well the best piece of the same source fits: a sentence is understood from those around it."""
    best: dict[str, float] = {}
    for piece, value in zip(pieces, fit, strict=True):
        for citation in piece.citations:
            best[citation] = max(best.get(citation, 0.0), float(value))
    around = np.array([max(best[citation] for citation in piece.citations) for piece in pieces])
    return np.where((around >= _ENOUGH) & (fit < around), around, 0.0)


def _shares(
    piece_terms: Sequence[frozenset[str]],
    ranker: Bm25Ranker,
    asked: Mapping[str, float],
    own: Mapping[str, float],
    counted: int = _COUNTED,
) -> NDArray[np.float64]:
    """How much of what is asked each piece speaks of. Words that none of them has count against all of them."""
    # Among a handful of pieces rarity means little, so every word has some weight of its own.
    known = {term: weight * (_OWN_WEIGHT + ranker.rarity(term)) for term, weight in asked.items() if ranker.knows(term)}
    if not known:
        return np.zeros(len(piece_terms))
    top = sorted(known.values(), reverse=True)[:counted]
    unknown = min(counted, sum(not ranker.knows(term) for term in own))
    whole = sum(top) + _UNHEARD * unknown * sum(top) / len(top)
    return np.array([min(1.0, sum(known.get(term, 0.0) for term in each) / whole) for each in piece_terms])


def _picked(fit: NDArray[np.float64], vectors: NDArray[np.float64], pieces: Sequence[_Piece], limit: int) -> list[int]:
    """One after the other: the one that fits best, repeats least, and comes from another source."""
    if float(fit.max()) < _ENOUGH:
        return []
    least = max(_ENOUGH_ADDED, _SHARE_OF_BEST * float(fit.max()))
    open_ones = [int(place) for place in np.argsort(-fit, kind="stable") if fit[place] >= least]
    picked: list[int] = []
    said = np.zeros(len(fit))
    cited: Counter[str] = Counter()
    while open_ones and len(picked) < limit:
        worth = {
            place: fit[place] - _NEWNESS * said[place] - _OTHERS * cited[pieces[place].citations[0]]
            for place in open_ones
        }
        best = max(open_ones, key=lambda place: (worth[place], -place))
        picked.append(best)
        open_ones.remove(best)
        cited.update(pieces[best].citations)
        said = np.maximum(said, np.clip(vectors @ vectors[best], 0.0, 1.0))
    return picked
