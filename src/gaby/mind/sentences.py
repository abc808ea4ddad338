"""Sentences of a ticket, with where each stands: prose, list items, fields, log lines, code and quoted mail.

The text is read line by line and each line once, so a hostile text costs no more than its length.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

SentenceKind = Literal["prose", "item", "field", "log", "code", "quote", "header"]

LONGEST = 1000
"""A longer stretch without an end is cut, so that no part of Gaby has to deal with a sentence of a megabyte."""


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    """Exactly as it stands there, from `start` to `end`."""
    start: int
    end: int
    kind: SentenceKind = "prose"

    @property
    def plain(self) -> str:
        """On one line, without bullets and marks of quotation."""
        if self.kind == "prose" and "\n" not in self.text:
            return " ".join(self.text.split())
        return " ".join(_MARKS.sub(" ", self.text).split())

    @property
    def is_own(self) -> bool:
        """The writer's own words: no quoted mail, no code, no log."""
        return self.kind not in {"quote", "header", "code", "log"}


@dataclass(slots=True)
class _TextLine:
    start: int
    end: int
    """Without the blanks around it."""
    kind: SentenceKind
    text: str
    opens: bool
    """A new sentence begins here, whatever the line before said."""
    indented: bool = False


_MARKS = re.compile(r"(?:^|(?<=\n))[ \t]*(?:>[> \t]*)?(?:(?:[-*•‣◦–+]|[0-9]{1,3}[.)]|[a-z][.)])[ \t]+)?")
_QUOTE = re.compile(r">[> \t]*")
_BULLET = re.compile(r"(?:[-*•‣◦–+]|[0-9]{1,3}[.)]|[a-z]\))[ \t]+(?=\S)")
_FENCE = re.compile(r"`{3}|~{3}")
_HEADER = re.compile(
    r"(?:from|to|cc|bcc|sent|date|subject|reply-to|received|x-[a-z\-]{1,30}): |on .{4,120} wrote:$|"
    r"-{2,}|_{5,}|={5,}|-+ ?(?:original|forwarded) message",
    re.IGNORECASE,
)
_LOG = re.compile(
    r"\[?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9]{2}:[0-9]{2}|"
    r"\[?[0-9]{2}:[0-9]{2}:[0-9]{2}[\], .]|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|"
    r"dec) {1,2}[0-9]{1,2} [0-9]{2}:|"
    r"\[?(?:debug|info|notice|warn|warning|error|fatal|critical|trace)\]?[: \]]{1,2}(?=\S)|"
    r"at [\w.$<>]{3,200}\(|caused by: |traceback \(|  file \"",
    re.IGNORECASE,
)
_CODE = re.compile(r"\$ ?[a-z]|.{0,400}[{};]$|</?[a-z]", re.IGNORECASE)
_FIELD = re.compile(r"[\w][\w /()#.\-]{0,40}?[:=](?: |\t)\s*\S")
_END = re.compile(r"[.!?…]{1,4}[\"'”’)\]]{0,3}(?=\s|$)|[。！？]")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|mr|mrs|ms|dr|prof|st|vs|approx|ca|no|nr|inc|ltd|co|corp|dept|ext|tel|fig|ref|resp|"
    r"a\.m|p\.m|u\.s|u\.k|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec|mon|tue|wed|thu|fri|[a-z])\.$",
    re.IGNORECASE,
)
_MONTH = re.compile(r"(?:Jan|Feb|Mär|Mar|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")
_OPENS_SENTENCE = re.compile(r"[\"'“‘(\[]{0,2}[A-Z0-9À-ÞА-Я_/<`]")
_WRAPPED = 55
"""A line this long was probably broken by a mail program and not by the writer."""
_ABBREVIATION_WIDTH = 8
_NUMBER_WIDTH = 4


def split(text: str) -> list[Sentence]:
    """In the order of the text. Together they hold every word of it."""
    sentences: list[Sentence] = []
    for start, end, kind in _blocks(text):
        sentences += _cut(text, start, end, kind)
    return sentences


