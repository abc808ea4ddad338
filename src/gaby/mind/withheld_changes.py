"""Changes that a runbook asks for and that are not made for a ticket, each with the reason."""

from dataclasses import dataclass, field
from typing import Any

from gaby.mind.investigation import Diagnosis, SituationAnalysis
from gaby.mind.questions import is_plain_question
from gaby.mind.runbook_calls import card_of, writes
from gaby.mind.situation_parts import why_unread
from gaby.mind.situations import ProposedCall
from gaby.mind.tool_names import short_name


@dataclass(frozen=True)
class WithheldChange:
    tool: str
    why: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    """Empty where they could not be told."""

    @property
    def explanation(self) -> str:
        given = ", ".join(f"{name}: {value}" for name, value in self.arguments.items())
        return f"`{self.tool}`{f' ({given})' if given else ''} was not called, because {self.why}."


def reason_to_withhold(investigation: SituationAnalysis, diagnosis: Diagnosis) -> str:
    """Why nothing is changed, whatever the runbook asks for. Empty: what it asks for is done, or a person is asked."""
    situation, is_dangerous = investigation.situation, investigation.is_dangerous
    reasons = (
        (diagnosis.is_a_guess and not is_dangerous, "the ticket hardly speaks of what the runbook is about"),
        (
            bool(why_unread(situation)),
            "the ticket is in a language that Gaby does not read without a model",
        ),
        (not situation.requester_verified, "nobody vouches for who is asking"),
        (is_dangerous, "somebody tries to give orders, or pretends to be somebody else"),
        (
            not investigation.ownership.is_known,
            "no tool whose rows have a declared owner finds the requester by their address",
        ),
        (diagnosis.branch.security, "it is treated as a security matter"),
        (is_plain_question(situation.ticket), "the ticket only asks a question"),
    )
    return next((why for holds, why in reasons if holds), "")


def permitted_calls(investigation: SituationAnalysis, diagnosis: Diagnosis, content: str) -> tuple[ProposedCall, ...]:
    """The changes of a cause. Where they are withheld, a note for colleagues can still be left, except for a guess."""
    calls = writes(investigation, diagnosis, content).calls
    if not reason_to_withhold(investigation, diagnosis):
        return calls
    if diagnosis.is_a_guess and not investigation.is_dangerous:
        return ()
    notes = {each.tool for each in diagnosis.branch.wanted if each.hands_over}
    return tuple(call for call in calls if short_name(call.tool) in notes)


def withheld_changes(investigation: SituationAnalysis, diagnosis: Diagnosis, content: str) -> list[WithheldChange]:
    """All that the cause asks for and that is not done, also for want of a value or of the tool."""
    asked = writes(investigation, diagnosis, content)
    allowed = {call.key for call in permitted_calls(investigation, diagnosis, content)}
    why = reason_to_withhold(investigation, diagnosis)
    changes = [WithheldChange(call.tool, why, dict(call.arguments)) for call in asked.calls if call.key not in allowed]
    changes += [
        WithheldChange(each.call.tool, f"it needs `{each.value.argument}`: {each.value.why}") for each in asked.missing
    ]
    changes += [
        WithheldChange(each.tool, "no connected tool of that name may be called now")
        for each in diagnosis.branch.wanted
        if card_of(investigation, each, "write") is None and card_of(investigation, each, "read") is None
    ]
    return changes
