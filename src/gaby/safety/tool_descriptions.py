"""What a tool's description says that the tool does, as far as its English can be read. It is only ever careful: a
description that is missing, in another language or not about reading is a reason to doubt a read."""

import re
from collections.abc import Sequence
from itertools import pairwise


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LETTERS = re.compile(r"[^\W\d_]+")
_ENGLISH_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")
_SENTENCE_END = re.compile(r"[.!?;:](?:\s|$)|\n")
_SHORT = 3
"""So many words need no function word: `List open issues`."""

_PREAMBLE = (
    r"(?:(?:you\s+(?:can|may)\s+)?use\s+(?:this|it)(?:\s+(?:tool|function|endpoint|command))?\s+(?:to|for)\s+"
    r"|(?:this|the|a)\s+(?:tool|function|endpoint|command)\s+"
    r"(?:(?:that|which|will|can|lets\s+you|allows\s+you\s+to|is\s+used\s+to|can\s+be\s+used\s+to|to|for)\s+){0,2}"
    r"|tool\s+(?:to|for|that)\s+"
    r"|it\s+(?:(?:will|can|then|also)\s+){0,2}"
    r"|(?:allows?|lets|used|helps?)\s+(?:(?:you|users?|agents?)\s+)?(?:to\s+)?"
    r"|will\s+|can\s+|also\s+|then\s+)?"
)
"""What stands before the verb of a sentence about a tool: `Use this tool to search` says no more than `Search`."""
SENTENCE_VERB = re.compile(
    rf"(?:^|[.!?;:\n]\s*){_PREAMBLE}([A-Za-z]+)|\b(?:and|then|or)\s+(?:then\s+|also\s+)?([A-Za-z]+)", re.IGNORECASE
)
_OPENING = re.compile(rf"[^A-Za-z]*{_PREAMBLE}", re.IGNORECASE)
DENIAL = re.compile(r"\s+nothing\b", re.IGNORECASE)
MODEL_INSTRUCTION = re.compile(r"\s+(?:when|whenever|if|for|only|this|it)\b", re.IGNORECASE)
"""What follows `Use` where a description tells the model when to call the tool."""

_PARTICLES = _words(
    "in out off up down over back away rid through on along apart around aside ahead forward forth into onto "
    "together to"
)
"""After a verb they make another verb of it: to check in, to read off, to get rid of."""
_PARTICIPLES = _words(
    "paid done gone going moving sent sold built bought brought caught dealt driven drawn fed given hidden hit hurt "
    "laid lent made ready rid shipped shut spent stolen struck sworn taken thrown torn withdrawn won written"
)
_NO_PARTICIPLES = _words("bed detailed embed led red related shared shed sled")
_PASSIVE_VERBS = _words("check count fetch get read")
"""Verbs that with a participle have something done: to get paid."""

_NOT_PHRASAL = _words("browse explore query search")
"""What follows these is a place: to search in files."""

_READING = _words(
    "browse compare count describe display enumerate examine explain explore find get identify inspect list lookup "
    "preview query read retrieve returns search see show summarise summarize view"
)
_MOVING = _words("check download fetch give obtain ping provide pull report return tell")
"""Verbs of reading by which things are also moved or people called. What they read has to be named."""
_ARTICLES = _words("a all an any current every latest recent the")
_INFORMATION = _words(
    "activity alert alerts amount annotations answer articles availability balance catalog catalogue changes comment "
    "comments configuration content contents context count counts current dashboard data date definition description "
    "detail details diff difference document documents documentation entries error errors event events example "
    "excerpt existence file files health history id ids index info information issue issues items label labels latest "
    "list logs matches message messages metadata metric metrics name names number overview page pages position "
    "progress properties recent record records replies report result results schema schemas size snapshot state "
    "statement states statistics stats status summary text thread time timeline total usage value values version "
    "versions"
)
_LEADING_TO = _words("access answer answers equal link links next path relation replies reply similar up")
_QUESTIONS = _words("how if what when whether where which who whose why")
_NAMED_WITHIN = 8
"""So many words from the beginning the thing that is read has to be named."""