def _blocks(text: str) -> Iterator[tuple[int, int, SentenceKind]]:
    """Stretches in which the only ends of sentences are full stops and their like."""
    held: _TextLine | None = None
    for line in _lines(text):
        if held and line and _goes_on(held, line):
            held = _TextLine(held.start, line.end, held.kind, line.text, opens=held.opens)
            continue
        if held:
            yield held.start, held.end, held.kind
        held = line
    if held:
        yield held.start, held.end, held.kind


def _lines(text: str) -> Iterator[_TextLine | None]:
    """Every line; none where one is empty."""
    at = 0
    fenced = False
    for raw in text.splitlines(keepends=True):
        start, end = at, at + len(raw)
        at = end
        stripped = raw.strip()
        if not stripped:
            yield None
            continue
        start += len(raw) - len(raw.lstrip())
        end -= len(raw) - len(raw.rstrip())
        fence = _FENCE.match(stripped) is not None
        kind, opens = ("code", True) if fenced or fence else _kind_of(raw, stripped)
        fenced ^= fence
        yield _TextLine(start, end, kind, stripped, opens=opens, indented=raw[0].isspace())


def _kind_of(raw: str, line: str) -> tuple[SentenceKind, bool]:
    if quote := _QUOTE.match(line):
        inner = line[quote.end() :]
        return "quote", not inner or bool(_BULLET.match(inner) or _LOG.match(inner))
    if _BULLET.match(line):
        return "item", True
    if _HEADER.match(line):
        return "header", True
    if _LOG.match(line):
        return "log", True
    if raw.startswith(("    ", "\t")) or _CODE.match(line):
        return "code", True
    return ("field", True) if _FIELD.match(line) else ("prose", False)


def _goes_on(line: _TextLine, following: _TextLine) -> bool:
    """Whether the line break between them is only where a mail program broke the line."""
    if following.opens or following.kind in {"log", "code"} or line.kind in {"log", "header"}:
        return False
    is_long = len(line.text) >= _WRAPPED
    starts_small = following.text[0].islower()
    if line.kind != following.kind:
        belongs = line.kind in {"item", "field"} and following.kind == "prose"
        return belongs and starts_small and (is_long or following.indented)
    if line.text.endswith((".", "!", "?", ":", "…")):
        return True  # The full stop ends the sentence; the line break is only a blank.
    return is_long or (not _OPENS_SENTENCE.match(following.text) and not line.text.endswith(","))


def _cut(text: str, start: int, end: int, kind: SentenceKind) -> Iterator[Sentence]:
    if kind in {"prose", "item", "quote", "field"}:
        for match in _END.finditer(text, start, end):
            if match.end() < end and _is_end(text, start, match.start(), match.end(), end):
                yield from _pieces(text, start, match.end(), kind)
                start = match.end()
    yield from _pieces(text, start, end, kind)


def _is_end(text: str, start: int, stop: int, after: int, end: int) -> bool:
    if text[stop] != ".":
        return True
    if stop - start <= _NUMBER_WIDTH and text[start:stop].strip().isdigit():
        return False  # The number of a list item, and not a sentence.
    before = text[max(start, stop - _ABBREVIATION_WIDTH) : stop + 1]
    if _ABBREVIATION.search(before if stop - start > _ABBREVIATION_WIDTH else " " + before):
        # "At 5 p.m. We went home" ends there; "Mr. Smith" does not.
        return False
    rest = text[after : min(end, after + 12)].lstrip()
    if text[stop - 1 : stop].isdigit() and _MONTH.match(rest):
        return False  # "Am 22. Februar" goes on.
    return not rest or not rest[0].islower()


def _pieces(text: str, start: int, end: int, kind: SentenceKind) -> Iterator[Sentence]:
    """The stretch without blanks around it, cut where it is too long."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST:
        stop = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
        stop = stop if stop > 0 else start + LONGEST
        yield Sentence(text[start:stop], start, stop, kind)
        start = stop
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield Sentence(text[start:end], start, end, kind)
