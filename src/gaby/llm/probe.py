"""Trying a model: one short question, in the books like every other."""

from contextlib import aclosing
from dataclasses import dataclass
from hashlib import sha256

from gaby.llm.asking import Asked, Failed, Question, ask
from gaby.llm.books import Books, BudgetSpent
from gaby.llm.messages import Message, Request
from gaby.llm.results import Occasion
from gaby.llm.setups import Link
from gaby.llm.tiers import Tier
from gaby.llm.tokens import FRAME, estimate

_SYSTEM = "You are being tested by Gaby. Answer with the one word that you are asked for."
_QUESTION = "Answer with the word: ready"
_HASH = sha256((_SYSTEM + _QUESTION).encode()).hexdigest()
_TOKENS = 2 * FRAME + estimate(_SYSTEM) + estimate(_QUESTION)


@dataclass(frozen=True)
class Probed:
    model: str
    message: str
    answers: bool = True
    milliseconds: int = 0
    nano_usd: int | None = 0


async def probe(books: Books, link: Link, occasion: Occasion, *, patience: float) -> Probed:
    request = Request(link.ref.model, _SYSTEM, (Message("user", _QUESTION),), max_output_tokens=256, timeout=patience)
    question = Question("model-test", Tier.SMALL, occasion, request, _TOKENS, _HASH)
    try:
        async with aclosing(ask(books, link, question, 0)) as pieces:
            async for asked in pieces:
                if isinstance(asked, Asked):
                    spent = asked.booking.settled
                    said = " ".join(asked.answer.text.split())[:60]
                    return Probed(str(link.ref), said, milliseconds=spent.milliseconds, nano_usd=spent.nano_usd)
    except Failed as failed:
        return Probed(
            str(link.ref), failed.error.message, answers=False, milliseconds=failed.booking.settled.milliseconds
        )
    except BudgetSpent as spent:
        return Probed(str(link.ref), spent.message, answers=False)
    raise AssertionError("a try ends with an answer or an error")
