"""Words that mean about the same, so that `2FA` finds a tool that speaks of the second factor."""

from collections.abc import Mapping, Sequence
from functools import cache

from gaby.mind.package_data import text_of
from gaby.mind.words import stem, words

_WEIGHT = 0.35
"""A word that was not written counts less than one that was."""
_LONGEST = 3


def widened(terms: Mapping[str, float], stems: Sequence[str]) -> dict[str, float]:
    """The terms, and with less weight what means the same as a word or a phrase among the stems of the text."""
    wider = dict(terms)
    for added in _meant_by(stems):
        wider.setdefault(added, _WEIGHT)
    return wider


def alike(term: str) -> frozenset[str]:
    """The term itself and what means the same."""
    return frozenset({term, *_groups().get((term,), ())})


def stems_known() -> frozenset[str]:
    return frozenset(term for phrase in _groups() for term in phrase)


def _meant_by(stems: Sequence[str]) -> dict[str, None]:
    groups = _groups()
    meanings: dict[str, None] = {}
    for place in range(len(stems)):
        for length in range(1, _LONGEST + 1):
            for term in groups.get(tuple(stems[place : place + length]), ()):
                meanings[term] = None
    return meanings


@cache
def _groups() -> dict[tuple[str, ...], tuple[str, ...]]:
    """For each word or phrase the single terms of its groups."""
    groups: dict[tuple[str, ...], dict[str, None]] = {}
    for line in text_of("synonyms.txt").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        phrases = [tuple(stem(word) for word in words(phrase)) for phrase in line.split(",")]
        single = [phrase[0] for phrase in phrases if len(phrase) == 1]
        joined = [term for phrase in phrases if len(phrase) > 1 for term in phrase if len(term) > 3]
        for phrase in phrases:
            for term in [*single, *joined]:
                if term not in phrase:
                    groups.setdefault(phrase, {})[term] = None
    return {phrase: tuple(terms) for phrase, terms in groups.items()}
