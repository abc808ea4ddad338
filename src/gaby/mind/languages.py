"""What language a ticket is written in, and what it says in English, word by word, as far as the packaged words go.

The words are data (`data/languages`). What they do not suffice for is left to a person: nobody guesses at a ticket.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import orjson

from gaby.mind import concepts, synonyms
from gaby.mind.entities import EntityKind, extract
from gaby.mind.packaged import text_of
from gaby.mind.sentences import split
from gaby.mind.words import STOP_WORDS, stem, words

ENGLISH = "English"
UNKNOWN = "a language that is not known here"
_GLOSSED = ("German", "Spanish", "French")
_READ = 20_000
_LOOKED_AT = 300
"""Words that are enough to tell a language."""
_FEW = 4
"""Fewer words than this are no text, but a name or a code."""
_FOREIGN = 1.5
"""So many times more little words of another language than of English make it that language."""
_STRANGE = 0.12
"""Less than this share of words that English has, and it is not English, whatever else it is."""
_SCRIPT = 0.4
_UNDERSTOOD = 0.55
_TELLING = 2
_LONGEST = 5
_LONGEST_PHRASE = 80
_KEPT: frozenset[EntityKind] = frozenset(
    {"email", "url", "host", "ip", "uuid", "error_code", "id", "money", "version", "path", "phone"}
)
_JOINS = frozenset("'’-")
_TOKEN = re.compile(r"[^\W\d_]+|[0-9]+|\s+|[^\w\s]|_")
_LETTERS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"}
)


@dataclass(frozen=True)
class Reading:
    text: str
    """In English. As it stands where it is English, or where nobody here can read it."""
    language: str = ENGLISH
    is_clear: bool = True
    """Most of its words are known."""


@lru_cache(maxsize=32)
def read(text: str) -> Reading:
    """The same for the same text, always. Reads the beginning of a long text only."""
    language = language_of(text)
    if language == ENGLISH:
        return Reading(text)
    if language not in _GLOSSED:
        return Reading(text, language, is_clear=False)
    glossed, known, unknown, telling = _glossed(text[:_READ], language)
    is_clear = len(telling) >= _TELLING and known >= _UNDERSTOOD * (known + unknown)
    return Reading(glossed if is_clear else text, language, is_clear)


def language_of(text: str) -> str:
    """By its little words, which stand in every sentence; in doubt English."""
    own = [each.text for each in split(text[:_READ]) if each.kind not in {"quote", "code", "log", "header"}]
    folded = fold(" ".join(own))
    letters = [each for each in folded if each.isalpha()]
    # Some scripts put no blanks between words.
    if len(letters) >= 2 * _FEW and sum(not each.isascii() for each in letters) > _SCRIPT * len(letters):
        return UNKNOWN
    spoken = [word for word in words(folded)[:_LOOKED_AT] if word.isalpha()]
    if len(spoken) < _FEW:
        return ENGLISH
    counted = {name: sum(word in little for word in spoken) for name, little in _little().items()}
    best = max(counted, key=lambda name: counted[name])
    english = max(counted[ENGLISH], sum(stem(word) in _english() for word in spoken) / 2)
    if best != ENGLISH and counted[best] > _FOREIGN * counted[ENGLISH] and counted[best] > english / 2:
        return best
    is_strange = counted[ENGLISH] == 0 and english < _STRANGE * len(spoken)
    return UNKNOWN if is_strange and len(spoken) >= 2 * _FEW else ENGLISH


def fold(text: str) -> str:
    """Without accents: `geändert` and `geaendert` are the same, and so are `sesión` and `sesion`."""
    if text.isascii():
        return text
    lowered = "".join(each.lower() if each in "ÄÖÜØŁĐÆŒ" else each for each in text).translate(_LETTERS)
    return "".join(each for each in unicodedata.normalize("NFKD", lowered) if not unicodedata.combining(each))


def _glossed(text: str, language: str) -> tuple[str, int, int, set[str]]:
    """The text in English, how many of its words were known and unknown, and the telling ones among them."""
    found: list[str] = []
    known = unknown = 0
    telling: set[str] = set()
    little = _little()[language]
    for piece, keep in _pieces(text):
        if keep:
            found.append(piece)
            continue
        for word, meaning in _meanings(_TOKEN.findall(fold(piece)), language):
            if meaning is None:
                is_word = word.isalpha() and word.lower() not in little and len(word) > 1
                is_shared = is_word and (stem(word.lower()) in _english() or word.isupper())
                unknown += is_word and not is_shared
                known += is_shared
                # A name is a name, where not every noun begins with a capital letter.
                is_name = is_word and language != "German" and word[0].isupper()
                found.append(word if is_shared or is_name or not word.isalpha() else " ")
            else:
                known += 1
                found.append(meaning)
                telling |= {term for term in map(stem, words(meaning)) if term not in STOP_WORDS}
    lines = (" ".join(line.split()).lstrip(" ,;") for line in "".join(found).splitlines())
    return re.sub(r" (?=[.,;:!?])", "", "\n".join(lines)), known, unknown, telling


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Values stay as they are: an address or a code is the same in every language."""
    at = 0
    for entity in extract(text):
        if entity.kind in _KEPT and entity.start >= at:
            yield text[at : entity.start], False
            yield text[entity.start : entity.end], True
            at = entity.end
    yield text[at:], False


