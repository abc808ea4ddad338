"""The conclusion of an investigation by a model: typed, with one text for the requester and one for colleagues."""

import re
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from gaby.llm.outside import Outside
from gaby.skills.base import Answered

Ending = Literal["auto_resolved", "needs_client", "needs_tech", "needs_l2", "skipped"]
_LONG = 6000
_ITEM = 600
_NAME = re.compile(r"[cp][0-9]{1,4}")
_SEVERAL = re.compile(r"\[([cp][0-9]{1,4}(?:\s{0,3}[,;]?\s{0,3}[cp][0-9]{1,4}){1,20})\]")


class Conclusion(Answered):
    """Sources are cited in square brackets, by the names that they were shown with: [c2], [p1]."""

    verdict: Ending
    why: Annotated[Outside, Field(max_length=_ITEM)] = ""
    """One sentence on why this verdict."""
    cause: Annotated[Outside, Field(max_length=2000)] = ""
    """What is behind it, why for this requester and why now. Empty while that is not known."""
    open: Annotated[list[Annotated[Outside, Field(max_length=_ITEM)]], Field(max_length=10)] = Field(
        default_factory=list[str]
    )
    """What is still to be done, and by whom."""
    question: Annotated[Outside, Field(max_length=_ITEM)] = ""
    """What only the requester can tell."""
    reply: Annotated[Outside, Field(max_length=_LONG)] = ""
    """For the requester, in the requester's language."""
    note: Annotated[Outside, Field(max_length=_LONG)] = ""
    """For colleagues."""

    @field_validator("cause", "question", "reply", "note")
    @classmethod
    def _apart(cls, text: str) -> str:
        """`[c1, p2]` means `[c1][p2]`."""
        return _SEVERAL.sub(lambda found: "".join(f"[{name}]" for name in _NAME.findall(found[1])), text)


CONCLUSION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "verdict": {
            "type": "string",
            "enum": ["auto_resolved", "needs_client", "needs_tech", "needs_l2", "skipped"],
            "description": "auto_resolved: everything that was asked is answered by sources, or was done and seen to "
            "help. needs_client: only the requester can go on; ask one clear question. needs_tech: a colleague has to "
            "do or decide something that you could not. needs_l2: not understood, contradictory, or a matter of "
            "security. skipped: nothing to look into.",
        },
        "why": {"type": "string", "maxLength": _ITEM, "description": "One sentence: why this verdict."},
        "cause": {
            "type": "string",
            "maxLength": 2000,
            "description": "The root cause with its evidence [c1][p2]: why it happened to this requester and why now. "
            "A plausible symptom or an incident that concerns others is not yet the cause. Empty if not known.",
        },
        "open": {
            "type": "array",
            "items": {"type": "string", "maxLength": _ITEM},
            "maxItems": 10,
            "description": "What is still open, and who has to do it.",
        },
        "question": {
            "type": "string",
            "maxLength": _ITEM,
            "description": "With needs_client: the one question whose answer lets the investigation go on.",
        },
        "reply": {
            "type": "string",
            "maxLength": _LONG,
            "description": "What the requester reads, in the language of the requester, plain and complete. Every "
            "sentence that states a fact ends with its sources in square brackets [c1][p2]; they are shown as titles. "
            "No names of tools or files. With needs_tech and needs_l2 it tells them what was found and that a "
            "colleague goes on.",
        },
        "note": {
            "type": "string",
            "maxLength": _LONG,
            "description": "What colleagues read, with sources: what was seen, what was ruled out, what to do next.",
        },
    },
    "required": ["verdict", "why", "reply"],
    "additionalProperties": False,
}
