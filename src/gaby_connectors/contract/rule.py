"""What a rule is: an id, a promise in a few words, how to mend it, and a check."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from gaby_connectors.contract.report import RuleResult, Verdict
from gaby_connectors.contract.server_under_test import ServerUnderTest
from gaby_connectors.contract.target import StdioTarget, UnsolicitedOutput


class CheckResult(NamedTuple):
    verdict: Verdict
    detail: str


def passed(detail: str = "") -> CheckResult:
    return CheckResult("pass", detail)


def failed(detail: str) -> CheckResult:
    return CheckResult("fail", detail)


def not_applicable(reason: str) -> CheckResult:
    return CheckResult("not applicable", reason)


def result_of(problems: list[str], good: str) -> CheckResult:
    """Failed with the first few problems, if there are any."""
    if not problems:
        return passed(good)
    more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
    return failed("; ".join(problems[:5]) + more)


class RuleBase(ABC):
    id: ClassVar[str]
    title: ClassVar[str]
    fix: ClassVar[str]

    def finding(self, seen: CheckResult) -> RuleResult:
        fix = self.fix if seen.verdict == "fail" else None
        return RuleResult(rule=self.id, title=self.title, verdict=seen.verdict, detail=seen.detail[:1500], fix=fix)


class ContractRule(RuleBase):
    """A rule that looks at a running server."""

    @abstractmethod
    async def check(self, subject: ServerUnderTest) -> CheckResult: ...


class ProcessRule(RuleBase):
    """A rule that looks at the process itself: at one of its own, or at what was heard from the others."""

    @abstractmethod
    async def check(self, target: StdioTarget, heard: UnsolicitedOutput, secrets: Sequence[str]) -> CheckResult: ...
