"""What goes to a model and what comes back, in words of our own. Providers translate them to their vendor's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a model is told of it. Calling it is up to us."""

    name: str
    description: str
    schema: Mapping[str, Any]
    listed: bool = True
    """Whether the model is told of it. One that is not may be called all the same by whoever knows its name."""


@dataclass(frozen=True)
class ToolUse:
    """A model would like this call. The arguments are whole JSON; whether they fit the tool is checked later."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class ToolResult:
    use_id: str
    text: str
    failed: bool = False


@dataclass(frozen=True)
class ChatMessage:
    role: Literal["user", "assistant"]
    text: str = ""
    uses: tuple[ToolUse, ...] = ()
    """Only of the assistant."""
    replies: tuple[ToolResult, ...] = ()
    """Only of the user; they come before the text."""


@dataclass(frozen=True)
class OutputSchema:
    """The JSON that the answer must be."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class ModelRequest:
    """One question to one model. Its parts are in the order of how rarely they change, so that prefixes can be cached:
    tools, system, envelope, messages. Where a provider has cache breakpoints, one stands at the end of each."""

    model: str
    system: str
    messages: tuple[ChatMessage, ...]
    max_output_tokens: int
    envelope: str = ""
    """What was gathered for this run, such as knowledge. It goes to the model as the beginning of the first message."""
    tools: tuple[ToolSpec, ...] = ()
    must_use_tool: bool = False
    shape: OutputSchema | None = None
    temperature: float | None = None
    timeout: float = 60.0
    """Seconds for the whole answer, or, in a stream, for the next piece of it."""


@dataclass(frozen=True)
class TokenUsage:
    """Tokens as billed. The four are disjoint: `input` counts neither reads from the cache nor writes to it."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write

    @property
    def counted(self) -> int:
        """As limits count them: what is read from a cache at about its price, a tenth."""
        return self.input + self.output + self.cache_write + (self.cache_read + 9) // 10

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


Stop = Literal["end", "tools", "length", "refusal"]


@dataclass(frozen=True)
class ModelResponse:
    text: str
    stop: Stop
    usage: TokenUsage
    model: str
    """As the provider names what really answered."""
    uses: tuple[ToolUse, ...] = ()


@dataclass(frozen=True)
class TextDelta:
    """A bit of text from a stream, as soon as it is known."""

    text: str


@dataclass(frozen=True)
class EmbeddingResponse:
    rows: tuple[tuple[float, ...], ...]
    usage: TokenUsage = field(default_factory=TokenUsage)
