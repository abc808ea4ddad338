"""What a ticket asks: its questions, taken apart, and whether it only asks or wants something done or looked at."""

import re
from dataclasses import dataclass

from gaby.mind.changes import asked_changes
from gaby.mind.key_sentences import SYMPTOM, gist, is_courtesy
from gaby.mind.question_terms import asked_terms, telling_terms
from gaby.mind.sentences import split
from gaby.mind.signatures import unframed
from gaby.mind.ticket_features import form_of

_READ = 4000
_MOST_QUESTIONS = 6
_SHORT = 2
"""Terms that a question must have to be understood without what was said before it."""
_WH = r"(?:how|what|where|when|which|who|whom|whose|why)"
_AUX = r"(?:am|is|are|was|were|do|does|did|can|could|may|must|should|shall|will|would|has|have)"
_WHO = (
    r"(?:i|we|you|he|she|it|they|there|this|that|these|those|my|our|your|his|her|their|the|an?|one|any|"
    r"anybody|anyone|somebody|someone)"
)
_OPENS = (
    # `until when do you`, `which room has`; `when I open it` tells and asks nothing.
    rf"(?:(?:until|till|by|from|since|up to|at|for|in|on|to|with|after|before) )?{_WH}"
    rf"(?:['’]?s\b|(?! (?:i|we|you|he|she|it|they|the|my|our|your|this|that)\b)(?: [^\s,.;:!?]+){{0,4}}? {_AUX}\b)"
    rf"|(?:{_AUX}|need(?= (?:i|we)\b))(?:n['’]t)? {_WHO}\b|what (?:now|then|next|else)\b"
)
_ASKS = re.compile(rf"(?:and |but |so |or |ok |also )?(?:{_OPENS})", re.IGNORECASE)
_ASKS_WITHIN = re.compile(rf"[,;:–—-] (?:and |but |so )?(?:{_OPENS})", re.IGNORECASE)
_ASKS_ALONE = re.compile(
    r"(?:how|what|where|when|which|who|why|until)\b(?! (?:i|we|it|he|she|they|the|my|our)\b)"
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
_LOWER = re.compile(rf"(?<=[.!?])\s+(?={_OPENS})", re.IGNORECASE)
"""A question behind a full stop begins a sentence, also with a small letter."""
_APART = re.compile(rf"(?:[,;]|,? (?:and|or|but))\s+(?:and )?(?={_OPENS}|whether\b|which\b|how\b)", re.IGNORECASE)
_POINTS_BACK = re.compile(
    r"\b(?:it|they|them|(?<!so )that|this|those|these|ones?|then|(?<!is )(?<!are )there|she|he|her|him)\b",
    re.IGNORECASE,
)
_WANTS_A_DEED = re.compile(
    r"(?:can|could|would|will) (?:you|somebody|someone|anybody|anyone)\b"
    r"(?! (?:please |kindly )?(?:tell|explain|say|let|show|advise|confirm))"
    r"|(?:may|can|could) (?:i|we) (?:please\b|.*\bplease\W*$)",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"\b(?:please|pls|kindly) (?!(?:tell|let|advise|explain|show|confirm|note|see|find|be|do not|don['’]t|reply|answer|"
    r"say|help|also|can|could|how|what|when|where|which|who|if|is|and|or|me|us)\b)[a-z]+",
    re.IGNORECASE,
)
"""Something is to be done, whatever it is."""
_TROUBLE = ("fault", "unavailable", "danger")
_NOW = re.compile(
    r"\bwhat(?:['’]?s| is| has)? (?:going on|happening|happened|wrong|up)\b|\bwhat (?:will|are) you\b"
    r"|\bwhy (?:is|are|was|were|do|does|did|has|have|can|could)(?:n['’]t)? (?:my|our|i|we)\b"
    r"|\b(?:can|could|would|will) [^,;?]{1,40} (?:call|ring|phone|contact|visit|meet|help) (?:me|us)\b",
    re.IGNORECASE,
)
"""Asks what is the case now or what somebody will do, which no page knows."""
_STATE = re.compile(
    r"\bwhy\b|(?<!from )(?<!until )(?<!by )\bwhen (?:is|are|will|do|does|can) (?:it|they|that|this|everything|you|the|"
    r"my|our)\b|\bwhere(?:['’]?s| is| are) (?:my|our|the)\b|\b(?:did|have|has|is|are) (?:you|your|somebody|someone)\b",
    re.IGNORECASE,
)
"""May ask for that, where something is not as it should be."""
_OWN_STATE = re.compile(
    r"\b(?:has|have|did|was|were|is|are) (?:it|my|our|the|you|they|she|he|someone|somebody|anyone|anybody)\b[^?]{0,60}"
    r"\b(?:yet|already|arrived?|accepted|approved|received?|processed|gone through|turned up|posted|sent|ready|"
    r"looked)\b"
    r"|\bwhere(?:['’]?s| is| are) (?:my|our|it)\b|\bwhen (?:am|is|will|are) (?:i|my|our)\b|\bwhat did\b"
    r"|\bwhat (?:is|day is|time is) my\b|\bwhich (?:ones|date|day) (?:have|has|did)\b|\bdo you have (?:it|my|our)\b"
    r"|\bwhy (?:was|is|did|has|have|am|are) (?:my|our|i|we)\b|\b(?:can|could) you (?:please )?(?:check|see|look)\b",
    re.IGNORECASE,
)
_OWN_REFERENCE = re.compile(
    r"\b[A-Z]{1,4}[- ]?[0-9]{4,}\b|\b(?:order|ref(?:erence)?|invoice|ticket|acc(?:ount)?(?: no)?|member(?: no)?\.?|"
    r"booking)\W{1,3}(?:is |no\.? |number )?[A-Z]{0,3}[- ]?[0-9]{3,}",
    re.IGNORECASE,
)
_DETAIL = re.compile(
    # A price.
    r"\b(?:how much (?:is|are|do|does|will|would|it|for|to|a|more)|price|costs?|fees?|charge[ds]?|bill(?:ed)?|owe[ds]?|"
    r"rate|cheap(?:er)?|discount|money off|refund|pay|paying|set (?:me|us) back|free"
    # A time.
    r"|when|how long|how soon|how early|how late|how quick(?:ly)?|what time|until|till|deadline|in advance|notice|"
    r"by what|how far ahead|how often|opening|open on|closing|good for|valid|expire[sd]?|last"
    # A number.
    r"|how many|how big|how large|how heavy|how old|how far|how tall|what size|maximum|limit|weigh[st]?|number"
    # A way.
    r"|how (?:do|can|should|to|would|am|is)|where (?:do|can|should|would)|who (?:do|can|should)|"
    r"what (?:do|should|must) (?:i|we)|which form|what paperwork|way to)\b",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"\b(?:bitte|por favor|s['’]il (?:vous|te) pla[iî]t|veuillez|merci de|je vous prie|per favore|please|"
    r"necesito que|ich brauche|ich möchte,? dass|je veux que)\b",
    re.IGNORECASE,
)
_OWNED = re.compile(r"\b(?:my|our|me|us|this|the|it|please|pls|for|from)\b", re.IGNORECASE)


@dataclass(frozen=True)
class TicketQuestion:
    question: str
    context: str = ""
    """What else the ticket says: its title, and what stands beside the question."""
    before: str = ""
    """What the question points back to."""
    title: str = ""
    """What the ticket is called, which is often what it is about."""


_REPORTS = re.compile(
    r"\b(?:(?:do|does|did|is|are|was|wo|ca|has|have)n?['’]?t|cannot|not|nothing|nobody|never|no longer|"
    r"dead|broken|stuck|fail(?:s|ed|ing)?)\b",
    re.IGNORECASE,
)
"""What does not work, whatever mark the sentence ends with: `the code doesnt work?`."""


def questions(ticket: str) -> list[str]:
    """The sentences of a ticket that ask something."""
    own = _own(ticket)
    asking = [each for each in own if _asks(each, is_alone=len(own) == 1)]
    # A title asks what the text asks in more words.
    return asking[1:] if len(asking) > 1 and asking[0] == _title(ticket).strip() else asking


def is_question(ticket: str) -> bool:
    """It asks something that a page could answer, and wants nothing done."""
    asked = questions(ticket)
    if not asked or wanted_changes(ticket) or any(map(_NOW.search, asked)) or any(map(_ORDERS.search, _own(ticket))):
        return False
    return not all(map(_WANTS_A_DEED.match, asked))


def is_plain_question(ticket: str) -> bool:
    """A question that tells of no trouble."""
    if not is_question(ticket) or any(map(form_of(ticket[:_READ]).says, _TROUBLE)):
        return False
    asked = questions(ticket)
    if any(_REPORTS.search(each) and not _has_question_form(each) for each in asked):
        return False
    return not any(SYMPTOM.search(each) for each in _own(ticket) if each not in asked)


def _has_question_form(sentence: str) -> bool:
    return any((_ASKS.match(sentence), _ASKS_WITHIN.search(sentence), _ASKS_ALONE.match(sentence)))


def asks_for_rules(ticket: str) -> bool:
    """How something is done, what it costs, what is allowed, and in no question what is the case now."""
    return not any(_STATE.search(each) or _WANTS_A_DEED.match(each) for each in questions(ticket))


def asks_own_state(ticket: str) -> bool:
    """What has become of a matter of the requester's own, which systems know and pages do not."""
    read = ticket[:_READ]
    return bool(_OWN_STATE.search(read) or _OWN_REFERENCE.search(read))


def asks_for_detail(ticket: str) -> bool:
    """A price, a time, a number or a way, and not whether something is so: what pages tell most surely."""
    return bool(_DETAIL.search(" ".join(questions(ticket)) or ticket[:_READ]))


def only_asks(ticket: str) -> bool:
    """In a language whose requests are not known here: a question, and nothing that is asked for politely."""
    return bool(questions(ticket)) and not _POLITE.search(ticket[:_READ])


def wanted_changes(ticket: str) -> frozenset[str]:
    """A title such as `Cancel a payment` names what is asked about; `Cancel my order` is an order."""
    title = _title(ticket)
    body = ticket[len(title) :]
    return asked_changes(body if title and questions(body) and not _OWNED.search(title) else ticket)


def _title(ticket: str) -> str:
    title, blank, _ = ticket.partition("\n\n")
    return title if blank and "\n" not in title else ""


def asked_in(ticket: str) -> list[TicketQuestion]:
    """Questions that stand in one sentence, apart. One that points back is asked together with what it points to; a
    ticket without a question is asked as a whole."""
    own, asking = _own(ticket), set(questions(ticket))
    ticket_questions: list[TicketQuestion] = []
    title, before = _title(ticket), ""
    for sentence in own:
        if sentence in asking:
            other_sentences = " ".join(each for each in own if each != sentence)
            for each in _clauses(sentence):
                says = len(set(telling_terms(each)))
                points_back = bool(_POINTS_BACK.search(each)) or not says
                ticket_questions.append(TicketQuestion(each, other_sentences, before if points_back else "", title))
                before = each if says >= _SHORT else before
        elif len(set(telling_terms(sentence))) >= _SHORT:
            before = sentence
    whole = " ".join(unframed(gist(ticket, _READ)).split())
    return list(dict.fromkeys(ticket_questions))[:_MOST_QUESTIONS] or (
        [TicketQuestion(whole)] if asked_terms(whole) else []
    )


def _clauses(sentence: str) -> list[str]:
    """A piece that says nothing by itself stays with the one before it."""
    clauses: list[str] = []
    for each in filter(None, (piece.strip() for piece in _APART.split(sentence))):
        if clauses and not (telling_terms(each) and telling_terms(clauses[-1])):
            clauses[-1] = f"{clauses[-1]}, {each}"
        else:
            clauses.append(each)
    return clauses


def _own(ticket: str) -> list[str]:
    read = split(unframed(gist(ticket, _READ)))
    kept = [each for each in read if each.is_own]
    telling = [each for each in kept if _asks(each.plain, is_alone=False) or not is_courtesy(each)] or kept
    return [part for each in telling for part in _LOWER.split(each.plain)]


def _asks(sentence: str, *, is_alone: bool) -> bool:
    if sentence.endswith("?"):
        return len(sentence.split()) > _SHORT
    if _ASKS.match(sentence) or _ASKS_WITHIN.search(sentence):
        return True
    if not asked_terms(sentence):
        return False
    return bool(_ASKS_INDIRECTLY.search(sentence) or (is_alone and _ASKS_ALONE.match(sentence)))
