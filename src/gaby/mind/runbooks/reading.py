"""Reads runbooks out of passages of Markdown. Passages of one document are one runbook, in the order of their lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from gaby.mind.runbooks import wording
from gaby.mind.runbooks.blocks import Block, blocks
from gaby.mind.runbooks.book import Advice, Branch, Runbook, Wanted
from gaby.mind.runbooks.conditions import Condition, alternatives
from gaby.mind.sentences import split
from gaby.mind.situations import Found

_LINES = re.compile(r"#L([0-9]{1,9})(?:-L[0-9]{1,9})?\Z")
_MOST_PASSAGES = 40
_LONGEST = 40_000
_ABOUT = 600
_MOST_GROUPS = 8


@dataclass
class _Body:
    """A branch while it is read."""

    conditions: tuple[tuple[Condition, ...], ...]
    citation: str
    depth: int
    kind: str
    cause: str = ""
    details: list[Advice] = field(default_factory=list[Advice])
    wanted: list[Wanted] = field(default_factory=list[Wanted])
    told: list[Advice] = field(default_factory=list[Advice])
    asked: list[Advice] = field(default_factory=list[Advice])
    handed: list[Advice] = field(default_factory=list[Advice])
    consent: str = ""
    security: bool = False
    slow: bool = False
    unclear: bool = False
    """Its condition could not be understood, so it is never taken."""
    divided: bool = False
    """There are branches inside of it."""

    @property
    def is_empty(self) -> bool:
        return not (self.cause or self.wanted or self.told or self.asked or self.handed)


def runbooks(passages: Sequence[Found], tools: frozenset[str]) -> list[Runbook]:
    """Those documents that name tools which are there, in the order in which they were found."""
    documents = enumerate(_documents(passages).items())
    read = [replace(_runbook(key, tuple(found), tools), rank=rank) for rank, (key, found) in documents]
    return [book for book in read if book.steps or any(branch.conditions for branch in book.branches)]


def document_of(citation: str) -> str:
    """`doc:handbook/locked-out.md` of a citation that names lines of it."""
    return citation.partition("#")[0]


def _documents(passages: Sequence[Found]) -> dict[str, list[Found]]:
    found: dict[str, dict[str, Found]] = {}
    for passage in passages[:_MOST_PASSAGES]:
        found.setdefault(document_of(passage.citation), {}).setdefault(passage.citation, passage)
    return {key: sorted(each.values(), key=_first_line) for key, each in found.items()}


def _first_line(passage: Found) -> int:
    lines = _LINES.search(passage.citation)
    return int(lines[1]) if lines else 0


# The same pages are found before every step of an investigation, and by the next ticket of the same kind.
@lru_cache(maxsize=256)
def _runbook(key: str, passages: tuple[Found, ...], tools: frozenset[str]) -> Runbook:
    reader = _Reader(tools)
    for passage in passages:
        for block in blocks(passage.text[:_LONGEST], passage.citation):
            reader.take(block)
    title = passages[0].title or reader.title
    return Runbook(
        key,
        title,
        " ".join(reader.about)[:_ABOUT],
        tuple(reader.steps),
        tuple(reader.branches()),
        citations=tuple(passage.citation for passage in passages),
    )


class _Reader:
    def __init__(self, tools: frozenset[str]) -> None:
        self._tools = tools
        self._bodies: list[_Body] = []
        self._open: list[_Body] = []
        """Those that are not at their end, the innermost last."""
        self.title = ""
        self.about: list[str] = []
        self.steps: list[Wanted] = []

    def take(self, block: Block) -> None:
        if block.kind == "heading":
            self.title = self.title or block.text
        while self._open and _ends(block, self._open[-1]):
            self._open.pop()
        text = block.text.lstrip("*_ ")
        if wording.OTHERWISE.match(text):
            rest = text[wording.condition_end(text) :]
            self._begin(block, (), rest if rest.strip(" :,") else "")
        elif wording.IF.match(text) and (block.kind != "paragraph" or "`" in text or "requester" in text):
            self._branch(block, text)
        elif self._open:
            self._read(self._open[-1], text, block.citation)
        elif block.kind != "heading":
            self._step(block)

    def branches(self) -> Iterator[Branch]:
        for body in self._bodies:
            if not body.unclear and not (body.divided and body.is_empty):
                yield _branch(body)

    def _branch(self, block: Block, text: str) -> None:
        start = wording.IF.match(text)
        end = wording.condition_end(text)
        condition = text[start.end() if start else 0 : end].replace("**", "")
        groups = alternatives(condition)
        if groups is None and "`" not in condition:
            if self._open:
                self._read(self._open[-1], text, block.citation)
            return
        body = self._begin(block, tuple(groups or ()), text[end:])
        body.unclear |= groups is None

    def _begin(self, block: Block, groups: tuple[tuple[Condition, ...], ...], rest: str) -> _Body:
        """A branch inside of another needs the conditions of both, and is more to the point, so it comes first."""
        while block.kind == "paragraph" and self._open and self._open[-1].kind == "paragraph":
            self._open.pop()
        outer = self._open[-1] if self._open else None
        body = _Body(groups, block.citation, block.depth, block.kind)
        if outer is None:
            self._bodies.append(body)
        else:
            outer.divided = True
            body.unclear = outer.unclear
            if groups and outer.conditions:
                body.conditions = tuple((*one, *other) for one in outer.conditions for other in groups)[:_MOST_GROUPS]
            self._bodies.insert(next(place for place, each in enumerate(self._bodies) if each is outer), body)
        self._open.append(body)
        self._read(body, rest.lstrip(":,* "), block.citation)
        return body

    def _step(self, block: Block) -> None:
        found = [each for sentence in _sentences(block.text) for each in self._wanted(sentence, block.citation)]
        self.steps += found
        if not found:
            self.about.append(wording.plain(block.text))

    def _wanted(self, sentence: str, citation: str) -> list[Wanted]:
        return list(wording.wanted(sentence, self._tools, citation))

    def _read(self, body: _Body, text: str, citation: str) -> None:
        heard: list[Advice] | None = None
        for sentence in _sentences(text):
            heard = self._sentence(body, sentence, citation, heard)

    def _sentence(self, body: _Body, sentence: str, citation: str, before: list[Advice] | None) -> list[Advice] | None:
        """What follows a sentence for the requester is for the requester as well, up to the end of the item."""
        after = wording.AFTERWARDS.match(sentence)
        sentence = sentence[after.end() :] if after else sentence
        goes_on = before is not None and bool(before) and before[-1].later
        said = Advice(wording.plain(sentence), citation, later=after is not None or goes_on)
        calls = self._wanted(sentence, citation)
        body.security |= wording.SECURITY.search(sentence) is not None
        if wording.CONSENT.search(sentence):
            body.consent = said.text
        body.wanted += calls
        body.slow |= wording.SLOW.match(sentence) is not None and before is None
        heard = _whose(body, sentence)
        if heard is None and not calls:
            heard = before
        if heard is not None:
            heard.append(said)
            return heard if heard is body.told or heard is body.asked else None
        if not calls and not body.cause and said.text != body.consent and not wording.SLOW.match(sentence):
            body.cause = wording.CAUSE.sub("", said.text)
        else:
            body.details.append(said)
        return None


def _ends(block: Block, body: _Body) -> bool:
    """What stands deeper than a list item belongs to it; what follows a paragraph does until the next heading."""
    if block.kind == "heading":
        return body.kind != "heading" or block.depth <= body.depth
    return body.kind == "item" and block.depth <= body.depth


def _whose(body: _Body, sentence: str) -> list[Advice] | None:
    if wording.TELLS.match(sentence):
        return body.told
    if wording.HANDS.match(sentence):
        return body.handed
    if asks := wording.ASKS.match(sentence):
        return body.handed if wording.COLLEAGUES.search(asks[1]) else body.asked
    return None


def _branch(body: _Body) -> Branch:
    wanted = tuple(each if each.hands_over else replace(each, consent=body.consent) for each in body.wanted)
    return Branch(
        body.conditions,
        body.cause,
        tuple(body.details),
        wanted,
        tuple(body.told),
        tuple(body.asked),
        tuple(body.handed),
        body.security,
        body.slow,
        body.citation,
    )


def _sentences(text: str) -> list[str]:
    return [sentence.plain for sentence in split(text) if any(map(str.isalnum, sentence.text))]
