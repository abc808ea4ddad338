"""A text that cites: its lines as they were written, with the sentences of each and the sources that they name."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from gaby.mind import CitingSentence, cited_sentences

_OPENING = re.compile(r"\s{0,40}(?:(?:[-*•+>]|[0-9]{1,3}[.)]|#{1,6})\s{1,8})?")
"""Of an item or a heading. It is kept, and is no part of the sentence."""


@dataclass(frozen=True)
class _ReplyLine:
    opening: str
    sentences: tuple[int, ...]


@dataclass(frozen=True)
class ReplyText:
    lines: tuple[_ReplyLine, ...]
    sentences: tuple[CitingSentence, ...]

    @classmethod
    def read(cls, text: str) -> "ReplyText":
        lines: list[_ReplyLine] = []
        sentences: list[CitingSentence] = []
        for line in text.strip().splitlines():
            match = _OPENING.match(line)
            opening = match[0] if match is not None else ""
            said = cited_sentences(line[len(opening) :])
            lines.append(_ReplyLine(opening, tuple(range(len(sentences), len(sentences) + len(said)))))
            sentences += said
        return cls(tuple(lines), tuple(sentences))

    def written(self, tokens: Mapping[str, str], without: Collection[int] = ()) -> str:
        """With tokens in the place of names. A line of which nothing is left goes; so do the blank lines around it."""
        written: list[str] = []
        for line in self.lines:
            kept = [place for place in line.sentences if place not in without]
            if kept:
                written.append(line.opening + " ".join(_with_tokens(self.sentences[place], tokens) for place in kept))
            elif not line.sentences and written and written[-1]:
                written.append("")
        return "\n".join(written).strip()


def _with_tokens(sentence: CitingSentence, tokens: Mapping[str, str]) -> str:
    cited = dict.fromkeys(tokens[name] for name in sentence.citations if name in tokens)
    return " ".join((sentence.text, *(f"[{token}]" for token in cited)))