def _meanings(tokens: list[str], language: str) -> Iterator[tuple[str, str | None]]:
    """The longest phrase that is known, from every place on."""
    at = 0
    while at < len(tokens):
        if not tokens[at].isalpha():
            yield tokens[at], None
            at += 1
            continue
        heard, ends = _heard(tokens, at)
        for length in range(len(heard), 0, -1):
            meaning = _meaning(" ".join(heard[:length]), language)
            if meaning is not None:
                yield " ".join(heard[:length]), meaning
                at = ends[length - 1]
                break
        else:
            yield tokens[at], None
            at += 1


def _heard(tokens: list[str], at: int) -> tuple[list[str], list[int]]:
    """The next few words, up to a mark; an apostrophe and a hyphen join two."""
    heard: list[str] = []
    ends: list[int] = []
    for place in range(at, min(len(tokens), at + 2 * _LONGEST)):
        token = tokens[place]
        if token.isalpha() and len(heard) < _LONGEST:
            heard.append(token.lower())
            ends.append(place + 1)
        elif "\n" in token or not (token.isspace() or token in _JOINS):
            break
    return heard, ends


@lru_cache(maxsize=20_000)
def _meaning(phrase: str, language: str) -> str | None:
    if len(phrase) > _LONGEST_PHRASE:
        return None
    whole, beginnings = _vocabulary(language)
    if phrase in whole:
        return whole[phrase]
    found = next((phrase[:size] for size in range(len(phrase), 2, -1) if phrase[:size] in beginnings), None)
    # An ending is the end of one word, and no further word.
    return beginnings[found] if found is not None and " " not in phrase[len(found) :] else None


@cache
def _vocabulary(language: str) -> tuple[dict[str, str], dict[str, str]]:
    """Whole phrases, and beginnings of phrases that take any ending."""
    whole: dict[str, str] = {}
    beginnings: dict[str, str] = {}
    for line in text_of(f"languages/{language}.txt").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        phrases, _, meaning = line.partition("=")
        for phrase in (each.strip() for each in phrases.split(",")):
            into = beginnings if phrase.endswith("*") else whole
            into.setdefault(phrase.rstrip("*"), meaning.strip())
    return whole, beginnings


@cache
def _little() -> dict[str, frozenset[str]]:
    listed: dict[str, str] = orjson.loads(text_of("languages/little.json"))
    return {name: frozenset(each.split()) for name, each in listed.items()}


@cache
def _english() -> frozenset[str]:
    """Stems that support speaks of in English, so that `webhook` in a German sentence stays what it is."""
    return frozenset({*concepts.stems_known(), *synonyms.stems_known()})
