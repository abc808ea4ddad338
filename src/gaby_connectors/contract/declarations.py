"""Rules about what a server says of itself."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, ClassVar, cast

from mcp.types import Tool
from pydantic import ValidationError

from gaby_connectors.contract.rule import CheckResult, ContractRule, failed, result_of
from gaby_connectors.contract.server_under_test import ServerUnderTest
from gaby_connectors.sdk.manifest import SERVER_META, TOOL_META, ToolManifest
from gaby_connectors.sdk.verbs import looks_destructive

LONGEST_DESCRIPTION = 4_000


class ToolsListed(ContractRule):
    id: ClassVar[str] = "tools_listed"
    title: ClassVar[str] = "Lists its tools, each with a description"
    fix: ClassVar[str] = "Give every tool a sentence that says what it does, and an input schema of type object."

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        if not subject.tools:
            return failed("there are no tools")
        problems = [f"{tool.name} has no description" for tool in subject.tools if not (tool.description or "").strip()]
        problems += [
            f"{tool.name}: the input schema is no object"
            for tool in subject.tools
            if tool.input_schema.get("type") != "object"
        ]
        names = [tool.name for tool in subject.tools]
        problems += [f"{name} is there twice" for name in sorted({name for name in names if names.count(name) > 1})]
        return result_of(problems, f"{len(subject.tools)} tools")


class ManifestPresent(ContractRule):
    id: ClassVar[str] = "manifest_present"
    title: ClassVar[str] = "Every tool says whether it reads or writes"
    fix: ClassVar[str] = (
        f'Send `_meta["{TOOL_META}"] = {{"scope": "read"}}` with each tool and the experimental capability '
        f'"{SERVER_META}" with a version, or write a manifest file for this server.'
    )

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        problems = [f"{tool.name} has no manifest" for tool in subject.tools if not declared_manifest(tool)]
        problems += [
            f"{tool.name}: scope is {declared_manifest(tool).get('scope')!r}"
            for tool in subject.tools
            if declared_manifest(tool) and declared_manifest(tool).get("scope") not in ("read", "write")
        ]
        version = (subject.hello.capabilities.experimental or {}).get(SERVER_META, {}).get("version")
        if not (isinstance(version, str) and re.fullmatch(r"\d+\.\d+\.\d+", version)):
            problems.append(f"the manifest's version is {version!r}")
        return result_of(problems, f"version {version}")


class ManifestValid(ContractRule):
    id: ClassVar[str] = "manifest_valid"
    title: ClassVar[str] = "Manifests are well formed and speak only of arguments that exist"
    fix: ClassVar[str] = "Compare the manifest with the tool's input schema; the message names the field."

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        problems = [problem for tool in subject.tools if declared_manifest(tool) for problem in _wrong(tool)]
        return result_of(problems, "all of them")


class DangerousFlagged(ContractRule):
    id: ClassVar[str] = "dangerous_flagged"
    title: ClassVar[str] = "What destroys, pays or grants is flagged as dangerous"
    fix: ClassVar[str] = "Set `dangerous: true` in the manifest, or give the tool a name that says what it really does."

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        problems = [
            f"{tool.name} looks destructive and is not flagged"
            for tool in subject.tools
            if _looks_destructive(tool) and not declared_manifest(tool).get("dangerous")
        ]
        flagged = sum(bool(declared_manifest(tool).get("dangerous")) for tool in subject.tools)
        return result_of(problems, f"{flagged} tools are flagged")


class WriteArguments(ContractRule):
    id: ClassVar[str] = "write_arguments"
    title: ClassVar[str] = "Writes take `idempotency_key` and `dry_run`, and honour both"
    fix: ClassVar[str] = (
        "Add `idempotency_key` (string) and `dry_run` (boolean) to the input schema of each write, and say "
        "`idempotent` and `supports_dry_run` in its manifest once they work."
    )

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        writes = [tool for tool in subject.tools if declared_manifest(tool).get("scope") == "write"]
        return result_of([problem for tool in writes for problem in _missing(tool)], f"{len(writes)} writes")


class PlainText(ContractRule):
    id: ClassVar[str] = "plain_text"
    title: ClassVar[str] = "Names and descriptions are plain and of a reasonable length"
    fix: ClassVar[str] = "Take out invisible characters, and keep each description under 4,000 characters."

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        problems = [problem for tool in subject.tools for problem in _strange(tool)]
        if subject.hello.instructions and _invisible(subject.hello.instructions):
            problems.append("the instructions hold invisible characters")
        return result_of(problems, "nothing hidden")


def declared_manifest(tool: Tool) -> dict[str, Any]:
    meta = (tool.meta or {}).get(TOOL_META)
    return cast("dict[str, Any]", meta) if isinstance(meta, dict) else {}


def _wrong(tool: Tool) -> Iterable[str]:
    try:
        manifest = ToolManifest.model_validate(declared_manifest(tool))
    except ValidationError as error:
        for problem in error.errors(include_input=False, include_url=False):
            yield f"{tool.name}: {'.'.join(map(str, problem['loc']))} {problem['msg']}".replace("  ", " ")
        return
    if unknown := manifest.unknown_arguments(tool.input_schema.get("properties", {})):
        yield f"{tool.name} does not take {', '.join(unknown)}"


def _looks_destructive(tool: Tool) -> bool:
    if tool.annotations is not None and tool.annotations.destructive_hint and not tool.annotations.read_only_hint:
        return True
    return looks_destructive(tool.name)


def _missing(tool: Tool) -> Iterable[str]:
    properties = tool.input_schema.get("properties", {})
    for name, kind in (("idempotency_key", "string"), ("dry_run", "boolean")):
        if name not in properties:
            yield f"{tool.name} does not take {name}"
        elif properties[name].get("type") != kind:
            yield f"{tool.name}: {name} is no {kind}"
    for promise in ("idempotent", "supports_dry_run"):
        if not declared_manifest(tool).get(promise):
            yield f"{tool.name} does not say {promise}"


def _strange(tool: Tool) -> Iterable[str]:
    texts = {tool.name: tool.name, f"{tool.name}'s title": tool.title or ""}
    texts[f"the description of {tool.name}"] = tool.description or ""
    properties: dict[str, Any] = tool.input_schema.get("properties", {})
    for name, schema in properties.items():
        texts[f"{tool.name}.{name}"] = f"{name} {schema}"
    for what, text in texts.items():
        if hidden := _invisible(text):
            yield f"{what} holds {hidden}"
        if len(text) > LONGEST_DESCRIPTION:
            yield f"{what} is {len(text)} characters long"


def _invisible(text: str) -> str | None:
    """The name of the first character that a reader would not see."""
    for character in text:
        if character not in "\n\t\r" and unicodedata.category(character) in ("Cf", "Cc", "Co", "Cn", "Cs"):
            return f"U+{ord(character):04X}"
    return None
