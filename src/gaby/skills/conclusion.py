"""The conclusion of an investigation by a model: typed, with one text for the requester and one for colleagues."""

import re
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from gaby.llm.untrusted_text import Outside
from gaby.skills.base import SkillOutput

Ending = Literal["auto_resolved", "needs_client", "needs_tech", "needs_l2", "skipped"]
_LONG = 6000
_ITEM = 600
_NAME = re.compile(r"[cp][0-9]{1,4}")
_SEVERAL = re.compile(r"\[([cp][0-9]{1,4}(?:\s{0,3}[,;]?\s{0,3}[cp][0-9]{1,4}){1,20})\]")


class Conclusion(SkillOutput):
    """Sources are cited in square brackets, by the names that they were shown with: [c2], [p1]."""

    verdict: Annotated[
        Ending,
        Field(
            description="auto_resolved: everything that was asked is answered by sources, or was done and seen to "
            "help. needs_client: only the requester can go on; ask one clear question. needs_tech: a colleague has to "
            "do or decide something that you could not. needs_l2: not understood, contradictory, or a matter of "
            "security. skipped: nothing to look into."
        ),
    ]
    why: Annotated[Outside, Field(max_length=_ITEM, description="One sentence: why this verdict.")] = ""
    cause: Annotated[
        Outside,
        Field(
            max_length=2000,
            description="The root cause with its evidence [c1][p2]: why it happened to this requester and why now. "
            "A plausible symptom or an incident that concerns others is not yet the cause. Empty if not known.",
        ),
    ] = ""
    open: Annotated[
        list[Annotated[Outside, Field(max_length=_ITEM)]],
        Field(max_length=10, description="What is still open, and who has to do it."),
    ] = Field(default_factory=list[str])
    question: Annotated[
        Outside,
        Field(
            max_length=_ITEM,
            description="With needs_client: the one question whose answer lets the investigation go on.",
        ),
    ] = ""
    reply: Annotated[
        Outside,
        Field(
            max_length=_LONG,
            description="What the requester reads, in the language of the requester, plain and complete. Every "
            "sentence that states a fact ends with its sources in square brackets [c1][p2]; they are shown as titles. "
            "No names of tools or files. With needs_tech and needs_l2 it tells them what was found and that a "
            "colleague goes on.",
        ),
    ] = ""
    note: Annotated[
        Outside,
        Field(
            max_length=_LONG,
            description="What colleagues read, with sources: what was seen, what was ruled out, what to do next.",
        ),
    ] = ""

    @field_validator("cause", "question", "reply", "note")
    @classmethod
    def _apart(cls, text: str) -> str:
        """`[c1, p2]` means `[c1][p2]`."""
        return _SEVERAL.sub(lambda match: "".join(f"[{name}]" for name in _NAME.findall(match[1])), text)


_SHOWN = ("type", "enum", "items", "maxLength", "maxItems", "description")


def _shown(field: dict[str, Any]) -> dict[str, Any]:
    """A field without its title and default."""
    shown_fields = {key: field[key] for key in _SHOWN if key in field}
    return shown_fields | {"items": _shown(shown_fields["items"])} if "items" in shown_fields else shown_fields


CONCLUSION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {name: _shown(field) for name, field in Conclusion.model_json_schema()["properties"].items()},
    "required": ["verdict", "why", "reply"],
    "additionalProperties": False,
}
"""What a model is asked for. Its `why` and `reply` may be empty and not left out."""
