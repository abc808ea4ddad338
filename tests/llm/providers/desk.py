"""A provider and the vendor that it asks, with the questions that the tests put."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from gaby.kernel.clock import ManualClock
from gaby.llm.messages import ChatMessage, ModelRequest, ModelResponse, OutputSchema, TextDelta, ToolSpec
from gaby.llm.provider import Provider
from gaby.llm.providers.config import Kind
from gaby.llm.providers.factory import make_provider
from tests.support.models import ScriptedModels

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
MODEL: dict[Kind, str] = {
    "anthropic": "claude-test",
    "bedrock": "claude-test",
    "vertex": "claude-test",
    "openai": "gpt-test",
    "azure": "gpt-test",
    "compatible": "local-test",
    "litellm": "local-test",
    "voyage": "embed-test",
}

FIND = ToolSpec(
    "directory.find_user",
    "Finds a person in the directory.",
    {"type": "object", "properties": {"email": {"type": "string"}}, "required": ["email"]},
)
UNLOCK = ToolSpec("directory.unlock", "Unlocks an account.", {"type": "object", "properties": {}})
VERDICT = OutputSchema(
    "verdict",
    {
        "type": "object",
        "properties": {
            "verdict": {"enum": ["resolved", "escalate"]},
            "reason": {"type": "string", "minLength": 1, "maxLength": 200},
            "score": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
        },
        "required": ["verdict", "reason"],
    },
)
QUESTION = ModelRequest("", "You help at a desk.", (ChatMessage("user", "Kevin cannot sign in."),), 500, timeout=20.0)


@dataclass(frozen=True)
class Desk:
    models: ScriptedModels
    kind: Kind
    provider: Provider

    def question(self, **changes: Any) -> ModelRequest:
        return replace(QUESTION, **{"model": MODEL[self.kind], **changes})

    async def chat(self, **changes: Any) -> ModelResponse:
        return await self.provider.chat(self.question(**changes))

    async def stream(self, **changes: Any) -> tuple[str, ModelResponse]:
        """The text of all pieces, and the answer, which must come once and last."""
        coming = [each async for each in self.provider.stream(self.question(**changes))]
        answers = [each for each in coming if isinstance(each, ModelResponse)]
        assert coming[-1:] == answers
        return "".join(each.text for each in coming if isinstance(each, TextDelta)), answers[0]

    async def either(self, how: str, **changes: Any) -> ModelResponse:
        return await self.chat(**changes) if how == "chat" else (await self.stream(**changes))[1]

    @property
    def body(self) -> Any:
        """What was last sent."""
        return self.models.requests[-1].json


def opened(models: ScriptedModels, kind: Kind, **options: str) -> Desk:
    return Desk(models, kind, make_provider(models.config(kind, **options), ManualClock(NOW)))