_FUNCTION_WORDS = _words(
    "a all an and are as at be been by can each for from given has have if in into is it its matching of on or that "
    "the their these this those to used using what when which with within your"
)
_FOREIGN_WORDS = _words(
    "alle aller alles aus das dem der des ein eine einem einen einer eines fuer mit nach oder und vom von wird zum zur "
    "aux avec chaque dans du et les leur leurs ou par pour qui sur tous toutes un une "
    "con de del el la las los para por que sus todas todos una "
    "che da degli dei della delle di gli il nel sono tutte tutti "
    "een het naar van voor alla att och som"
)
"""Short words of German, French, Spanish, Italian, Dutch and Swedish that English does not have."""


def description_doubt(description: str) -> str | None:
    """Why a description does not say that its tool reads. None, if it does."""
    if not description.strip():
        return "it has no description"
    if not _is_english(description):
        return "the language of its description is not understood"
    words = _opening_words(description.strip())
    if not _opens_with_reading(words):
        return f"its description does not begin by saying what is read: `{' '.join(words[:4])[:60]}`"
    return None


def sentence_reads(sentence: str) -> bool:
    """Whether a sentence begins with a verb of reading that cannot mean anything else."""
    return _opens_with_reading(_opening_words(sentence))


def verb_modifier(words: Sequence[str]) -> str | None:
    """The particle or the participle by which a verb of reading is one no more: `check_in`, `check_parcel_in`,
    `get_paid`. The verb is the first word."""
    if len(words) < 2:
        return None
    verb, second, last = words[0], words[1], words[-1]
    if verb in _NOT_PHRASAL:
        return None
    if second in _PARTICLES:
        return second
    if last in _PARTICLES or last == "of":
        return last
    for word in (second, last):
        if verb in _PASSIVE_VERBS and _is_participle(word):
            return word
    return None


def _is_participle(word: str) -> bool:
    regular = word.endswith("ed") and not word.endswith("eed") and len(word) > 3 and word not in _NO_PARTICIPLES
    return regular or word in _PARTICIPLES


def _is_english(description: str) -> bool:
    words = [word.casefold() for word in _LETTERS.findall(description)]
    if not words or not all(word.isascii() for word in words):
        # Other scripts and letters with marks; a look-alike of a Latin letter as well.
        return False
    if not _FOREIGN_WORDS.isdisjoint(words):
        return False
    return len(words) <= _SHORT or not _FUNCTION_WORDS.isdisjoint(words)


def _opening_words(text: str) -> list[str]:
    """The first sentence in small letters, without the words about the tool itself."""
    start = _OPENING.match(text)
    first = _SENTENCE_END.split(text[start.end() :] if start else text, maxsplit=1)[0]
    return [word.casefold() for word in _ENGLISH_WORD.findall(first)]


def _opens_with_reading(words: Sequence[str]) -> bool:
    if not words:
        return False
    first, following = words[0], words[1:_NAMED_WITHIN]
    if first in {"look", "looks"} and following[:1] == ["up"]:
        return True
    names_information = not _INFORMATION.isdisjoint(following)
    if first in _ARTICLES:
        return names_information
    forms = (first, first.removesuffix("s"), first.removesuffix("es"), _without_y(first))
    verb = next((form for form in forms if form in _READING or form in _MOVING), None)
    if verb is None:
        return first in _INFORMATION
    if verb_modifier([verb, *following[:1]]) is not None or _moves_to_a_place(verb, following):
        return False
    asks = following[:1] == ["for"] or not _QUESTIONS.isdisjoint(following[:1])
    return verb in _READING or names_information or asks


def _moves_to_a_place(verb: str, following: Sequence[str]) -> bool:
    """`Gets a courier to the door`. `Gets the issues assigned to the user` moves nothing."""
    if verb not in _MOVING and verb not in {"get", "returns"}:
        return False
    return any(
        word == "to" and not before.endswith(("ed", "ing")) and before not in _LEADING_TO
        for before, word in pairwise(following)
    )


def _without_y(word: str) -> str:
    """`queries` is a form of `query`."""
    return f"{word.removesuffix('ies')}y" if word.endswith("ies") else word
