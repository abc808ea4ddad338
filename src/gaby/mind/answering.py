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
from gaby.mind.synonyms import heard
from gaby.mind.telling import SYMPTOM, gist
from gaby.mind.words import stem, stems, terms, words

_READ = 4000
_TROUBLE = ("fault", "unavailable", "danger")
_MOST_PASSAGES = 12
_SENTENCES = 3
_SENTENCES_OF_SEVERAL = 2
_MOST_QUESTIONS = 5
_LOOKED_AT = 8
_SHORT = 2
"""Words that a question must have to be understood without what was said before it."""
_ASKS = re.compile(
    r"(?:how|what|where|when|which|who|why|can|could|do|does|is|are|may|should|will|would|until)\b", re.IGNORECASE
)
_ALSO = re.compile(
    r",? and (?=(?:how|what|where|when|which|who|why|can|could|do|does|is|are|may|should|will|would)\b)", re.IGNORECASE
)
_TELL = re.compile(
    r"\b(?:tell (?:me|us)|let (?:me|us) know|(?:like|want|need) to know|"
    r"explain (?:to (?:me|us) )?(?:how|what|when|why))\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(r"\b(?:it|they|them|(?<!so )that|this|those|these|one|then)\b", re.IGNORECASE)
_ASKING = stems("way long much often possible able hello good morning")
"""They belong to the asking, and no page says them."""
_WELL = 0.6
"""From here on a question is answered."""
_HEARD = 0.25
_PARTLY = 0.45


@dataclass(frozen=True)
class Answer:
    sentences: tuple[CitedSentence, ...] = ()
    how_well: float = 0.0
    """Between 0 and 1."""


def questions(ticket: str) -> list[str]:
    """The sentences of a ticket that ask something."""
    own = _own(ticket)
    return [each for each in own if _asks(each, is_alone=len(own) == 1)]


def _own(ticket: str) -> list[str]:
    read = split(gist(ticket, _READ))
    return [each.plain for each in read if each.kind not in {"quote", "header", "code", "log"}]


def _asks(sentence: str, *, is_alone: bool) -> bool:
    if not terms(sentence):
        return False
    told = _TELL.search(sentence) or (is_alone and _ASKS.match(sentence))
    return sentence.endswith("?") or bool(told)


def is_plain_question(ticket: str) -> bool:
    """It asks something, wants nothing changed, and tells of no trouble."""
    asked = questions(ticket)
    if not asked or asked_changes(ticket) or any(map(form_of(ticket[:_READ]).says, _TROUBLE)):
        return False
    return not any(SYMPTOM.search(each) for each in _own(ticket) if each not in asked)


def answer(ticket: str, passages: Sequence[Found], embed: Embed) -> Answer:
    """Each question by itself; as good as the answer to the worst of them."""
    usable = [each for each in passages if each.text.strip()][:_MOST_PASSAGES]
    asked = _each(_own(ticket)) or [" ".join(gist(ticket, _READ).split())]
    if len(asked) == 1 and len(set(terms(asked[0]))) < _SHORT:
        asked = [" ".join(gist(ticket, _READ).split())]
    if not usable:
        return Answer()
    found = [_answer(each, usable, embed) for each in asked if terms(each)]
    worst = min((each.how_well for each in found), default=0.0)
    if len(found) > 1 and _HEARD <= worst < _WELL and len({_page(each) for each in found}) == 1:
        # A short question says little by itself; with the others that the same page answers it may be clear.
        whole = _answer(" ".join(asked), usable, embed)
        found, worst = ([whole, *found], whole.how_well) if whole.how_well >= _WELL else (found, worst)
    well = [each for each in found if each.how_well >= _WELL]
    if worst < _WELL and well:
        return Answer(_once(well), _PARTLY)
    return Answer(_once(found), worst)


def _page(found: Answer) -> str:
    return found.sentences[0].citations[0].partition("#")[0] if found.sentences else ""


def _each(own: Sequence[str]) -> list[str]:
    """Questions that stand in one sentence, apart. One that points back is asked together with what it points to."""
    found: list[str] = []
    before = ""
    for sentence in own:
        if _asks(sentence, is_alone=len(own) == 1):
            for each in _ALSO.split(sentence):
                points_back = _POINTS_BACK.search(each) or len(set(terms(each))) < _SHORT
                before = f"{before} {each}".strip() if points_back else each
                found.append(before)
        elif len(set(terms(sentence))) >= _SHORT:
            before = sentence
    return list(dict.fromkeys(found))[:_MOST_QUESTIONS]


def _once(answers: Sequence[Answer]) -> tuple[CitedSentence, ...]:
    most = _SENTENCES if len(answers) == 1 else _SENTENCES_OF_SEVERAL
    return tuple(dict.fromkeys(sentence for each in answers for sentence in each.sentences[:most]))


def _answer(asked: str, usable: Sequence[Found], embed: Embed) -> Answer:
    found = summarise(asked, [Passage(each.citation, _prose(each.text)) for each in usable], embed, _LOOKED_AT)
    titles = {each.citation: each.title for each in usable}
    kept = _covering(asked, found.sentences, titles)
    return Answer(tuple(kept), _how_well(asked, kept, titles, embed)) if kept else Answer()


def _covering(asked: str, sentences: Sequence[CitedSentence], titles: dict[str, str]) -> list[CitedSentence]:
    """The sentence that says most of what was asked for, then those that add to it."""
    wanted, spoken = set(terms(asked)), [stem(word) for word in words(asked)]
    left = {each: wanted & heard(spoken, _told(each, titles)) for each in sentences}
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
    wanted = set(terms(asked)) - _ASKING or set(terms(asked))
    said = [f"{titles.get(each.citations[0], '')}. {each.text}" for each in sentences]
    told = {term for each in sentences for term in _told(each, titles)}
    share = len(wanted & heard([stem(word) for word in words(asked)], told)) / len(wanted)
    vectors = np.asarray(embed([asked, *said]), dtype=np.float64)
    near = float(np.clip((vectors[1:] @ vectors[0]).max(), 0.0, 1.0))
    return round(share * min(1.0, max(0.0, (near - 0.2) / 0.45)), 3)


def _prose(text: str) -> str:
    """Without headings and marks, which are no sentences."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("#", "```"))]
    return "\n".join(lines).replace("`", "").replace("**", "")
