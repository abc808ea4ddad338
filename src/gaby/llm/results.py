"""What a skill gives back: the value, who answered, and everything that happened on the way."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel

from gaby.kernel.ids import ModelCallId, RunId, WorkspaceId
from gaby.llm.budget_ledger import OFFLINE
from gaby.llm.messages import TokenUsage
from gaby.llm.prompts import PromptId
from gaby.llm.tiers import Tier
from gaby.llm.untrusted_text import PromptRedactor

Out = TypeVar("Out", bound=BaseModel)

Trouble = Literal["unavailable", "garbage", "refusal"]

Reveal = Callable[[Any], Any]


def _unchanged(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class SkillContext:
    """For whom and within which run a skill is used."""

    workspace_id: WorkspaceId
    run_id: RunId
    conceal: PromptRedactor = field(default_factory=PromptRedactor)
    reveal: Reveal = _unchanged
    """Puts back what was concealed, to see whether arguments fit a tool. They are passed on as the model gave them."""
    subject: str | None = None
    """Whose key the traces of its model calls are sealed with, such as that of a ticket; None for the workspace's."""


@dataclass(frozen=True)
class ModelAttempt:
    """One try with one model, or the reason why it was not asked."""

    model: str
    outcome: str
    """`answered`, `unacceptable`, `refusal`, `resting`, or the code of the error."""
    call_id: ModelCallId | None = None
    milliseconds: int = 0


@dataclass(frozen=True)
class SkillResult(Generic[Out]):
    value: Out
    source: str
    """The model that answered, or `offline`."""
    prompt: PromptId
    tier: Tier
    hops: tuple[ModelAttempt, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)
    nano_usd: int | None = 0
    trouble: Trouble | None = None
    """Why Gaby answered by itself although it has a model."""

    @property
    def offline(self) -> bool:
        return self.source == OFFLINE

    @property
    def degraded(self) -> bool:
        return self.trouble is not None


@dataclass(frozen=True)
class StreamToken:
    """A bit of an answer that is being written."""

    text: str


@dataclass(frozen=True)
class StreamReset:
    """Forget the tokens so far: the answer begins anew."""

    because: str
