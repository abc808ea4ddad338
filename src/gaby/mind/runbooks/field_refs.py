"""Fields that a runbook names: which field, of what, and of which tool's answer, as far as its words say so."""

from dataclasses import dataclass

from gaby.mind.words import STOP_WORDS, spelled, stem, words

Nouns = frozenset[str]

_NUMBERS = {"no": 0, "none": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "several": 2}


@dataclass(frozen=True)
class FieldRef:
    name: str
    nouns: Nouns = frozenset()
    """Stems of the words that say of what it is."""
    tools: frozenset[str] = frozenset()
    implied: bool = False
    """The words are those of the clause before, so the field may be of another thing as well."""


def dotted(name: str) -> tuple[str, set[str], set[str]]:
    """`account.status` says of what it is a field; `get_account.status` of which tool's answer."""
    owner, _, last = name.strip().rpartition(".")
    return spelled(last), {stem(word) for word in words(owner)}, {owner} if owner else set()


def nouns_in(text: str) -> Nouns:
    plain = text.replace("'s", " ").replace("’s", " ")
    return frozenset(stem(word) for word in words(plain) if word not in STOP_WORDS and len(word) > 1)


def number_of(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS.get(word.lower(), 0)
