"""Answers to questions out of the knowledge: what pages say of them, or nothing."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gaby.llm.embeddings.embed import Embed
from gaby.mind.excerpts import PageExcerpt, chosen, entries_by_unit, reply_lines
from gaby.mind.languages import ENGLISH, language_of
from gaby.mind.question_terms import telling_terms
from gaby.mind.questions import (
    TicketQuestion,
    asked_in,
    asks_for_detail,
    asks_for_rules,
    asks_own_state,
    is_plain_question,
    is_question,
    only_asks,
)
from gaby.mind.sentences import split
from gaby.mind.situations import FoundPassage
from gaby.mind.summaries import CitedSentence
from gaby.mind.unit_ranking import RankedUnit, UnitMatcher, candidates

_MOST_PASSAGES = 12
WELL = 0.65
"""From here on a question is answered."""
_SURELY = 0.8
_SIMILARITY, _TERM, _NO_DETAIL, _AHEAD, _CODE, _ALWAYS = 6.9, -0.18, -0.7, 0.8, 1.2, -2.6
"""Weights of the signs. How they were chosen stands in decision 33."""
_DOUBTFUL = 0.5
_OFF_TOPIC = 0.28
"""Below this similarity the quoted entries do not speak of what one of several questions is about."""
_HOME = 0.6
"""A page that fits all questions best answers each that it fits with this share of the best page's score."""
_NEARBY = 0.4
"""Below this a unit has nothing to do with the question, and helps no colleague either."""
WORTH_TELLING = 0.75
"""From here on colleagues are shown it as what the requester can be told."""


@dataclass(frozen=True)
class PageAnswer:
    sentences: tuple[CitedSentence, ...] = ()
    how_well: float = 0.0
    """Between 0 and 1: how surely the sentences answer all that was asked."""
    evidence: tuple[CitedSentence, ...] = ()
    """The units that come nearest, one of each page, the best first, whether or not they answer."""
    is_exact: bool = False
    """The question gives a code, and the answer is about that code."""


@dataclass(frozen=True)
class _AnswerSignals:
    """How surely the quoted entries answer."""

    similarity: float
    """Of the ticket and the quoted unit that is most like it, read as sentences."""
    terms: int
    """Of the questions. The more they say, the more of it the page may not speak of."""
    asks_for_detail: bool
    is_exact: bool
    ahead: float
    """By how much the page that fits best is ahead of the next one."""
    leaves_a_question: bool = False
    """What is quoted does not speak of one of the questions."""

    @property
    def certainty(self) -> float:
        weighed = (
            _ALWAYS
            + _SIMILARITY * self.similarity
            + _TERM * self.terms
            + _NO_DETAIL * (not self.asks_for_detail)
            + _AHEAD * self.ahead
            + _CODE * self.is_exact
        )
        sure = 1 / (1 + math.exp(-weighed))
        return round(min(sure, _DOUBTFUL) if self.leaves_a_question else sure, 3)


def answered(ticket: str, known: PageAnswer) -> float:
    """How surely the answer settles the ticket. Beside trouble a page settles what is asked about its code or about
    rules; what is the case now no page knows."""
    if language_of(ticket) != ENGLISH:
        return known.how_well if known.how_well >= _SURELY and only_asks(ticket) else 0.0
    if asks_own_state(ticket):
        return 0.0
    if is_plain_question(ticket):
        return known.how_well
    settles = known.is_exact or (known.how_well >= WELL and asks_for_rules(ticket))
    return known.how_well if settles and is_question(ticket) else 0.0


