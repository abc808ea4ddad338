"""The words in which passages and questions are given to an embedding model."""

from collections.abc import Container, Sequence

from gaby.knowledge.terms import content_text
from gaby.mind.words import stem

_LOCAL = "local/"
_KNOWN = 3
"""How often a word of a question counts that stands somewhere in the corpus. Names of people and places mostly do not,
and say little about which passage is meant; but neither may what is only said in other words be lost."""


def passage_text(model: str, title: str, headings: Sequence[str], text: str) -> str:
    return spoken(model, with_what_stands_above(title, headings, text))


def with_what_stands_above(title: str, headings: Sequence[str], text: str) -> str:
    """The title counts twice, since it says what all of it is about."""
    return "\n".join([title, title, *[each for each in headings if each != title], text])


def spoken(model: str, text: str) -> str:
    """A text as it is given to this model."""
    return _embedded(model, text, 1, ())


def question_text(model: str, text: str, known: Container[str]) -> str:
    """`known` are the terms of the question that the corpus has: the keys of `CandidatePool.rarity`."""
    return _embedded(model, text, _KNOWN, known)


def _embedded(model: str, text: str, times: int, known: Container[str]) -> str:
    """The local models are means of their words or nearly so, and find more when they hear only those that say
    something. A large model reads the text as it is."""
    if not model.startswith(_LOCAL):
        return text
    words = content_text(text)
    if times > 1:
        words = " ".join(word for word in words.split() for _ in range(times if stem(word) in known else 1))
    return words or text
