"""Consents that runbooks want: changes which a person has to agree to first, whoever plans them.

This is read more broadly than the rest, from any part of any page: whoever is asked once too often loses less than
whoever is not asked.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from gaby.mind.runbooks.markdown import blocks
from gaby.mind.runbooks.statements import IF, OTHERWISE, plain
from gaby.mind.situations import Found

_CONSENT = re.compile(
    r"\b(?:before (?:that|this|you)|only (?:after|once|when|if)|(?:(?:has|have|needs?) to|must) "
    r"(?:agree|confirm|approve|check)|(?:agrees|confirms|approves|checks) first|first checks?)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?]{1,400}[.!?]?")
_TICKED = re.compile(r"`([^`\n]{1,200})`")
_LONGEST = 40_000


def consents_wanted(passages: Sequence[Found], tools: Collection[str]) -> dict[str, str]:
    """For each tool, in the runbook's own words, what a person has to confirm."""
    short = {name.rpartition(".")[2]: name for name in tools}
    wanted: dict[str, str] = {}
    for passage in passages:
        for part in _parts(passage.text[:_LONGEST]) if passage.trusted else ():
            consent = " ".join(plain(each[0]) for each in _SENTENCE.finditer(part) if _CONSENT.search(each[0]))
            for mark in _TICKED.finditer(part) if consent else ():
                name = mark[1].strip().removesuffix("()")
                if name in short or name in tools:
                    wanted.setdefault(short.get(name, name), consent[:400])
    return wanted


def _parts(text: str) -> Iterator[str]:
    """Conditions with all that stands below each."""
    held: list[str] = []
    for block in blocks(text):
        said = block.text.replace("**", "").lstrip("_ ")
        if block.kind == "heading" or IF.match(said) or OTHERWISE.match(said):
            yield "\n".join(held)
            held = []
        held.append(said)
    yield "\n".join(held)
