"""Sentences with the sources they name, wherever the brackets stand: before the full stop, or behind it."""

import re
from dataclasses import dataclass

from gaby.mind.sentences import split

_SOURCE = r"(?![a-z_]{1,40}:[0-9]{1,9}(?:\.[0-9]{1,9})?-[a-z0-9]{6,16}\])[^\[\]\s]{1,4000}"
_CITED = re.compile(rf"\[({_SOURCE})\](?!\()")
"""A word in brackets. A Markdown link is none, and neither is a placeholder that stands for a redacted value."""
_LEADING = re.compile(rf"(?:\s*\[{_SOURCE}\](?!\()[.,;]?)+")
_GLUED = re.compile(rf"(?<=[.!?])(?=\[{_SOURCE}\](?!\())")
_LOOSE = re.compile(r" (?=[.,;!?](?: |$))")
"""The blank that a citation leaves before the full stop."""


@dataclass(frozen=True)
class CitingSentence:
    text: str
    """Without the citations."""
    citations: tuple[str, ...]


def cited_sentences(text: str) -> list[CitingSentence]:
    """In their order. Brackets at the beginning belong to the sentence before, unless that one has its own already and
    a new line begins with them."""
    text = _GLUED.sub(" ", text)
    cited: list[tuple[str, list[str]]] = []
    end = 0
    for sentence in split(text):
        plain = sentence.plain
        begins_line = text.find("\n", end, sentence.start) >= 0
        end = sentence.end
        leading = _LEADING.match(plain)
        if leading is not None and cited and not (begins_line and cited[-1][1] and plain[leading.end() :].strip()):
            cited[-1][1].extend(_CITED.findall(leading[0]))
            plain = plain[leading.end() :]
        said = _LOOSE.sub("", " ".join(_CITED.sub(" ", plain).split()))
        tokens = _CITED.findall(plain)
        if said.strip(" .,;"):
            cited.append((said, tokens))
        elif cited:
            cited[-1][1].extend(tokens)
    return [CitingSentence(said, tuple(dict.fromkeys(tokens))) for said, tokens in cited]
