"""Consents that runbooks want: changes which a person has to agree to first, whoever plans them.

This is read more broadly than the rest, from any part of any page: whoever is asked once too often loses less than
whoever is not asked.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from gaby.mind.runbooks.markdown import MOST_LINES, blocks
from gaby.mind.runbooks.statements import IF, OTHERWISE, plain
from gaby.mind.situations import FoundPassage
from gaby.mind.tool_names import short_name

_CONSENT = re.compile(
    r"\b(?:before (?:that|this|you)|only (?:after|once|when|if)|(?:(?:has|have|needs?) to|must) "
    r"(?:agree|confirm|approve|check)|(?:agrees|confirms|approves|checks) first|first checks?)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?]{1,400}[.!?]?")
_NAME = re.compile(r"`([^`\n]{1,200})`|\b((?:[a-z0-9]+[-.])?[a-z0-9]+(?:_[a-z0-9]+)+)\b")
"""In backticks, or a word with an underscore, which is no word of a language."""
_OVERLAP = 100
"""Lines that are read twice, so that nothing is cut in two."""


def consents_wanted(passages: Sequence[FoundPassage], tools: Collection[str]) -> dict[str, str]:
    """For each tool, in the runbook's own words, what a person has to confirm. A name without its connector means every
    tool that is called so: another connector cannot take the consent away."""
    meant: dict[str, list[str]] = {name: [name] for name in tools}
    for name in tools:
        meant.setdefault(short_name(name), []).append(name)
    wanted: dict[str, str] = {}
    for passage in passages:
        for part in _parts(passage.text) if passage.trusted else ():
            consent = " ".join(plain(each[0]) for each in _SENTENCE.finditer(part) if _CONSENT.search(each[0]))
            for mark in _NAME.finditer(part) if consent else ():
                for tool in meant.get((mark[1] or mark[2]).strip().removesuffix("()"), ()):
                    wanted.setdefault(tool, consent[:400])
    return wanted


def _parts(text: str) -> Iterator[str]:
    """Conditions with all that stands below each, of a page of any length."""
    lines = text.splitlines()
    for first in range(0, max(len(lines), 1), MOST_LINES - _OVERLAP):
        yield from _parts_within("\n".join(lines[first : first + MOST_LINES]))


def _parts_within(text: str) -> Iterator[str]:
    held: list[str] = []
    for block in blocks(text):
        said = block.text.replace("**", "").lstrip("_ ")
        if block.kind == "heading" or IF.match(said) or OTHERWISE.match(said):
            yield "\n".join(held)
            held = []
        held.append(said)
    yield "\n".join(held)
