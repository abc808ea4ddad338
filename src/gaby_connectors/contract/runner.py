"""Runs all rules against a server and writes the report card."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from typing import cast

from mcp.shared.exceptions import MCPError
from mcp.types import PaginatedRequestParams, Tool

from gaby_connectors.contract.behaviour import BadArguments, Healthcheck, LargeResults, ReadsAnswer
from gaby_connectors.contract.declarations import (
    DangerousFlagged,
    ManifestPresent,
    ManifestValid,
    PlainText,
    ToolsListed,
    WriteArguments,
)
from gaby_connectors.contract.process import CleanStdout, StartsQuickly, Stops, SurvivesGarbage
from gaby_connectors.contract.readers import ReadersDeclared
from gaby_connectors.contract.report import ReportCard, RuleResult
from gaby_connectors.contract.rule import ContractRule, ProcessRule, failed, not_applicable
from gaby_connectors.contract.samples import SampleArguments
from gaby_connectors.contract.secrets import NoSecretEchoed, QuietOnStderr, new_canary, secrets_in_environment
from gaby_connectors.contract.server_under_test import ServerUnderTest, ToolResponse
from gaby_connectors.contract.target import StdioTarget, Target, UnsolicitedOutput, connected
from gaby_connectors.contract.write_rules import DryRun, IdempotentRetry

_MOST_PAGES = 100


async def check(
    target: Target,
    *,
    samples: SampleArguments | None = None,
    writes: bool = False,
    secrets: Iterable[str] = (),
    start_within: float = 2.0,
    stop_within: float = 10.0,
    only: Collection[str] | None = None,
) -> ReportCard:
    """Checks a server. Writes are only called as dry runs, unless `writes` is true and there are samples for them.

    `secrets` are texts that must never come back; secrets that can be recognised in the environment are added.
    """
    environment = target.env if isinstance(target, StdioTarget) else target.headers
    known = [*secrets, *secrets_in_environment(environment)]
    canary = new_canary()
    start, rules, process_rules = StartsQuickly(start_within), _rules(canary, known), _process_rules(stop_within)
    wanted = set(only) if only is not None else {rule.id for rule in (start, *rules, *process_rules)}
    heard = UnsolicitedOutput()
    findings: list[RuleResult] = []
    if isinstance(target, StdioTarget) and start.id in wanted:
        findings.append(start.finding(await start.check(target)))
    chosen = [rule for rule in rules if rule.id in wanted]
    server = await _examine(target, samples or SampleArguments(), chosen, findings, heard, may_write=writes)
    afterwards = [rule for rule in process_rules if rule.id in wanted]
    findings += await _afterwards(target, afterwards, heard, [canary, *known], alive=server is not None)
    return ReportCard(target=str(target), server=server, findings=tuple(findings))


def _rules(canary: str, secrets: Sequence[str]) -> list[ContractRule]:
    return [
        ToolsListed(),
        ManifestPresent(),
        ManifestValid(),
        DangerousFlagged(),
        ReadersDeclared(),
        WriteArguments(),
        PlainText(),
        Healthcheck(),
        ReadsAnswer(),
        BadArguments(),
        DryRun(),
        IdempotentRetry(),
        LargeResults(),
        NoSecretEchoed(canary, secrets),
    ]


def _process_rules(stop_within: float) -> list[ProcessRule]:
    return [CleanStdout(), QuietOnStderr(), SurvivesGarbage(), Stops(stop_within)]


async def _examine(
    target: Target,
    samples: SampleArguments,
    rules: Sequence[ContractRule],
    findings: list[RuleResult],
    heard: UnsolicitedOutput,
    *,
    may_write: bool,
) -> str | None:
    """Applies the rules one after the other, with a new session whenever a rule has cost the server its life."""
    left = list(rules)
    answers: list[tuple[str, ToolResponse]] = []
    name: str | None = None
    while left or name is None:
        try:
            async with connected(target, heard) as (session, hello):
                name = f"{hello.server_info.name} {hello.server_info.version}".strip()
                subject = ServerUnderTest(session, hello, samples, may_write, answers=answers)
                subject.tools = await _all_tools(subject)
                while left and not subject.gone:
                    rule = left[0]
                    findings.append(rule.finding(await rule.check(subject)))
                    left.pop(0)
        except (OSError, MCPError, ExceptionGroup) as error:
            if name is None:
                findings += [rule.finding(failed(f"no session: {_cause(error)}")) for rule in left]
                return None
            if left:
                findings.append(left.pop(0).finding(failed(f"the session broke: {_cause(error)}")))
    return name


async def _all_tools(subject: ServerUnderTest) -> list[Tool]:
    tools: list[Tool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await subject.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return tools


async def _afterwards(
    target: Target, rules: Sequence[ProcessRule], heard: UnsolicitedOutput, secrets: Sequence[str], *, alive: bool
) -> list[RuleResult]:
    """The rules that need a process of their own, and those that look at what was heard in the sessions."""
    if not isinstance(target, StdioTarget):
        return [rule.finding(not_applicable("it is not a process of ours")) for rule in rules]
    if not alive:
        return [rule.finding(not_applicable("it does not start")) for rule in rules]
    return [
        rule.finding(seen)
        for rule, seen in zip(
            rules, await asyncio.gather(*(rule.check(target, heard, secrets) for rule in rules)), strict=True
        )
    ]


def _cause(error: Exception) -> str:
    if isinstance(error, ExceptionGroup):
        return _cause(cast("ExceptionGroup[Exception]", error).exceptions[0])
    return f"{type(error).__name__} {error}"[:200]
