"""Words that mix scripts: a Cyrillic letter among Latin ones looks like the letter that a reader expects."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

_WORD = re.compile(r"[\w.@]+")
_LOOK_ALIKE = frozenset({"ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "FULLWIDTH", "GREEK", "LATIN", "MATHEMATICAL"})
"""Scripts whose letters are taken for one another. Others are mixed in ordinary writing, as in Japanese."""


@dataclass(frozen=True)
class MixedWord:
    text: str
    character: str
    """The first letter of the script that is rarer in the word."""
    script: str


def mixed_words(value: Any) -> Iterator[MixedWord]:
    """Of a text, or of every text and name inside a value of JSON."""
    if isinstance(value, str):
        if not value.isascii():
            yield from filter(None, map(_mixed, _WORD.findall(value)))
    elif isinstance(value, Mapping):
        for name, inner in cast("Mapping[str, Any]", value).items():
            yield from mixed_words(name)
            yield from mixed_words(inner)
    elif isinstance(value, Sequence):
        for inner in cast("Sequence[Any]", value):
            yield from mixed_words(inner)


def _mixed(word: str) -> MixedWord | None:
    scripts = [(character, script) for character in word if (script := _script(character)) in _LOOK_ALIKE]
    counted = Counter(script for _, script in scripts)
    if len(counted) < 2:
        return None
    # Of two that are equally frequent, the one that is not Latin is named.
    rarest = min(counted, key=lambda script: (counted[script], script == "LATIN"))
    character = next(character for character, script in scripts if script == rarest)
    return MixedWord(word, character, rarest.capitalize())


def _script(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""
