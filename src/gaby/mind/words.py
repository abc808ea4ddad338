"""Words of a text as the offline mind compares them: lower case, without endings, and without the ones that say little.

Every pattern here reads a character at most once, so the cost grows with the text and not faster.
"""

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_A-Za-z]+")
_VOWEL = re.compile(r"[aeiouy]")


def listed(words_in_a_row: str) -> frozenset[str]:
    """For lists of words in the code, which read better as a text."""
    return frozenset(words_in_a_row.split())


STOP_WORDS = listed(
    """
    a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing done down during each else even ever every few for from further get gets getting
    give given got had has have having he hello her here hers hey hi him his how i if in into is it its itself just
    kind know let like ll made make many may me might more most much must my no nor not now of off ok okay on once
    one only or other our ours out over own please re regards said same say see seem she should since so some still
    such take tell than thank thanks that the their theirs them then there these they this those though through to
    too try trying tried under until up upon us use used using ve very want wants was we well were what when where
    whether which while who whom whose why will with within without would yes yet you your yours
    """
)
"""They stand in every text, so they say nothing about what a text is about."""


def words(text: str) -> list[str]:
    """In lower case; `userId`, `user_id` and `user-id` are two words each."""
    return [word.lower() for word in _WORD.findall(text)]


def spelled(name: str) -> str:
    """A field's name in one spelling: `lockedAt`, `locked-at` and `Locked at` as `locked_at`."""
    return "_".join(words(name)) or name.strip().lower()


def terms(text: str) -> list[str]:
    """What a text is about: the stems of its words, in order, without the words that say little."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def stems(words_in_a_row: str) -> frozenset[str]:
    return frozenset(map(stem, words_in_a_row.split()))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The same for `charge`, `charged`, `charges` and `charging`. Rough on purpose: it only has to be the same."""
    if len(word) <= 3 or not word.isascii():
        return word
    return _without_last_vowel(_without_suffix(_without_past(_singular(word))))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_past(word: str) -> str:
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 3 and _VOWEL.search(root):
            is_doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz"
            return root[:-1] if is_doubled else root
    return word


def _without_suffix(word: str) -> str:
    for ending in ("ation", "ition", "ion", "ment", "ly"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 4:
            return root
    return word


def _without_last_vowel(word: str) -> str:
    if word.endswith("e") and len(word) > 4:
        word = word[:-1]
    if word.endswith("at") and len(word) > 5:
        word = word[:-2]
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word
