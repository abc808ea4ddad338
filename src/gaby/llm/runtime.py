"""The skill runtime: render, ask along the chain, check, ask once more if need be, and else answer by itself."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel

from gaby.kernel.errors import Unavailable
from gaby.kernel.ids import WorkspaceId
from gaby.kernel.log import get_log
from gaby.kernel.text_work import run_text_work
from gaby.llm.answers import shape_of
from gaby.llm.budget_ledger import OFFLINE, PlannedSpend, Settlement
from gaby.llm.embeddings.embed import Embed
from gaby.llm.fallback import FallbackChain, FallbackDependencies
from gaby.llm.messages import ChatMessage, ModelRequest, TokenUsage, ToolSpec
from gaby.llm.model_attempt import SkillRequest
from gaby.llm.prompts import Prompt, PromptId, RenderedPrompt
from gaby.llm.results import SkillContext, SkillResult, StreamReset, StreamToken
from gaby.llm.setups import ModelSetups
from gaby.llm.skill import Skill
from gaby.llm.tiers import Tier
from gaby.llm.tokens import FRAME, estimate
from gaby.llm.untrusted_text import from_inside

log = get_log(__name__)

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)


@dataclass(frozen=True)
class SkillRunner:
    setups: ModelSetups
    dependencies: FallbackDependencies
    embed: Embed
    """For the answers without a model; local, blocking, used off the event loop."""
    timeout: timedelta

    async def has_model(self, skill: Skill[Any, Any], workspace_id: WorkspaceId) -> bool:
        """Whether a model is asked for this skill at all."""
        return bool((await self.setups.for_workspace(workspace_id)).chain(skill.name, skill.tier)[1])

    async def run(
        self, skill: Skill[In, Out], given: In, occasion: SkillContext, *, prompt: Prompt | None = None
    ) -> SkillResult[Out]:
        """`BudgetSpent` when a model should be asked but may not; every other trouble ends in a result that tells."""
        async with aclosing(self._steps(skill, given, occasion, prompt or skill.prompt, streaming=False)) as steps:
            async for step in steps:
                if isinstance(step, SkillResult):
                    return step
        raise AssertionError("a skill ends with a result")

    def stream(
        self, skill: Skill[In, Out], given: In, occasion: SkillContext, *, prompt: Prompt | None = None
    ) -> AsyncGenerator[StreamToken | StreamReset | SkillResult[Out]]:
        """Tokens as they are written, then the checked whole, once, as the last."""
        if skill.form != "text":
            raise TypeError(f"The skill {skill.name} does not answer in prose, so it cannot be streamed.")
        return self._steps(skill, given, occasion, prompt or skill.prompt, streaming=True)

    async def _steps(
        self, skill: Skill[In, Out], given: In, occasion: SkillContext, prompt: Prompt, *, streaming: bool
    ) -> AsyncGenerator[StreamToken | StreamReset | SkillResult[Out]]:
        tier, links = (await self.setups.for_workspace(occasion.workspace_id)).chain(skill.name, skill.tier)
        if not links:
            yield await self._by_itself(skill, given, occasion, tier, prompt.id)
            return
        # Redacting and rendering a long case takes a while, in which everybody else would wait.
        size = sum(len(str(value)) for value in given.__dict__.values())
        question = await run_text_work(size, self._question, skill, given, occasion, tier, prompt)
        fallback = FallbackChain(self.dependencies, skill, given, question, streaming=streaming)
        async with aclosing(fallback.along(links)) as steps:
            async for step in steps:
                yield step
        if fallback.value is None:
            yield await self._by_itself(skill, given, occasion, tier, prompt.id, fallback)
            return
        hops, usage = tuple(fallback.hops), fallback.usage
        yield SkillResult(fallback.value, fallback.source, prompt.id, tier, hops, usage, fallback.nano_usd)

    async def _by_itself(
        self,
        skill: Skill[In, Out],
        given: In,
        occasion: SkillContext,
        tier: Tier,
        prompt: PromptId,
        fallback: FallbackChain[In, Out] | None = None,
    ) -> SkillResult[Out]:
        value = await asyncio.to_thread(skill.fallback, given, self.embed)
        trouble = fallback.trouble if fallback is not None else None
        hops = tuple(fallback.hops) if fallback is not None else ()
        wanted = PlannedSpend(
            workspace_id=occasion.workspace_id,
            run_id=occasion.run_id,
            skill=skill.name,
            tier=tier,
            provider=OFFLINE,
            model=OFFLINE,
            input_tokens=0,
            output_tokens=0,
            nano_usd=0,
            prompt_hash=prompt.hash,
            hop=len(hops),
        )
        try:
            await self.dependencies.budget_ledger.note(wanted, Settlement("done", answered_by=OFFLINE, error=trouble))
        except Unavailable as error:
            # It cost nothing, so it is worth more than its line in the ledger.
            log.warning("llm.not_noted", skill=skill.name, error=error.message)
        usage, cost = (fallback.usage, fallback.nano_usd) if fallback is not None else (TokenUsage(), 0)
        return SkillResult(value, OFFLINE, prompt, tier, hops, usage, cost, trouble)

    def _question(
        self, skill: Skill[In, Out], given: In, occasion: SkillContext, tier: Tier, prompt: Prompt
    ) -> SkillRequest:
        values = skill.values(given, occasion.conceal)
        rendered = prompt.render(values, inside=from_inside(values))
        callable_tools = skill.tools(given) if skill.tools is not None else ()
        tools = tuple(tool for tool in callable_tools if tool.listed)
        before = skill.turns(given, occasion.conceal) if skill.turns is not None else ()
        request = ModelRequest(
            model="",
            system=rendered.system,
            envelope=rendered.envelope,
            messages=_conversation(before, rendered.message),
            tools=tools,
            shape=shape_of(skill),
            max_output_tokens=skill.max_output_tokens,
            temperature=skill.temperature,
            timeout=self.timeout.total_seconds(),
        )
        size = _size(rendered, tools, skill.gives if skill.form == "json" else None)
        size += sum(FRAME + estimate(_text_of(message)) for message in before)
        return SkillRequest(skill.name, tier, occasion, request, size, prompt.id.hash, callable_tools)


def _conversation(before: tuple[ChatMessage, ...], message: str) -> tuple[ChatMessage, ...]:
    """What is asked now stands behind the last answers of tools, in the same turn: no vendor takes two in a row."""
    if before and before[-1].role == "user":
        return (*before[:-1], replace(before[-1], text=f"{before[-1].text}\n\n{message}".strip()))
    return (*before, ChatMessage("user", message))


def _text_of(message: ChatMessage) -> str:
    uses = [f"{use.name} {_text(use.arguments)}" for use in message.uses]
    return "\n".join([message.text, *uses, *(reply.text for reply in message.replies)])


def _size(rendered: RenderedPrompt, tools: tuple[ToolSpec, ...], shape: type[BaseModel] | None) -> int:
    parts = [rendered.system, rendered.envelope, rendered.message]
    parts += [f"{tool.name} {tool.description} {_text(tool.schema)}" for tool in tools]
    return (_size_of_shape(shape) if shape is not None else 0) + sum(FRAME + estimate(part) for part in parts)


@lru_cache(maxsize=256)
def _size_of_shape(model: type[BaseModel]) -> int:
    return FRAME + estimate(_text(model.model_json_schema()))


def _text(schema: Any) -> str:
    return json.dumps(dict(schema), separators=(",", ":"))
