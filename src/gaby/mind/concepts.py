"""What people write about in many different words: signing in, money, things that are down, things that are wrong.

The words of each concept are data (`data/concepts.json`). How much a concept says about what a ticket wants is learned
from examples, see `learning`.
"""

from collections.abc import Sequence
from functools import cache

import orjson

from gaby.mind.package_data import text_of
from gaby.mind.words import stem, words

_Phrase = tuple[str, ...]


@cache
def names() -> tuple[str, ...]:
    return tuple(_concepts())


def mentioned(text: str) -> dict[str, list[str]]:
    """The concepts in a text, each with the phrases that show it, each phrase once."""
    return mentioned_in([stem(word) for word in words(text)])


def mentioned_in(stems: Sequence[str]) -> dict[str, list[str]]:
    phrases = _phrases()
    mentions: dict[str, dict[str, None]] = {}
    for place, first in enumerate(stems):
        for phrase, concept, shown in phrases.get(first, ()):
            if tuple(stems[place : place + len(phrase)]) == phrase:
                mentions.setdefault(concept, {})[shown] = None
    return {concept: list(shown) for concept, shown in mentions.items()}


def stems_known() -> frozenset[str]:
    return frozenset(term for phrases in _phrases().values() for phrase, _, _ in phrases for term in phrase)


@cache
def _concepts() -> dict[str, list[str]]:
    listed: dict[str, str] = orjson.loads(text_of("concepts.json"))
    return {name: [phrase.strip() for phrase in phrases.split(",")] for name, phrases in listed.items()}


@cache
def _phrases() -> dict[str, list[tuple[_Phrase, str, str]]]:
    """By their first word, so that a text is read once."""
    by_first_stem: dict[str, list[tuple[_Phrase, str, str]]] = {}
    for concept, phrases in _concepts().items():
        for shown in phrases:
            phrase = tuple(stem(word) for word in words(shown))
            known = by_first_stem.setdefault(phrase[0], [])
            if not any(phrase == other and concept == same for other, same, _ in known):
                known.append((phrase, concept, shown))
    return by_first_stem
