"""Rules about writes: what a dry run must not do, and what a retry must not do twice."""

from typing import Any, ClassVar

from mcp.types import Tool

from gaby_connectors.contract.rule import CheckResult, ContractRule, failed, not_applicable, result_of
from gaby_connectors.contract.server_under_test import ServerUnderTest, ToolResponse, new_key


class DryRun(ContractRule):
    id: ClassVar[str] = "dry_run"
    title: ClassVar[str] = "A dry run changes nothing and is not remembered as done"
    fix: ClassVar[str] = "With `dry_run: true`, check everything and describe the effect, but do not do or remember it."

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        problems: list[str] = []
        tried = 0
        before = await steady_reads(subject)
        for tool in subject.write_tools():
            arguments = subject.arguments(tool)
            if arguments is None or not subject.can_be_called(tool):
                continue
            key = new_key()
            dry = arguments | {"dry_run": True, "idempotency_key": key}
            first, second = await subject.call(tool.name, dry), await subject.call(tool.name, dry)
            if first.gone or second.gone:
                return failed(f"{tool.name}: {first.text} {second.text}"[:300])
            if first.failed:
                if tool.name in subject.samples.tools:
                    problems.append(f"{tool.name}: {first.text[:200]}")
                continue
            tried += 1
            if not first.same_as(second):
                problems.append(f"{tool.name}: two dry runs give different answers")
        after = await steady_reads(subject)
        problems += [f"{name} reads differently after dry runs" for name in _changed(before, after)]
        if not tried and not problems:
            return not_applicable("no write could be tried as a dry run; give samples")
        return result_of(problems, f"{tried} writes tried")


class IdempotentRetry(ContractRule):
    id: ClassVar[str] = "idempotent_retry"
    title: ClassVar[str] = "The same key twice gives the same answer and one effect"
    fix: ClassVar[str] = "Remember key, arguments and result of each write, and answer a repetition from that memory."

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        if not subject.may_write:
            return not_applicable("this really writes; pass samples and --writes, on a system where that does no harm")
        problems: list[str] = []
        tried = 0
        for tool in subject.write_tools():
            if tool.name not in subject.samples.tools:
                continue
            tried += 1
            problems += await self._twice(subject, tool, subject.samples.tools[tool.name])
            if subject.gone:
                return failed("; ".join([*problems, f"{tool.name}: no answer"]))
        return result_of(problems, f"{tried} writes tried") if tried else not_applicable("no samples of writes")

    async def _twice(self, subject: ServerUnderTest, tool: Tool, arguments: dict[str, Any]) -> list[str]:
        key = {"idempotency_key": new_key()}
        dry = await subject.call(tool.name, arguments | key | {"dry_run": True})
        first = await subject.call(tool.name, arguments | key)
        if first.failed:
            return [f"{tool.name}: {first.text[:200]}"]
        after_first = await steady_reads(subject)
        second = await subject.call(tool.name, arguments | key)
        problems: list[str] = []
        if not second.same_as(first):
            problems.append(f"{tool.name} answers a repetition differently")
        if dry.field("dry_run") is True and first.same_as(dry):
            problems.append(f"{tool.name} remembered its dry run as done")
        if changed := _changed(after_first, await steady_reads(subject)):
            problems.append(f"{tool.name} had a second effect, seen in {', '.join(changed)}")
        return problems


async def steady_reads(subject: ServerUnderTest) -> dict[str, ToolResponse]:
    """What the reads with known arguments say, as far as asking twice gives the same."""
    responses: dict[str, ToolResponse] = {}
    for tool in subject.tools:
        if subject.writes(tool) or tool.name == "healthcheck" or tool.name not in subject.samples.tools:
            continue
        first = await subject.call(tool.name, subject.samples.tools[tool.name])
        second = await subject.call(tool.name, subject.samples.tools[tool.name])
        if first.same_as(second):
            responses[tool.name] = first
    return responses


def _changed(before: dict[str, ToolResponse], after: dict[str, ToolResponse]) -> list[str]:
    return [name for name in before if name in after and not before[name].same_as(after[name])]
