"""What language a text is written in. Nothing is translated: what Gaby cannot read is left to a person.

The function words of each language are data (`data/function_words.json`); they stand in every sentence.
"""

import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache

import orjson

from gaby.mind import concepts, synonyms
from gaby.mind.package_data import text_of
from gaby.mind.sentences import split
from gaby.mind.words import stem, words

ENGLISH = "English"
UNKNOWN = "a language that is not known here"
_READ = 20_000
_LOOKED_AT = 300
"""Words that are enough to tell a language."""
_FEW = 4
"""Fewer words than this are no text, but a name or a code."""
_FOREIGN = 1.5
"""So many times more function words of another language than of English make it that language."""
_STRANGE = 0.12
"""Less than this share of words that English has, and it is not English, whatever else it is."""
_SCRIPT = 0.4
_LETTERS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"}
)


@lru_cache(maxsize=32)
def language_of(text: str) -> str:
    """By its function words; in doubt English. Reads the beginning of a long text only."""
    own = [each.text for each in split(text[:_READ]) if each.is_own]
    folded = fold(" ".join(own))
    letters = [each for each in folded if each.isalpha()]
    # Some scripts put no blanks between words.
    if len(letters) >= 2 * _FEW and sum(not each.isascii() for each in letters) > _SCRIPT * len(letters):
        return UNKNOWN
    spoken = [word for word in words(folded)[:_LOOKED_AT] if word.isalpha()]
    if len(spoken) < _FEW:
        return ENGLISH
    counted = {name: sum(word in little for word in spoken) for name, little in function_words().items()}
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


@cache
def function_words() -> Mapping[str, frozenset[str]]:
    """By language, without accents."""
    named: dict[str, str] = orjson.loads(text_of("function_words.json"))
    return {name: frozenset(each.split()) for name, each in named.items()}


@cache
def _english() -> frozenset[str]:
    """Stems that support speaks of in English, so that a German sentence about a webhook is still a German one."""
    return frozenset({*concepts.stems_known(), *synonyms.stems_known()})
