"""A rule about who may be told what a tool returns, and what its values name."""

from collections.abc import Iterator
from typing import ClassVar

from mcp.types import Tool
from pydantic import ValidationError

from gaby_connectors.contract.declarations import declared_manifest
from gaby_connectors.contract.rule import CheckResult, ContractRule, not_applicable, result_of
from gaby_connectors.contract.server_under_test import ServerUnderTest
from gaby_connectors.sdk.manifest import Audience, ToolManifest
from gaby_connectors.sdk.result_paths import declared_paths, find_path


class ReadersDeclared(ContractRule):
    id: ClassVar[str] = "readers_declared"
    title: ClassVar[str] = "Audiences, owners and kinds speak only of results that exist"
    fix: ClassVar[str] = (
        "Compare `results`, `result_kinds`, `owner`, `readers` and `redact` with the tool's output schema. What a read "
        "returns is for staff unless its manifest says `audience`, `readers`, `owner` or `owner_argument`."
    )

    async def check(self, subject: ServerUnderTest) -> CheckResult:
        manifests = {tool.name: (tool, manifest) for tool in subject.tools if (manifest := _manifest(tool)) is not None}
        if not manifests:
            return not_applicable("no tool has a manifest")
        problems = [problem for tool, manifest in manifests.values() for problem in _absent(tool, manifest)]
        return result_of(problems, _summary([manifest for _, manifest in manifests.values()]))


def _manifest(tool: Tool) -> ToolManifest | None:
    """One that is not well formed is the matter of another rule."""
    try:
        return ToolManifest.model_validate(declared_manifest(tool)) if declared_manifest(tool) else None
    except ValidationError:
        return None


def _absent(tool: Tool, manifest: ToolManifest) -> Iterator[str]:
    for each in declared_paths(manifest):
        if find_path(tool.output_schema, each.path) == "absent":
            yield f"{tool.name}: its results have no {each.path}, of which {each.field} speaks"


def _summary(manifests: list[ToolManifest]) -> str:
    """How many reads somebody outside may be told of, and how."""
    reads = [each for each in manifests if each.access == "read"]
    owned = sum(bool(each.owner) or each.owner_argument is not None for each in reads)
    open_to = {audience: sum(each.audience is audience for each in reads) for audience in Audience}
    only_staff = sum(
        each.audience is Audience.STAFF and not (each.owner or each.owner_argument or each.readers) for each in reads
    )
    kinds = {kind for each in manifests for kind in (*each.result_kinds.values(), *each.argument_kinds.values())}
    named = f"; kinds: {', '.join(sorted(kinds))}" if kinds else ""
    return (
        f"{len(reads)} reads: {open_to[Audience.PUBLIC]} for anybody, {open_to[Audience.CUSTOMERS]} for customers, "
        f"{owned} for owners, {only_staff} for staff alone{named}"
    )
