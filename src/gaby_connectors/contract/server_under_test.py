"""A server under examination: its tools, and a way to call them that keeps everything that was answered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import uuid4

import anyio
import orjson
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, InitializeResult, TextContent, Tool
from pydantic import ValidationError

from gaby_connectors.contract.samples import SampleArguments, sample_arguments
from gaby_connectors.sdk.manifest import TOOL_META, ToolManifest

CALL_SECONDS = 30.0


@dataclass(frozen=True)
class ToolResponse:
    """`failed`: the tool or the protocol said no. `gone`: no answer came at all."""

    failed: bool
    gone: bool
    text: str
    structured: object = None

    def same_as(self, other: "ToolResponse") -> bool:
        return (self.failed, self.structured) == (other.failed, other.structured) and (
            self.structured is not None or self.text == other.text
        )

    @property
    def size(self) -> int:
        return max(len(self.text.encode()), len(orjson.dumps(self.structured)))

    @property
    def says_truncated(self) -> bool:
        return self.field("truncated") is True or "truncated" in self.text[-2000:].lower()

    def field(self, name: str) -> Any:
        structured = self.structured
        return cast("dict[str, Any]", structured).get(name) if isinstance(structured, dict) else None


@dataclass
class ServerUnderTest:
    session: ClientSession
    hello: InitializeResult
    samples: SampleArguments
    may_write: bool
    tools: Sequence[Tool] = ()
    answers: list[tuple[str, ToolResponse]] = field(default_factory=list[tuple[str, ToolResponse]])
    """All that was ever answered, to be searched for secrets at the end."""
    gone: bool = False

    async def call(self, tool: str, arguments: dict[str, Any]) -> ToolResponse:
        answer = await self._call(tool, arguments)
        self.answers.append((tool, answer))
        self.gone = self.gone or answer.gone
        return answer

    def manifest(self, tool: Tool) -> ToolManifest | None:
        try:
            return ToolManifest.model_validate((tool.meta or {}).get(TOOL_META))
        except ValidationError:
            return None

    def writes(self, tool: Tool) -> bool:
        """Whatever does not clearly say that it only reads is treated as a write."""
        manifest = self.manifest(tool)
        return manifest is None or manifest.access == "write"

    def write_tools(self) -> list[Tool]:
        return [tool for tool in self.tools if self.writes(tool)]

    def arguments(self, tool: Tool) -> dict[str, Any] | None:
        """Arguments that should work, if there are any."""
        given = self.samples.tools.get(tool.name)
        return dict(given) if given is not None else sample_arguments(tool.input_schema)

    def harmless(self, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
        """The same arguments, as a dry run if the tool may write."""
        return arguments | {"dry_run": True, "idempotency_key": new_key()} if self.writes(tool) else arguments

    def can_be_called(self, tool: Tool) -> bool:
        """A tool that may write is only called when it can be told to change nothing."""
        manifest = self.manifest(tool)
        return not self.writes(tool) or (manifest is not None and manifest.supports_dry_run)

    async def _call(self, tool: str, arguments: dict[str, Any]) -> ToolResponse:
        try:
            with anyio.fail_after(CALL_SECONDS):
                return _answer(await self.session.call_tool(tool, arguments))
        except MCPError as error:
            closed = "closed" in error.error.message.lower()
            return ToolResponse(failed=True, gone=closed, text=error.error.message)
        except (TimeoutError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            return ToolResponse(failed=True, gone=True, text=f"no answer: {type(error).__name__}")
        except RuntimeError as error:
            # The client found that the result does not fit the output schema.
            return ToolResponse(failed=True, gone=False, text=str(error)[:500])


def new_key() -> str:
    return f"contract-{uuid4().hex}"


def _answer(result: CallToolResult) -> ToolResponse:
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    text_with_meta = f"{text}\n{orjson.dumps(result.meta).decode()}" if result.is_error and result.meta else text
    return ToolResponse(failed=result.is_error, gone=False, text=text_with_meta, structured=result.structured_content)
