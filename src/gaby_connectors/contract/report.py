"""The report card: what each rule found, as data, as a table and as JSON."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, computed_field
from rich.table import Table
from rich.text import Text

Verdict = Literal["pass", "fail", "not applicable"]
_COLOURS: dict[Verdict, str] = {"pass": "green", "fail": "bold red", "not applicable": "dim"}


class RuleResult(BaseModel):
    """What one rule found. `detail` says what was seen; `fix`, only on a failure, what to do about it."""

    model_config = ConfigDict(frozen=True)

    rule: str
    title: str
    verdict: Verdict
    detail: str
    fix: str | None = None


class ReportCard(BaseModel):
    model_config = ConfigDict(frozen=True)

    target: str
    server: str | None
    findings: tuple[RuleResult, ...]

    @computed_field
    @property
    def passed(self) -> bool:
        return not self.failures

    @property
    def failures(self) -> tuple[RuleResult, ...]:
        return tuple(finding for finding in self.findings if finding.verdict == "fail")

    def finding(self, rule: str) -> RuleResult:
        return next(finding for finding in self.findings if finding.rule == rule)

    def table(self) -> Table:
        table = Table("rule", "promise", "", "what was seen", title=self.target, title_justify="left")
        for finding in self.findings:
            text = finding.detail if finding.fix is None else f"{finding.detail}\n→ {finding.fix}"
            # As Text, since what a server says must not be read as markup.
            table.add_row(
                finding.rule, finding.title, Text(finding.verdict, style=_COLOURS[finding.verdict]), Text(text)
            )
        return table
