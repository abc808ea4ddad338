"""Reads a page of Markdown as a runbook, strictly: every sentence below the introduction is understood, or an error."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from gaby.mind.runbooks.conditions import Condition, ConditionError, alternatives
from gaby.mind.runbooks.front_matter import read_front_matter
from gaby.mind.runbooks.markdown import MarkdownBlock, blocks
from gaby.mind.runbooks.model import Advice, Branch, Runbook, RunbookCall, RunbookProblem
from gaby.mind.runbooks.statements import (
    IF,
    OTHERWISE,
    RunbookStatement,
    StatementError,
    condition_end,
    not_understood,
    plain,
    statement_of,
)
from gaby.mind.situations import FoundPassage

_END = re.compile(r"[.!?][\"”’')\]]{0,2}(?=\s+[^a-z\s])")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|mr|mrs|ms|dr|prof|st|no|nr|ca|approx)\.\Z", re.IGNORECASE)
_MOST_PAGES = 40
_UNOPENED = frozenset({"cause", "slow"})
"""Statements that begin like any sentence."""
_LONGEST = 40_000
_ABOUT = 600
_MOST_GROUPS = 8
_MOST_PROBLEMS = 50


@dataclass
class _BranchBuilder:
    """A branch while it is read."""

    conditions: tuple[tuple[Condition, ...], ...]
    depth: int
    kind: str
    line: int
    words: str = ""
    cause: str = ""
    details: list[Advice] = field(default_factory=list[Advice])
    wanted: list[RunbookCall] = field(default_factory=list[RunbookCall])
    told: list[Advice] = field(default_factory=list[Advice])
    asked: list[Advice] = field(default_factory=list[Advice])
    handed: list[Advice] = field(default_factory=list[Advice])
    consent: str = ""
    security: bool = False
    slow: bool = False
    settles: bool = False
    divided: bool = False
    """There are branches inside of it."""

    @property
    def does_nothing(self) -> bool:
        return not (self.wanted or self.told or self.asked or self.handed or self.security)


def runbooks(pages: Sequence[FoundPassage], tools: frozenset[str]) -> list[Runbook]:
    """Those pages that whoever searched took for runbooks, in the order in which they were found, with their errors."""
    whole = list({page.citation: page for page in pages if page.runbook}.values())[:_MOST_PAGES]
    return [
        replace(parse_runbook(page.text, tools, page.citation, page.title), rank=pages.index(page)) for page in whole
    ]


def is_runbook(text: str, tools: frozenset[str]) -> bool:
    """A page that declares itself one, with errors or without; or one that says nothing of it and is understood as a
    whole, with steps and conditions."""
    declared = read_front_matter(text).declared
    if declared is not None:
        return declared
    if "`" not in text:
        return False
    runbook = parse_runbook(text, tools)
    return not runbook.errors and bool(runbook.steps) and any(branch.conditions for branch in runbook.branches)


def document_of(citation: str) -> str:
    """`doc:handbook/locked-out.md` of a citation that names lines of it."""
    return citation.partition("#")[0]


# The same pages are read before every step of an investigation, and by the next ticket of the same kind.
@lru_cache(maxsize=256)
def parse_runbook(text: str, tools: frozenset[str], citation: str = "", title: str = "") -> Runbook:
    """Without tools nothing can be understood: which words name one is known from what is connected."""
    front = read_front_matter(text)
    parser = _Parser(tools, citation)
    for line, said, why, hint in front.problems:
        parser.problem(line, said, why, hint)
    if len(text) > _LONGEST:
        parser.problem(1, "", f"the page is longer than {_LONGEST} characters", "keep one problem to a page")
    else:
        for block in blocks(text, front.lines):
            parser.take(block)
    return Runbook(
        document_of(citation),
        title or parser.title,
        " ".join(parser.about)[:_ABOUT],
        tuple(parser.steps),
        tuple(parser.branches()),
        citations=(citation,) if citation else (),
        symptoms=front.symptoms,
        declared=bool(front.declared),
        errors=tuple(parser.errors()),
    )


class _Parser:
    def __init__(self, tools: frozenset[str], citation: str) -> None:
        self._tools = tools
        self._citation = citation
        self._bodies: list[_BranchBuilder] = []
        self._open: list[_BranchBuilder] = []
        """Those that are not at their end, the innermost last."""
        self._problems: list[RunbookProblem] = []
        self.title = ""
        self.about: list[str] = []
        self.steps: list[RunbookCall] = []

    def problem(self, line: int, text: str, why: str, hint: str = "") -> None:
        if len(self._problems) < _MOST_PROBLEMS:
            self._problems.append(RunbookProblem(line, text[:300], why, hint))

    def errors(self) -> list[RunbookProblem]:
        """What is wrong with lines, and with the whole, in the order of the lines."""
        problems = list(self._problems)
        if not problems and not any(body.conditions for body in self._bodies):
            why = "it has no condition, so nobody knows when to do what"
            problems.append(RunbookProblem(1, self.title, why, "write a paragraph that begins with If"))
        for body in self._bodies:
            if body.does_nothing and not body.divided:
                why = "nothing is to be done under this condition"
                hint = "say what to do, in sentences below it: Do `tool`., Tell the requester: ..., Hand it to ..."
                problems.append(RunbookProblem(body.line, body.words or "Otherwise", why, hint))
        return sorted(problems, key=lambda each: each.line)

    def take(self, block: MarkdownBlock) -> None:
        if block.too_long or block.kind == "rest":
            why = "this is too long to be read" if block.too_long else "the page has too many lines"
            self.problem(block.line, block.text[:80], why, "divide it")
            return
        if block.kind == "code":
            if self.steps or self._bodies:
                self.problem(block.line, block.text, "a block of code is not understood", "name a tool instead")
            return
        while self._open and _ends(block, self._open[-1]):
            self._open.pop()
        text = block.text.replace("**", "").lstrip("_ ")
        otherwise = OTHERWISE.match(text)
        if otherwise:
            self._begin(block, (), "", text[otherwise.end() :])
        elif IF.match(text) and (block.kind != "paragraph" or self.steps or self._bodies or "`" in text):
            self._condition(block, text)
        elif block.kind == "heading":
            self.title = self.title or block.text
        elif self._open:
            body = self._open[-1]
            below_heading = body.kind == "heading" and block.kind == "paragraph" and bool(body.words)
            self._read(body, text, block.line, may_be_cause=below_heading)
        else:
            self._step(block, text)

    def branches(self) -> list[Branch]:
        return [self._branch(body) for body in self._bodies if not (body.divided and body.does_nothing)]

    def _condition(self, block: MarkdownBlock, text: str) -> None:
        start, end = IF.match(text), condition_end(text)
        condition = text[start.end() if start else 0 : end].strip(" ,")
        try:
            groups = tuple(alternatives(condition))
        except ConditionError as error:
            self.problem(block.line, text, error.why, error.hint)
            groups = ()
        self._begin(block, groups, condition, text[end:])

    def _begin(self, block: MarkdownBlock, groups: tuple[tuple[Condition, ...], ...], words: str, rest: str) -> None:
        """A branch inside of another needs the conditions of both, and is more to the point, so it comes first."""
        while block.kind == "paragraph" and self._open and self._open[-1].kind == "paragraph":
            self._open.pop()
        outer = self._open[-1] if self._open else None
        body = _BranchBuilder(groups, block.depth, block.kind, block.line, words)
        if outer is None:
            self._bodies.append(body)
        else:
            outer.divided = True
            if groups and outer.conditions:
                combined = tuple((*one, *other) for one in outer.conditions for other in groups)
                if len(combined) > _MOST_GROUPS:
                    self.problem(block.line, words, "too many alternatives in one condition", "divide it")
                body.conditions = combined[:_MOST_GROUPS]
            elif not groups and not words:
                body.conditions = outer.conditions
            body.words = " and ".join(each for each in (outer.words, words) if each)
            place = next(place for place, each in enumerate(self._bodies) if each is outer)
            self._bodies.insert(place, body)
        self._open.append(body)
        self._read(body, rest.lstrip(":, "), block.line, may_be_cause=bool(words))

    def _step(self, block: MarkdownBlock, text: str) -> None:
        """What comes before the first step and names no tool is the introduction."""
        for sentence in sentences(text):
            try:
                said = statement_of(sentence, self._tools)
                if said is None and (self.steps or self._bodies or (block.kind == "item" and "`" in sentence)):
                    raise not_understood(sentence)
            except StatementError as error:
                self.problem(block.line, sentence, error.why, error.hint)
                continue
            is_introduction = not (self.steps or self._bodies)
            if said is None or (is_introduction and said.kind in {"slow", "settles", "consent", "cause"}):
                self.about.append(plain(sentence))
            elif said.kind == "call":
                self.steps += [replace(each, citation=self._citation, line=block.line) for each in said.calls]
            elif said.kind not in {"note", "cause"}:
                why = "this needs a condition: it stands outside of any If"
                self.problem(block.line, sentence, why, "put it below a paragraph that begins with If")

    def _read(self, body: _BranchBuilder, text: str, line: int, *, may_be_cause: bool) -> None:
        """The first sentence behind a condition is the cause, unless it says what to do."""
        before: RunbookStatement | None = None
        for sentence in sentences(text):
            try:
                said = statement_of(sentence, self._tools)
            except StatementError as error:
                self.problem(line, sentence, error.why, error.hint)
                before = None
                continue
            if before is not None and before.kind in {"tell", "ask"} and said is not None and said.kind in _UNOPENED:
                # "The cause: ..." and "It takes ..." go on with what the requester is told.
                body.slow = body.slow or said.kind == "slow"
                said = None
            if said is not None:
                self._add(body, said, line)
            elif before is not None and before.kind in {"tell", "ask", "note", "hand", "consent"}:
                # What follows a sentence for somebody is for them as well, up to the end of the item.
                said = RunbookStatement(before.kind, sentence, later=before.later)
                self._add(body, said, line)
            elif may_be_cause and not body.cause and body.does_nothing and before is None:
                body.cause = plain(sentence)
                continue
            else:
                wrong = not_understood(sentence)
                self.problem(line, sentence, wrong.why, wrong.hint)
            before = said

    def _add(self, body: _BranchBuilder, said: RunbookStatement, line: int) -> None:
        advice = Advice(plain(said.text), self._citation, later=said.later, line=line)
        body.wanted += [replace(each, citation=self._citation, line=line) for each in said.calls]
        texts = {"tell": body.told, "ask": body.asked, "hand": body.handed, "note": body.details}
        if said.kind in texts:
            texts[said.kind].append(advice)
        match said.kind:
            case "consent":
                body.consent = f"{body.consent} {advice.text}".strip()
            case "cause":
                body.cause = body.cause or advice.text
            case "security" | "slow" | "settles":
                setattr(body, said.kind, True)
            case _:
                pass

    def _branch(self, body: _BranchBuilder) -> Branch:
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
            body.settles,
            self._citation,
            body.line,
            body.words,
        )


def _ends(block: MarkdownBlock, body: _BranchBuilder) -> bool:
    """What stands deeper than a list item belongs to it; what follows a paragraph does until the next heading."""
    if block.kind == "heading":
        return body.kind != "heading" or block.depth <= body.depth
    return body.kind == "item" and block.depth <= body.depth


def sentences(text: str) -> list[str]:
    """Cut at full stops that stand outside of backticks and end no abbreviation."""
    pieces: list[str] = []
    begin = 0
    for end in _END.finditer(text):
        inside = text.count("`", begin, end.start()) % 2
        if not inside and not _ABBREVIATION.search(text, max(begin, end.start() - 8), end.start() + 1):
            pieces.append(text[begin : end.end()].strip())
            begin = end.end()
    pieces.append(text[begin:].strip())
    return [each for each in pieces if any(map(str.isalnum, each))]
