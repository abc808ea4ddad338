"""Sentences with the sources they name, wherever the brackets stand: before the full stop, or behind it."""

import re
from dataclasses import dataclass

from gaby.mind.sentences import split

_CITED = re.compile(r"\[([^\[\]\s]{1,4000})\](?!\()")
"""A word in brackets; a Markdown link is none."""
_LEADING = re.compile(r"(?:\s*\[[^\[\]\s]{1,4000}\](?!\()[.,;]?)+")


@dataclass(frozen=True)
class Cited:
    text: str
    """Without the citations."""
    citations: tuple[str, ...]


def cited_sentences(text: str) -> list[Cited]:
    """In their order. Brackets at the beginning belong to the sentence before."""
    found: list[tuple[str, list[str]]] = []
    for sentence in split(text):
        plain = sentence.plain
        leading = _LEADING.match(plain)
        if leading is not None and found:
            found[-1][1].extend(_CITED.findall(leading[0]))
            plain = plain[leading.end() :]
        said = " ".join(_CITED.sub(" ", plain).split()).replace(" .", ".").replace(" ,", ",")
        tokens = _CITED.findall(plain)
        if said.strip(" .,;"):
            found.append((said, tokens))
        elif found:
            found[-1][1].extend(tokens)
    return [Cited(said, tuple(dict.fromkeys(tokens))) for said, tokens in found]
