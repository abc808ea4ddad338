"""Rules about what tools do when they are called."""

from typing import Any, ClassVar

from mcp.types import Tool

from gaby_connectors.contract.rule import CheckResult, ContractRule, failed, not_applicable, passed, result_of
from gaby_connectors.contract.server_under_test import ServerUnderTest

LARGE = 100 * 1024


class Healthcheck(ContractRule):
    id: ClassVar[str] = "healthcheck"
    title: ClassVar[str] = "Answers the `healthcheck` tool"
    fix: ClassVar[str] = "Offer a read tool `healthcheck` without arguments that asks the real system behind."

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        if not any(tool.name == "healthcheck" for tool in subject.tools):
            return failed("there is no tool healthcheck")
        answer = await subject.call("healthcheck", {})
        return failed(answer.text[:300]) if answer.failed else passed(answer.text[:200])


class ReadsAnswer(ContractRule):
    id: ClassVar[str] = "results_are_objects"
    title: ClassVar[str] = "Results are structured objects that fit their schema"
    fix: ClassVar[str] = "Return structuredContent that is an object, and keep it true to the output schema."

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        problems: list[str] = []
        tried = 0
        for tool in subject.tools:
            arguments = subject.arguments(tool)
            if subject.writes(tool) or arguments is None:
                continue
            answer = await subject.call(tool.name, arguments)
            known = tool.name in subject.samples.tools
            if answer.gone or (answer.failed and ("output schema" in answer.text.lower() or known)):
                problems.append(f"{tool.name}: {answer.text[:200]}")
            elif not answer.failed:
                tried += 1
                if not isinstance(answer.structured, dict):
                    problems.append(f"{tool.name} gives no object")
        if not tried and not problems:
            return not_applicable("no read could be tried; give samples")
        return result_of(problems, f"{tried} reads tried")


class BadArguments(ContractRule):
    id: ClassVar[str] = "bad_arguments"
    title: ClassVar[str] = "Bad arguments get an error, not a crash and not a shrug"
    fix: ClassVar[str] = (
        "Check arguments against the input schema, with additionalProperties false, before anything else."
    )

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        problems: list[str] = []
        for tool in subject.tools:
            if not subject.can_be_called(tool):
                continue
            for what, arguments in _bad(subject, tool):
                answer = await subject.call(tool.name, arguments)
                if answer.gone:
                    return failed(f"{tool.name} with {what}: {answer.text}")
                if not answer.failed:
                    problems.append(f"{tool.name} accepts {what}")
        answer = await subject.call("no_such_tool_anywhere", {})
        if not answer.failed:
            problems.append("a tool that does not exist gives a result")
        return result_of(problems, "all refused")


class LargeResults(ContractRule):
    id: ClassVar[str] = "large_results"
    title: ClassVar[str] = "Results over 100 KB are cut, and say so"
    fix: ClassVar[str] = "Leave rows out of results over 100 KB, and add `truncated: true` and how to get the rest."

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        problems = [f"{tool} gave {answer.size // 1024} KB" for tool, answer in subject.answers if answer.size > LARGE]
        large = subject.samples.large
        if large is not None:
            answer = await subject.call(large.tool, large.arguments)
            if answer.failed:
                problems.append(f"{large.tool}: {answer.text[:200]}")
            elif answer.size > LARGE:
                problems.append(f"{large.tool} gave {answer.size // 1024} KB")
            elif not answer.says_truncated:
                problems.append(f"{large.tool} does not say that it was truncated")
        if large is None and not problems:
            return not_applicable("no answer was that large; name a call that is under `large` in the samples")
        return result_of(problems, f"{large.tool if large else 'all'} stays under 100 KB and says so")


def _bad(subject: ServerUnderTest, tool: Tool) -> list[tuple[str, dict[str, Any]]]:
    good = subject.harmless(tool, subject.arguments(tool) or {})
    tries: list[tuple[str, dict[str, Any]]] = [("an argument it does not have", good | {"no_such_argument": 1})]
    properties: dict[str, Any] = tool.input_schema.get("properties", {})
    required = [name for name in tool.input_schema.get("required", ()) if name in properties]
    if required:
        without = {name: value for name, value in good.items() if name != required[0]}
        tries.append((f"no {required[0]}", without))
        tries.append((f"an object as {required[0]}", good | {required[0]: {"not": ["what", "was", "asked"]}}))
    return [(what, given) for what, given in tries if what[:9] != "an object" or _is_plain(properties[required[0]])]


def _is_plain(schema: dict[str, Any]) -> bool:
    return schema.get("type") in ("string", "integer", "number", "boolean")