def answer(ticket: str, passages: Sequence[FoundPassage], embed: Embed) -> PageAnswer:
    """What the pages say of all the questions of a ticket together, and how surely it answers each of them."""
    among = candidates([each for each in passages if each.text.strip()][:_MOST_PASSAGES])
    asked = asked_in(ticket)
    if not among or not asked:
        return PageAnswer()
    match = UnitMatcher(ticket, asked, among, embed)
    apart = [match.ranked(each) for each in asked]
    by_question = _at_home(apart)
    nearest = _nearest(by_question, match)
    names_another = len(asked) == 1 and match.has_unknown_name(asked[0])
    if names_another or not all(ranked[0].is_eligible for ranked in by_question):
        return PageAnswer(evidence=nearest)
    kept = chosen(asked, by_question, match)
    signs = _signs(ticket, asked, apart, kept, match)
    return PageAnswer(_said(kept), signs.certainty, nearest, signs.is_exact)


def _at_home(by_question: Sequence[Sequence[RankedUnit]]) -> list[list[RankedUnit]]:
    """Who asks several things asks about one: a page that is near to the other questions is nearer to each."""
    if len(by_question) == 1:
        return [list(by_question[0])]
    best = _best_of_pages(by_question)
    whole = _mean(best)
    home = max(whole, key=lambda page: whole[page])
    return [
        sorted(ranked, key=lambda each: (not each.is_eligible, each.candidate.page != home, -each.score))
        if of_pages[home] >= _HOME * max(of_pages.values())
        else list(ranked)
        for ranked, of_pages in zip(by_question, best, strict=True)
    ]


def _best_of_pages(by_question: Sequence[Sequence[RankedUnit]]) -> list[dict[str, float]]:
    """For each question the best score of each page."""
    best: list[dict[str, float]] = []
    for ranked in by_question:
        of_pages: dict[str, float] = {}
        for each in ranked:
            page = each.candidate.page
            of_pages[page] = max(of_pages.get(page, 0.0), each.score * each.is_eligible)
        best.append(of_pages)
    return best


def _mean(best: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {page: sum(each.get(page, 0.0) for each in best) / len(best) for page in best[0]}


def _ahead(by_question: Sequence[Sequence[RankedUnit]]) -> float:
    first, second, *_ = (*sorted(_mean(_best_of_pages(by_question)).values(), reverse=True), 0.0)
    return first - second


def _signs(
    ticket: str,
    asked: Sequence[TicketQuestion],
    by_question: Sequence[Sequence[RankedUnit]],
    kept: Sequence[PageExcerpt],
    match: UnitMatcher,
) -> _AnswerSignals:
    units = {(entry.citation, unit) for entry in kept for unit in entry.units}
    quoted = [each for each in match.among if (each.citation, each.unit) in units]
    whole = max(map(match.similarity, quoted), default=0.0)
    apart = [max((match.question_similarity(each, unit) for unit in quoted), default=0.0) for each in asked]
    return _AnswerSignals(
        max(whole, sum(apart) / len(apart)),
        len({term for each in asked for term in telling_terms(each.question)}),
        asks_for_detail(ticket),
        any(ranked[0].is_exact for ranked in by_question),
        _ahead(by_question),
        len(asked) > 1 and min(apart) < _OFF_TOPIC,
    )


def _said(kept: Sequence[PageExcerpt]) -> tuple[CitedSentence, ...]:
    sentences = (
        CitedSentence(" ".join(part.text.split()), (citation,))
        for line, citation in reply_lines(kept)
        for part in split(line)
    )
    return tuple(dict.fromkeys(sentences))


def _nearest(by_question: Sequence[Sequence[RankedUnit]], match: UnitMatcher) -> tuple[CitedSentence, ...]:
    """What each passage says nearest to the questions, as far as it has to do with them at all."""
    best: dict[str, RankedUnit] = {}
    for each in sorted((each for ranked in by_question for each in ranked), key=lambda each: -each.score):
        if each.score >= _NEARBY:
            best.setdefault(each.candidate.citation, each)
    entry_of = entries_by_unit(match.among)
    return tuple(
        CitedSentence(entry_of[citation, each.candidate.unit].text.replace("\n", " "), (citation,))
        for citation, each in best.items()
    )
