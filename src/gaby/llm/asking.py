"""One try with one model, with its budget held before and its cost booked after, whatever happens in between."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace

from gaby.kernel.errors import Unavailable
from gaby.kernel.failpoints import failpoint
from gaby.kernel.tracing import span
from gaby.llm.books import Books, BudgetSpent, Hold, Settled, Wanted
from gaby.llm.errors import AnswerCutOff, ModelError
from gaby.llm.messages import Answer, Message, Piece, Request, Usage
from gaby.llm.results import Occasion
from gaby.llm.setups import Link
from gaby.llm.tiers import Tier
from gaby.llm.tokens import FRAME, estimate


@dataclass(frozen=True)
class Question:
    """What is asked, of no model in particular."""

    skill: str
    tier: Tier
    occasion: Occasion
    request: Request
    input_tokens: int
    prompt_hash: str

    def with_more(self, *messages: Message) -> "Question":
        request = replace(self.request, messages=(*self.request.messages, *messages))
        more = sum(FRAME + estimate(message.text) for message in messages)
        return replace(self, request=request, input_tokens=self.input_tokens + more)


@dataclass(frozen=True)
class Asked:
    """A finished try that is in the books."""

    hold: Hold
    milliseconds: int
    nano_usd: int | None
    answer: Answer


class Failed(Exception):
    """A finished try without an answer; it is in the books too."""

    def __init__(self, hold: Hold, milliseconds: int, error: ModelError) -> None:
        super().__init__(error.message)
        self.hold = hold
        self.milliseconds = milliseconds
        self.error = error


def ask_whole(books: Books, link: Link, question: Question, hop: int) -> AsyncGenerator[Piece | Asked]:
    """The answer, all at once. `BudgetSpent` when it may not be asked, `Failed` when it gives none."""
    return _pieces(books, link, question, hop, streaming=False)


def ask_streaming(books: Books, link: Link, question: Question, hop: int) -> AsyncGenerator[Piece | Asked]:
    """Pieces as they come, then the whole."""
    return _pieces(books, link, question, hop, streaming=True)


async def _pieces(
    books: Books, link: Link, question: Question, hop: int, *, streaming: bool
) -> AsyncGenerator[Piece | Asked]:
    hold = await _hold(books, _wanted(link, question, hop))
    begin = time.perf_counter()
    # Until we know better: if this task is cancelled or dies, nobody can say what the vendor charged.
    settled = Settled("unknown", nano_usd=None, error="cancelled")
    answer: Answer | None = None
    failure: ModelError | None = None
    try:
        failpoint("llm.before_call")
        async with aclosing(_answering(link, question, streaming=streaming)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Piece):
                    yield piece
                else:
                    answer, settled = piece, _spent(link, piece, _since(begin))
        if answer is None:
            raise AnswerCutOff
        failpoint("llm.after_call")
    except ModelError as error:
        failure, settled = error, _failure(link, error, _since(begin))
    finally:
        await _settle(books, hold, settled)
    if failure is not None or answer is None:
        raise Failed(hold, settled.milliseconds, failure or AnswerCutOff())
    yield Asked(hold, settled.milliseconds, settled.nano_usd, answer)


async def _answering(link: Link, question: Question, *, streaming: bool) -> AsyncGenerator[Piece | Answer]:
    request = replace(question.request, model=link.ref.model)
    with span("llm.call", kind="client", model=str(link.ref), skill=question.skill):
        if streaming and link.provider.supports("streaming"):
            async with aclosing(link.provider.stream(request)) as pieces:
                async for piece in pieces:
                    yield piece
        else:
            yield await link.provider.chat(request)


async def _hold(books: Books, wanted: Wanted) -> Hold:
    """Cancelled in the middle of it, the hold may stand already; then it is given back, since nothing was sent."""
    holding = asyncio.ensure_future(books.hold(wanted))
    try:
        return await asyncio.shield(holding)
    except asyncio.CancelledError:
        with suppress(BudgetSpent, Unavailable):
            await books.settle(await holding, Settled("failed", error="cancelled"))
        raise


async def _settle(books: Books, hold: Hold, settled: Settled) -> None:
    """Also when cancelled meanwhile: what was spent must not be forgotten."""
    writing = asyncio.ensure_future(books.settle(hold, settled))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await writing
        raise


def _wanted(link: Link, question: Question, hop: int) -> Wanted:
    most = question.request.max_output_tokens
    price = link.price
    return Wanted(
        workspace_id=question.occasion.workspace_id,
        run_id=question.occasion.run_id,
        skill=question.skill,
        tier=question.tier,
        provider=link.ref.provider,
        model=link.ref.model,
        input_tokens=question.input_tokens,
        output_tokens=most,
        nano_usd=None if price is None else price.most(question.input_tokens, most),
        prompt_hash=question.prompt_hash,
        hop=hop,
    )


def _spent(link: Link, answer: Answer, milliseconds: int) -> Settled:
    return Settled("done", answer.usage, _cost(link, answer.usage), answer.model, None, milliseconds)


def _failure(link: Link, error: ModelError, milliseconds: int) -> Settled:
    if error.usage is not None:
        return Settled("failed", error.usage, _cost(link, error.usage), None, error.code, milliseconds)
    if error.may_be_billed:
        return Settled("unknown", nano_usd=None, error=error.code, milliseconds=milliseconds)
    return Settled("failed", error=error.code, milliseconds=milliseconds)


def _cost(link: Link, usage: Usage) -> int | None:
    return None if link.price is None else link.price.nano_usd(usage)


def _since(begin: float) -> int:
    return round((time.perf_counter() - begin) * 1000)
