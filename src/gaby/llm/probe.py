"""Trying a model: one short question, in the budget ledger like every other."""

from contextlib import aclosing
from dataclasses import dataclass
from hashlib import sha256

from gaby.llm.budget_ledger import BudgetLedger, BudgetSpent
from gaby.llm.messages import ChatMessage, ModelRequest
from gaby.llm.model_attempt import CompletedAttempt, FailedAttempt, SkillRequest, ask
from gaby.llm.results import SkillContext
from gaby.llm.setups import RoutedModel
from gaby.llm.tiers import Tier
from gaby.llm.tokens import FRAME, estimate

_SYSTEM = "You are being tested by Gaby. Answer with the one word that you are asked for."
_QUESTION = "Answer with the word: ready"
_HASH = sha256((_SYSTEM + _QUESTION).encode()).hexdigest()
_TOKENS = 2 * FRAME + estimate(_SYSTEM) + estimate(_QUESTION)


@dataclass(frozen=True)
class ProbeResult:
    model: str
    message: str
    answers: bool = True
    milliseconds: int = 0
    nano_usd: int | None = 0


async def probe(
    budget_ledger: BudgetLedger, link: RoutedModel, occasion: SkillContext, *, patience: float
) -> ProbeResult:
    request = ModelRequest(
        link.ref.model, _SYSTEM, (ChatMessage("user", _QUESTION),), max_output_tokens=256, timeout=patience
    )
    question = SkillRequest("model-test", Tier.SMALL, occasion, request, _TOKENS, _HASH)
    try:
        async with aclosing(ask(budget_ledger, link, question, 0)) as pieces:
            async for asked in pieces:
                if isinstance(asked, CompletedAttempt):
                    spent = asked.metered_call.settled
                    said = " ".join(asked.answer.text.split())[:60]
                    return ProbeResult(str(link.ref), said, milliseconds=spent.milliseconds, nano_usd=spent.nano_usd)
    except FailedAttempt as failed:
        return ProbeResult(
            str(link.ref), failed.error.message, answers=False, milliseconds=failed.metered_call.settled.milliseconds
        )
    except BudgetSpent as spent:
        return ProbeResult(str(link.ref), spent.message, answers=False)
    raise AssertionError("a try ends with an answer or an error")
