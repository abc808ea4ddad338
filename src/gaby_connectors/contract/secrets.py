"""The rule that secrets stay secret: neither those in arguments nor those in the environment come back."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, cast
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from mcp.types import Tool

from gaby_connectors.contract.rule import CheckResult, ContractRule, ProcessRule, failed, result_of
from gaby_connectors.contract.server_under_test import ServerUnderTest, ToolResponse
from gaby_connectors.contract.target import StdioTarget, UnsolicitedOutput

_NAME = re.compile(r"PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY|CREDENTIAL|_KEY$", re.IGNORECASE)


class NoSecretEchoed(ContractRule):
    id: ClassVar[str] = "no_secret_echoed"
    title: ClassVar[str] = "Secrets in arguments and settings never come back"
    fix: ClassVar[str] = (
        "Do not repeat arguments that look like secrets, and take configured secrets out of all output."
    )

    def __init__(self, canary: str, secrets: Iterable[str]) -> None:
        self._canary = canary
        self._secrets = sorted(set(secrets))

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        canary = self._canary
        for tool in subject.tools:
            if not subject.can_be_called(tool):
                continue
            for arguments in _with(canary, subject, tool):
                answer = await subject.call(tool.name, arguments)
                if answer.gone:
                    return failed(f"{tool.name}: {answer.text}")
        problems = [
            f"{tool} repeats a secret from its arguments"
            for tool in sorted({name for name, answer in subject.answers if canary in _all(answer)})
        ]
        for secret in self._secrets:
            tools = sorted({name for name, answer in subject.answers if secret in _all(answer)})
            problems += [f"{tool} tells a secret of the configuration" for tool in tools]
        return result_of(problems, f"{len(subject.answers)} answers searched")


class QuietOnStderr(ProcessRule):
    id: ClassVar[str] = "no_secret_logged"
    title: ClassVar[str] = "Secrets never go to stderr"
    fix: ClassVar[str] = "Do not log arguments or settings as they are."

    async def check(self, target: StdioTarget, heard: UnsolicitedOutput, secrets: Sequence[str]) -> CheckResult:
        count = sum(secret in heard.stderr for secret in secrets)
        return result_of([f"{count} secrets were logged"] if count else [], f"{len(heard.stderr)} characters searched")


def new_canary() -> str:
    return f"sk_live_{uuid4().hex}"


def secrets_in_environment(environment: Mapping[str, str]) -> list[str]:
    """Values of variables that sound secret, and passwords inside addresses."""
    values = [value for name, value in environment.items() if _NAME.search(name) and len(value) >= 6]
    for value in environment.values():
        password = urlsplit(value).password if "://" in value and "@" in value else None
        if password and len(password) >= 6:
            values += [password, unquote(password)]
    return values


def _with(canary: str, subject: ServerUnderTest, tool: Tool) -> Iterable[dict[str, Any]]:
    """The tool's arguments with the canary in the place of one text after the other."""
    good = subject.harmless(tool, subject.arguments(tool) or {})
    for name, schema in tool.input_schema.get("properties", {}).items():
        if name not in ("idempotency_key", "dry_run") and _takes_text(schema):
            yield good | {name: canary}


def _takes_text(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    fields = cast("dict[str, Any]", schema)
    kinds: list[dict[str, Any]] = fields.get("anyOf", [fields])
    return any(kind.get("type") == "string" for kind in kinds)


def _all(answer: ToolResponse) -> str:
    return f"{answer.text} {answer.structured}"
