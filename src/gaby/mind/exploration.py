"""Exploration without a runbook: tools that fit the ticket, that only read, and whose arguments are known."""

from gaby.mind.entities import extract
from gaby.mind.investigation import SituationAnalysis
from gaby.mind.key_sentences import gist
from gaby.mind.runbook_calls import values
from gaby.mind.situations import ProposedCall
from gaby.mind.tool_choice import choose

_LOOKED_AT = 12
_IN_ALL = 6
_AT_ONCE = 3
_ENOUGH = 0.15
_READ = 4000


def explore(investigation: SituationAnalysis) -> list[ProposedCall]:
    """At most three at once and six in all, the best first. Empty when nothing new can be learned."""
    situation = investigation.situation
    remaining = min(_AT_ONCE, _IN_ALL - sum(call.access == "read" for call in investigation.calls))
    if remaining <= 0:
        return []
    text = gist(situation.ticket, _READ)
    # Whose address is known, so a tool that needs one can be called.
    entities = extract(f"{text}\n{situation.requester or ''}")
    cards = {card.name: card for card in situation.tools if card.access == "read"}
    resolver = values(investigation)
    calls: list[ProposedCall] = []
    useless = {call.tool for call in investigation.calls if call.outcome in {"denied", "failed", "unknown"}}
    for choice in choose(text, list(cards.values()), entities, investigation.embed, _LOOKED_AT):
        if choice.score < _ENOUGH or choice.name in useless:
            continue
        for arguments in resolver.fill(cards[choice.name]).arguments[:1]:
            call = ProposedCall(choice.name, arguments, choice.why)
            if not investigation.was_made(call.key):
                calls.append(call)
    return calls[:remaining]
