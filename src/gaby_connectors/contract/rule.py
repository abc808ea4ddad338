"""What a rule is: an id, a promise in a few words, how to mend it, and a check."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from gaby_connectors.contract.report import Finding, Verdict
from gaby_connectors.contract.subject import Subject
from gaby_connectors.contract.target import Heard, StdioTarget


class Seen(NamedTuple):
    verdict: Verdict
    detail: str


def passed(detail: str = "") -> Seen:
    return Seen("pass", detail)


def failed(detail: str) -> Seen:
    return Seen("fail", detail)


def not_applicable(reason: str) -> Seen:
    return Seen("not applicable", reason)


def judged(problems: list[str], good: str) -> Seen:
    """Failed with the first few problems, if there are any."""
    if not problems:
        return passed(good)
    more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
    return failed("; ".join(problems[:5]) + more)


class Described(ABC):
    id: ClassVar[str]
    title: ClassVar[str]
    fix: ClassVar[str]

    def finding(self, seen: Seen) -> Finding:
        fix = self.fix if seen.verdict == "fail" else None
        return Finding(rule=self.id, title=self.title, verdict=seen.verdict, detail=seen.detail[:1500], fix=fix)


class Rule(Described):
    """A rule that looks at a running server."""

    @abstractmethod
    async def check(self, subject: Subject) -> Seen: ...


class ProcessRule(Described):
    """A rule that looks at the process itself: at one of its own, or at what was heard from the others."""

    @abstractmethod
    async def check(self, target: StdioTarget, heard: Heard, secrets: Sequence[str]) -> Seen: ...
