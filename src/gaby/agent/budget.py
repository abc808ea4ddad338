"""Budgets of one investigation, checked on every transition."""

from gaby.agent.memory import WorkingMemory
from gaby.agent.persona import Persona
from gaby.usage.limits import SpendCap

_PLANS = 3
"""For each round: some plans only search, or are turned down, and lead to no call."""


def spent(memory: WorkingMemory, persona: Persona, cap: SpendCap, *, working_for: float) -> str | None:
    """What is used up, in words; nothing while all is well. `working_for` are the seconds since the last edge."""
    if memory.iterations >= persona.iterations:
        return f"The limit of {persona.iterations} rounds"
    if memory.plans >= persona.iterations * _PLANS:
        return f"The limit of {persona.iterations * _PLANS} plans"
    if memory.seconds + working_for >= persona.seconds:
        return f"The limit of {persona.seconds} seconds"
    if cap.tokens is not None and memory.tokens >= cap.tokens:
        return f"The limit of {cap.tokens} tokens"
    if cap.nano_usd is not None and memory.nano_usd >= cap.nano_usd:
        return f"The limit of {cap.nano_usd / 1_000_000_000:.2f} USD"
    return None


_RESERVE = 0.2
"""The share of a limit that is kept back for the conclusion, its review and one correction."""


def closing(memory: WorkingMemory, persona: Persona, cap: SpendCap) -> str:
    """Why nothing but the conclusion can be afforded any more; empty while there is budget left."""
    if memory.iterations >= persona.iterations - 1 or memory.plans >= persona.iterations * _PLANS - 2:
        return "This is the last round that you have."
    if memory.seconds >= persona.seconds * (1 - _RESERVE):
        return "The time for this ticket is nearly used up."
    tokens, dollars = cap.tokens, cap.nano_usd
    if tokens is not None and memory.tokens >= tokens * (1 - _RESERVE):
        return "The budget for this ticket is nearly used up."
    if dollars is not None and memory.nano_usd >= dollars * (1 - _RESERVE):
        return "The budget for this ticket is nearly used up."
    return ""
