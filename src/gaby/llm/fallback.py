"""Fallback: a skill asks the models of its chain in turn, until one gives an answer that can be used."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from pydantic import BaseModel

from gaby.kernel.ids import Random
from gaby.kernel.log import get_log
from gaby.llm.answers import ModelRefusal, accept
from gaby.llm.breaker import Breakers
from gaby.llm.budget_ledger import BudgetLedger
from gaby.llm.call_trace import ANSWERED, NO_TRACES, TraceStore
from gaby.llm.errors import ModelError, RequestRefused
from gaby.llm.messages import ChatMessage, TextDelta, TokenUsage
from gaby.llm.metered_call import MeteredCall
from gaby.llm.model_attempt import CompletedAttempt, FailedAttempt, SkillRequest, ask, trace_of
from gaby.llm.results import ModelAttempt, StreamReset, StreamToken, Trouble
from gaby.llm.setups import RoutedModel
from gaby.llm.skill import Skill, UnacceptableAnswer

log = get_log(__name__)

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

TRIES = 3
_QUOTED = 4000


@dataclass(frozen=True)
class FallbackDependencies:
    """What every fallback chain needs."""

    budget_ledger: BudgetLedger
    breakers: Breakers
    patience: timedelta
    random: Random
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    traces: TraceStore = NO_TRACES

    def jitter(self) -> float:
        """From 0.5 to 1.5, so that those who failed together do not come back together."""
        return 0.5 + self.random(1)[0] / 255


class FallbackChain(Generic[In, Out]):
    def __init__(
        self,
        dependencies: FallbackDependencies,
        skill: Skill[In, Out],
        given: In,
        question: SkillRequest,
        *,
        streaming: bool,
    ) -> None:
        self._dependencies = dependencies
        self._skill = skill
        self._given = given
        self._question = question
        self._streaming = streaming
        self._corrected = False
        self._waited = 0.0
        self.hops: list[ModelAttempt] = []
        self.usage = TokenUsage()
        self.nano_usd: int | None = 0
        self.value: Out | None = None
        self.source = ""
        self.trouble: Trouble | None = None

    async def along(self, links: tuple[RoutedModel, ...]) -> AsyncGenerator[StreamToken | StreamReset]:
        """Afterwards there is a value, or a trouble."""
        for link in links:
            async with aclosing(self._with(link)) as steps:
                async for step in steps:
                    yield step
            if self.value is not None or self.trouble is not None:
                return
        self.trouble = "unavailable"

    async def _with(self, link: RoutedModel) -> AsyncGenerator[StreamToken | StreamReset]:
        if self._dependencies.breakers.is_open(link.account):
            self._hop(ModelAttempt(str(link.ref), "resting"))
            return
        tries = 0
        while tries < TRIES and self.value is None and self.trouble is None:
            spoken, again = False, None
            try:
                async with aclosing(
                    ask(
                        self._dependencies.budget_ledger,
                        link,
                        self._question,
                        len(self.hops),
                        streaming=self._streaming,
                        traces=self._dependencies.traces,
                    )
                ) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, TextDelta):
                            spoken = True
                            yield StreamToken(piece.text)
                        else:
                            again = self._hear(link, piece)
            except FailedAttempt as failed:
                tries += 1
                again = await self._wait(link, failed, last=tries == TRIES)
                if again is None:
                    tries = TRIES
            if spoken and self.value is None:
                yield StreamReset(again or "the next model is asked")

    def _hear(self, link: RoutedModel, asked: CompletedAttempt) -> str | None:
        """Takes the answer, or notes what to tell the model about it, once."""
        self._dependencies.breakers.succeeded(link.account)
        self._add(asked.metered_call)
        try:
            self.value = accept(
                self._skill,
                self._given,
                asked.answer,
                self._question.tools,
                self._question.occasion.reveal,
            )
        except UnacceptableAnswer as wrong:
            refused = isinstance(wrong, ModelRefusal)
            outcome = "refusal" if refused else "unacceptable"
            self._hop(
                ModelAttempt(
                    str(link.ref), outcome, asked.metered_call.hold.id, asked.metered_call.settled.milliseconds
                )
            )
            self._trace(link, asked, outcome, str(wrong))
            if self._corrected:
                self.trouble = "refusal" if refused else "garbage"
                return None
            self._corrected = True
            self._question = self._question.with_more(*_correction(asked.answer.text, str(wrong)))
            return str(wrong)
        self.source = str(link.ref)
        self._hop(
            ModelAttempt(self.source, ANSWERED, asked.metered_call.hold.id, asked.metered_call.settled.milliseconds)
        )
        self._trace(link, asked, ANSWERED)
        return None

    def _trace(self, link: RoutedModel, asked: CompletedAttempt, outcome: str, problem: str | None = None) -> None:
        trace = trace_of(asked.metered_call, link, self._question, outcome, answer=asked.answer, problem=problem)
        self._dependencies.traces.record(trace)

    async def _wait(self, link: RoutedModel, failed: FailedAttempt, *, last: bool) -> str | None:
        """What to say before the same model is asked again; None when it is not worth it."""
        error = failed.error
        self._add(failed.metered_call)
        self._hop(
            ModelAttempt(
                str(link.ref), error.code, failed.metered_call.hold.id, failed.metered_call.settled.milliseconds
            )
        )
        opened = not isinstance(error, RequestRefused) and self._dependencies.breakers.failed(link.account)
        if opened:
            log.warning("llm.resting", provider=link.ref.provider)
        pause = self._pause_for(error, sum(hop.model == str(link.ref) for hop in self.hops))
        if opened or last or not error.transient or self._waited + pause > self._dependencies.patience.total_seconds():
            return None
        self._waited += pause
        await self._dependencies.pause(pause)
        return error.message

    def _pause_for(self, error: ModelError, tries: int) -> float:
        if error.retry_after is not None:
            return error.retry_after
        return 0.5 * 2 ** (tries - 1) * self._dependencies.jitter()

    def _add(self, metered_call: MeteredCall) -> None:
        self.usage += metered_call.settled.usage
        spent = metered_call.settled.nano_usd
        self.nano_usd = None if self.nano_usd is None or spent is None else self.nano_usd + spent

    def _hop(self, hop: ModelAttempt) -> None:
        self.hops.append(hop)
        if hop.outcome != ANSWERED:
            log.warning("llm.hop", skill=self._skill.name, model=hop.model, outcome=hop.outcome)


def _correction(said: str, wrong: str) -> tuple[ChatMessage, ...]:
    message = ChatMessage(
        "user", f"Your answer cannot be used: {wrong}\nAnswer the question again, in the form asked for."
    )
    return (ChatMessage("assistant", said[:_QUOTED]), message) if said.strip() else (message,)
