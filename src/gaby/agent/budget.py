"""Budgets of one investigation, looked at on every edge."""

from gaby.agent.memory import Memory
from gaby.agent.persona import Persona
from gaby.usage.limits import Cap

_PLANS = 3
"""For each round: some plans only search, or are turned down, and lead to no call."""


def spent(memory: Memory, persona: Persona, cap: Cap, *, working_for: float) -> str | None:
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
