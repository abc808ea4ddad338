"""Answers to questions out of the knowledge: the unit of a page that answers, or none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gaby.llm.embeddings.embed import Embed
from gaby.mind.changes import asked_changes
from gaby.mind.forms import form_of
from gaby.mind.languages import ENGLISH, language_of
from gaby.mind.question_terms import asked_terms
from gaby.mind.sentences import split
from gaby.mind.situations import Found
from gaby.mind.summaries import CitedSentence
from gaby.mind.telling import SYMPTOM, gist, is_courtesy
from gaby.mind.unit_ranking import Asked, Candidate, Ranked, candidates, ranked
from gaby.mind.unit_text import answer_text

_READ = 4000
_MOST_PASSAGES = 12
_MOST_QUESTIONS = 4
_SHORT = 2
"""Terms that a question must have to be understood without what was said before it."""
_ASKS = re.compile(
    r"(?:how|what|where|when|which|who|why|can|could|do|does|is|are|may|should|will|would|until)\b"
    r"|(?:wie|was|wo|wann|welche[rsn]?|wer|warum|wieso|woher|wohin|kann|können|darf|gibt es|muss)\b"
    r"|(?:comment|quand|pourquoi|quel(?:le)?s?|qui|est-ce que|combien|puis-je|peut-on|où)\b"
    r"|¿|(?:c[oó]mo|cu[aá]ndo|d[oó]nde|por qu[eé]|qu[eé]|qui[eé]n|cu[aá]l(?:es)?|puedo|se puede)\b",
    re.IGNORECASE,
)
_ASKS_INDIRECTLY = re.compile(
    r"\b(?:(?:tell|show|explain to) (?:me|us)|let (?:me|us) know|(?:like|want|need) to know|explain|"
    r"(?:know|wondering|unsure|not sure|find out|looking for|ask) (?:how|what|when|why|where|which|whether|if)|"
    r"how (?:do|can|could|should|to) (?:i|we)|where (?:do|can|could) (?:i|we)|"
    r"(?:möchte|würde gerne?|muss) wissen|wie (?:kann|muss|soll) (?:ich|man|wir)|"
    r"(?:voudrais|aimerais) savoir|comment (?:puis-je|faire)|(?:quisiera|me gustar[ií]a|necesito) saber)\b",
    re.IGNORECASE,
)
_ALSO = re.compile(
    r",? and (?=(?:how|what|where|when|which|who|why|can|could|do|does|is|are|may|should|will|would)\b)", re.IGNORECASE
)
_POINTS_BACK = re.compile(r"\b(?:it|they|them|(?<!so )that|this|those|these|one|then|she|he|her|him)\b", re.IGNORECASE)
_WANTS_A_DEED = re.compile(
    r"(?:can|could|would|will) (?:you|somebody|someone|anybody|anyone)\b(?! (?:please )?(?:tell|explain|say|let|show))",
    re.IGNORECASE,
)
WELL = 0.6
"""From here on a question is answered."""
_PARTLY = 0.45
_HEARD = 0.1
_SURELY = 0.8
_NEARBY = 0.4
"""Below this a unit has nothing to do with the question, and helps no colleague either."""
_HELPFUL = 0.55
WORTH_TELLING = 0.45
_TROUBLE = ("fault", "unavailable", "danger")
_POLITE = re.compile(
    r"\b(?:bitte|por favor|s['’]il (?:vous|te) pla[iî]t|veuillez|merci de|je vous prie|per favore|please|"
    r"necesito que|ich brauche|ich möchte,? dass|je veux que)\b",
    re.IGNORECASE,
)
_WHAT_TO_DO = re.compile(
    r"\b(?:how (?:do|can|could|should|to)|what (?:can|should|do|must) (?:i|we)|where (?:do|can|should)|"
    r"(?:do|should|must|can) (?:i|we)|is there|wie (?:kann|muss|soll)|was (?:kann|muss|soll)|"
    r"comment|que (?:dois|faire)|c[oó]mo|qu[eé] (?:puedo|debo|hago))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Answer:
    sentences: tuple[CitedSentence, ...] = ()
    how_well: float = 0.0
    """Between 0 and 1: how surely the sentences answer all that was asked."""
    evidence: tuple[CitedSentence, ...] = ()
    """The units that come nearest, one of each page, the best first, whether or not they answer."""
    is_exact: bool = False
    """The question gives a code, and the answer is about that code."""


def questions(ticket: str) -> list[str]:
    """The sentences of a ticket that ask something."""
    own = _own(ticket)
    return [each for each in own if _asks(each, is_alone=len(own) == 1)]


def _own(ticket: str) -> list[str]:
    read = split(gist(ticket, _READ))
    return [each.plain for each in read if each.kind not in {"quote", "header", "code", "log"}]


def _asks(sentence: str, *, is_alone: bool) -> bool:
    if sentence.endswith("?"):
        return len(sentence.split()) > _SHORT
    if not asked_terms(sentence):
        return False
    return bool(_ASKS_INDIRECTLY.search(sentence) or (is_alone and _ASKS.match(sentence)))


def is_question(ticket: str) -> bool:
    """It asks something that a page could answer, and wants nothing done."""
    asked = questions(ticket)
    return bool(asked) and not asked_changes(ticket) and not all(map(_WANTS_A_DEED.match, asked))


def is_plain_question(ticket: str) -> bool:
    """A question that tells of no trouble."""
    if not is_question(ticket) or any(map(form_of(ticket[:_READ]).says, _TROUBLE)):
        return False
    asked = questions(ticket)
    return not any(SYMPTOM.search(each) for each in _own(ticket) if each not in asked)


def answered(ticket: str, known: Answer) -> float:
    """How surely the answer settles the ticket. Trouble is settled by a page only if it is surely about this trouble
    and says what to do; else a page may help with it, and is never the end of it."""
    if language_of(ticket) != ENGLISH:
        return known.how_well if known.how_well >= _SURELY and _only_asks(ticket) else 0.0
    if is_plain_question(ticket):
        return known.how_well
    if is_question(ticket) and (known.is_exact or (known.how_well >= _SURELY and _asks_what_to_do(ticket))):
        return known.how_well
    return min(_HELPFUL, known.how_well) if known.how_well >= WORTH_TELLING else 0.0


def _only_asks(ticket: str) -> bool:
    """In a language whose requests are not known here: a question, and nothing that is asked for politely."""
    return bool(questions(ticket)) and not _POLITE.search(ticket[:_READ])


def _asks_what_to_do(ticket: str) -> bool:
    return any(_WHAT_TO_DO.search(each) for each in questions(ticket))


def answer(ticket: str, passages: Sequence[Found], embed: Embed) -> Answer:
    """Each question by itself; as sure as the answer to the least sure of them."""
    among = candidates([each for each in passages if each.text.strip()][:_MOST_PASSAGES])
    asked = asked_in(ticket)
    if not among or not asked:
        return Answer()
    found = [_answer(each, among, embed) for each in asked]
    worst = min(each.how_well for each in found)
    if _HEARD <= worst < WELL and len(found) > 1 and len({_page(each) for each in found}) == 1:
        # A short question says little by itself; with the others that the same page answers it may be clear.
        whole = _answer(Asked(" ".join(each.question for each in asked), asked[0].told), among, embed)
        found, worst = ([whole, *found], whole.how_well) if whole.how_well >= WELL else (found, worst)
    well = [each for each in found if each.how_well >= WELL]
    nearest = tuple({unit.citations: unit for each in reversed(found) for unit in reversed(each.evidence)}.values())[
        ::-1
    ]
    exact = any(each.is_exact for each in found)
    if worst < WELL and well:
        return Answer(_once(well), _PARTLY, nearest, exact)
    return Answer(_once(found), worst, nearest, exact)


def asked_in(ticket: str) -> list[Asked]:
    """Questions that stand in one sentence, apart. One that points back is asked together with what it points to; a
    ticket without a question is asked as a whole."""
    own = _own(ticket)
    telling = [each for each in split(gist(ticket, _READ)) if not is_courtesy(each)]
    told = {each.plain for each in telling}
    found: list[Asked] = []
    before = ""
    for sentence in own:
        if _asks(sentence, is_alone=len(own) == 1):
            for each in _ALSO.split(sentence):
                points_back = _POINTS_BACK.search(each) or len(set(asked_terms(each))) < _SHORT
                question = f"{before} {each}".strip() if points_back else each
                beside = " ".join(other for other in own if other in told and other not in {sentence, before})
                found.append(Asked(question, beside))
                before = question
        elif len(set(asked_terms(sentence))) >= _SHORT:
            before = sentence
    whole = " ".join(gist(ticket, _READ).split())
    return list(dict.fromkeys(found))[:_MOST_QUESTIONS] or ([Asked(whole)] if asked_terms(whole) else [])


def _answer(asked: Asked, among: Sequence[Candidate], embed: Embed) -> Answer:
    found = ranked(asked, among, embed)
    nearest = _nearest(found)
    best = found[0]
    if not best.is_eligible:
        return Answer(evidence=nearest)
    cited = (best.candidate.citation,)
    lines = answer_text(best, found).splitlines()
    sentences = tuple(CitedSentence(" ".join(part.text.split()), cited) for line in lines for part in split(line))
    return Answer(sentences, best.certainty, nearest, best.is_exact)


def _page(found: Answer) -> str:
    return found.sentences[0].citations[0].partition("#")[0] if found.sentences else ""


def _nearest(found: Sequence[Ranked]) -> tuple[CitedSentence, ...]:
    """What each page says nearest to the question, as far as it has to do with it at all."""
    best: dict[str, Ranked] = {}
    for each in sorted(found, key=lambda each: -each.score):
        if each.score >= _NEARBY:
            best.setdefault(each.candidate.citation, each)
    return tuple(
        CitedSentence(answer_text(each, found).replace("\n", " "), (citation,)) for citation, each in best.items()
    )


def _once(answers: Sequence[Answer]) -> tuple[CitedSentence, ...]:
    return tuple(dict.fromkeys(sentence for each in answers for sentence in each.sentences))
