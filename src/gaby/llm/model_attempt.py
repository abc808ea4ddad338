"""One attempt with one model, its budget held before and its cost settled after, whatever happens in between."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

from gaby.kernel.failpoints import failpoint
from gaby.kernel.tracing import span
from gaby.llm.budget_ledger import BudgetLedger, PlannedSpend
from gaby.llm.call_trace import CANCELLED, NO_TRACES, CallTrace, TraceStore
from gaby.llm.errors import AnswerCutOff, ModelError
from gaby.llm.genai_attributes import OPERATION, request_attributes, response_attributes
from gaby.llm.messages import ChatMessage, ModelRequest, ModelResponse, TextDelta, ToolSpec
from gaby.llm.metered_call import MeteredCall, metered
from gaby.llm.results import SkillContext
from gaby.llm.setups import RoutedModel
from gaby.llm.tiers import Tier
from gaby.llm.tokens import FRAME, estimate


@dataclass(frozen=True)
class SkillRequest:
    """What is asked, of no model in particular."""

    skill: str
    tier: Tier
    occasion: SkillContext
    request: ModelRequest
    input_tokens: int
    prompt_hash: str
    tools: tuple[ToolSpec, ...] = ()
    """All that may be called, also those that the request does not list."""

    def with_more(self, *messages: ChatMessage) -> "SkillRequest":
        request = replace(self.request, messages=(*self.request.messages, *messages))
        more = sum(FRAME + estimate(message.text) for message in messages)
        return replace(self, request=request, input_tokens=self.input_tokens + more)


@dataclass(frozen=True)
class CompletedAttempt:
    """A finished attempt, recorded in the budget ledger."""

    metered_call: MeteredCall
    answer: ModelResponse


class FailedAttempt(Exception):
    """A finished attempt without an answer; it is in the budget ledger too."""

    def __init__(self, metered_call: MeteredCall, error: ModelError) -> None:
        super().__init__(error.message)
        self.metered_call = metered_call
        self.error = error


async def ask(
    budget_ledger: BudgetLedger,
    link: RoutedModel,
    question: SkillRequest,
    hop: int,
    *,
    streaming: bool = False,
    traces: TraceStore = NO_TRACES,
) -> AsyncGenerator[TextDelta | CompletedAttempt]:
    """Pieces as they come if it streams, then the whole. `BudgetSpent` when it may not be asked, `FailedAttempt` when
    it gives no answer; of those, and of calls that are cancelled, the trace is recorded here."""
    metered_call: MeteredCall | None = None
    answer: ModelResponse | None = None
    try:
        async with metered(budget_ledger, _wanted(link, question, hop), link.price) as metered_call:
            failpoint("llm.before_call")
            async with aclosing(_answering(link, question, streaming=streaming)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, TextDelta):
                        yield piece
                    else:
                        answer = piece
                        metered_call.done(piece.usage, piece.model)
            if answer is None:
                raise AnswerCutOff
            failpoint("llm.after_call")
    except ModelError as error:
        if metered_call is None:
            raise
        traces.record(trace_of(metered_call, link, question, error.code, problem=error.message))
        raise FailedAttempt(metered_call, error) from error
    except (asyncio.CancelledError, GeneratorExit):
        if metered_call is not None:
            traces.record(trace_of(metered_call, link, question, CANCELLED, answer=answer))
        raise
    yield CompletedAttempt(metered_call, answer)


async def _answering(
    link: RoutedModel, question: SkillRequest, *, streaming: bool
) -> AsyncGenerator[TextDelta | ModelResponse]:
    request = replace(question.request, model=link.ref.model)
    attributes = request_attributes(link, request, question.skill)
    failure: ModelError | None = None
    with span(f"{OPERATION} {request.model}", kind="client", **attributes) as call_span:
        try:
            if streaming and link.provider.supports("streaming"):
                async with aclosing(link.provider.stream(request)) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, ModelResponse):
                            call_span.note(**response_attributes(piece))
                        yield piece
            else:
                answer = await link.provider.chat(request)
                call_span.note(**response_attributes(answer))
                yield answer
        except ModelError as error:
            # By its code alone: a vendor's message may quote the prompt.
            call_span.fail(error.code)
            failure = error
    if failure is not None:
        raise failure


def trace_of(
    metered_call: MeteredCall,
    link: RoutedModel,
    question: SkillRequest,
    outcome: str,
    *,
    answer: ModelResponse | None = None,
    problem: str | None = None,
) -> CallTrace:
    occasion = question.occasion
    request = replace(question.request, model=link.ref.model)
    return CallTrace(metered_call.hold.id, occasion.workspace_id, occasion.subject, request, outcome, answer, problem)


def _wanted(link: RoutedModel, question: SkillRequest, hop: int) -> PlannedSpend:
    most = question.request.max_output_tokens
    return PlannedSpend(
        workspace_id=question.occasion.workspace_id,
        run_id=question.occasion.run_id,
        skill=question.skill,
        tier=question.tier,
        provider=link.ref.provider,
        model=link.ref.model,
        input_tokens=question.input_tokens,
        output_tokens=most,
        nano_usd=None if link.price is None else link.price.most(question.input_tokens, most),
        prompt_hash=question.prompt_hash,
        hop=hop,
    )
