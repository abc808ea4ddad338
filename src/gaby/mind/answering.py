"""Answers to plain questions out of the knowledge, and how well they answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaby.llm.embeddings.embed import Embed
from gaby.mind.changes import asked_changes
from gaby.mind.forms import form_of
from gaby.mind.sentences import split
from gaby.mind.situations import Found
from gaby.mind.summaries import CitedSentence, Passage, summarise
from gaby.mind.synonyms import alike
from gaby.mind.words import stem, terms, words

_READ = 4000
_TROUBLE = ("fault", "unavailable", "danger")
_MOST_PASSAGES = 12
_SENTENCES = 3
_LOOKED_AT = 8
_SHORT = 2
"""Words that a question must have to be understood without what was said before it."""
_ASKS = re.compile(
    r"(?:how|what|where|when|which|who|why|can|could|do|does|is|are|may|should|will|would|until)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Answer:
    sentences: tuple[CitedSentence, ...] = ()
    how_well: float = 0.0
    """Between 0 and 1."""


def questions(ticket: str) -> list[str]:
    """The sentences of a ticket that ask something."""
    own = [each for each in split(ticket[:_READ]) if each.kind not in {"quote", "header", "code", "log"}]
    return [
        each.plain
        for each in own
        if terms(each.plain) and (each.plain.endswith("?") or (_ASKS.match(each.plain) and len(own) == 1))
    ]


def is_plain_question(ticket: str) -> bool:
    """It asks something, wants nothing changed, and tells of no trouble."""
    form = form_of(ticket[:_READ])
    return bool(questions(ticket)) and not asked_changes(ticket) and not any(map(form.says, _TROUBLE))


def answer(ticket: str, passages: Sequence[Found], embed: Embed) -> Answer:
    asked = " ".join(questions(ticket))
    if len(set(terms(asked))) < _SHORT:
        asked = " ".join(ticket[:_READ].split())
    usable = [each for each in passages if each.text.strip()][:_MOST_PASSAGES]
    if not usable or not terms(asked):
        return Answer()
    found = summarise(asked, [Passage(each.citation, _prose(each.text)) for each in usable], embed, _LOOKED_AT)
    titles = {each.citation: each.title for each in usable}
    kept = _covering(set(terms(asked)), found.sentences, titles)
    return Answer(tuple(kept), _how_well(asked, kept, titles, embed)) if kept else Answer()


def _covering(wanted: set[str], sentences: Sequence[CitedSentence], titles: dict[str, str]) -> list[CitedSentence]:
    """The sentence that says most of what was asked for, then those that add to it."""
    left = {each: {term for term in wanted if alike(term) & _told(each, titles)} for each in sentences}
    kept: list[CitedSentence] = []
    open_ones = set(wanted)
    while left and len(kept) < _SENTENCES:
        best = max(left, key=lambda each: (len(left[each] & open_ones), len(left[each])))
        covers = left.pop(best)
        # What stands beside it on the same page belongs to it: the steps of a procedure.
        if not kept or covers & open_ones or best.citations == kept[0].citations:
            kept.append(best)
        open_ones -= covers
    return kept


def _told(sentence: CitedSentence, titles: dict[str, str]) -> set[str]:
    """The title of a page says what its sentences are about."""
    return {stem(word) for word in words(f"{titles.get(sentence.citations[0], '')}. {sentence.text}")}


def _how_well(asked: str, sentences: Sequence[CitedSentence], titles: dict[str, str], embed: Embed) -> float:
    """By the share of the question's words that the answer has, and by how near in meaning its best sentence is."""
    wanted = set(terms(asked))
    said = [f"{titles.get(each.citations[0], '')}. {each.text}" for each in sentences]
    told = {term for each in sentences for term in _told(each, titles)}
    share = sum(bool(alike(term) & told) for term in wanted) / len(wanted)
    vectors = np.asarray(embed([asked, *said]), dtype=np.float64)
    near = float(np.clip((vectors[1:] @ vectors[0]).max(), 0.0, 1.0))
    return round(share * min(1.0, max(0.0, (near - 0.2) / 0.45)), 3)


def _prose(text: str) -> str:
    """Without headings and marks, which are no sentences."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("#", "```"))]
    return "\n".join(lines).replace("`", "").replace("**", "")
