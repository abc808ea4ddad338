"""The conversation with the planner so far: its searches and calls as its turns, their results as the answers."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, cast

from pydantic import Field

from gaby.kernel.outcomes import CallOutcome
from gaby.llm.messages import ChatMessage, ToolResult, ToolUse
from gaby.llm.untrusted_text import Inside, Outside, PromptRedactor, TextOrigin, company_page, fenced
from gaby.skills.base import SkillInput
from gaby.skills.conclusion import Conclusion
from gaby_connectors.sdk.manifest import Access

SEARCH = "search_knowledge"
CONCLUDE = "conclude"
FIND = "find_tools"
_OUTCOMES = {
    "done": "Done.",
    "simulated": "Only simulated: nothing was changed.",
    "asked": "A person has to agree first, and was asked. It was not done yet.",
    "denied": "Refused. Do not try it again.",
    "failed": "It failed; nothing was changed.",
    "unknown": "Nobody can say whether it was done. Do not repeat it.",
}
_AGREED = "A person was asked, and agreed. Done."


class PlannerPassage(SkillInput):
    citation: Inside
    title: Outside
    text: Outside
    trusted: bool = True
    """Somebody who works here wrote it."""
    runbook: bool = False
    """A whole page that is a runbook."""
    name: Inside = ""
    """What a conclusion cites it by."""
    turn: Annotated[int, Field(ge=0)] = 0
    """The number of the turn that asked for it; 0 was before the first."""


class CompletedCall(SkillInput):
    number: Annotated[int, Field(ge=1)]
    tool: Inside
    arguments: Annotated[dict[str, Any], TextOrigin(outside=True)]
    outcome: CallOutcome
    access: Access = "read"
    result: Outside = ""
    """JSON as text, or text. `mind.shown` cuts it to a size and keeps it whole."""
    reason: Outside = ""
    agreed: bool = False
    """A person was asked before, and agreed."""


class TurnCall(SkillInput):
    tool: Inside
    arguments: Annotated[dict[str, Any], TextOrigin(outside=True)]
    number: int | None = None
    """Of the call that was made; None when it was put off."""


class Turn(SkillInput):
    """One answer of the planner."""

    text: Outside = ""
    """Its reasons, in its own words."""
    queries: list[Outside] = Field(default_factory=list[str])
    internal: bool = False
    need: Outside = ""
    """What it wanted tools for."""
    offered: list[Inside] = Field(default_factory=list[str])
    """The tools that were found for that."""
    calls: list[TurnCall] = Field(default_factory=list[TurnCall])


def messages(
    turns: Sequence[Turn],
    passages: Sequence[PlannerPassage],
    calls: Sequence[CompletedCall],
    conceal: PromptRedactor,
    concluded: tuple[Conclusion, tuple[str, ...]] | None,
) -> tuple[ChatMessage, ...]:
    """Appended to and never rewritten, so that what was read once can be read from a cache."""
    calls_by_number = {call.number: call for call in calls}
    chat: list[ChatMessage] = []
    for number, turn in enumerate(turns, 1):
        pairs = list(_pairs(number, turn, passages, calls_by_number, conceal))
        if pairs:
            chat.append(ChatMessage("assistant", conceal.authored(turn.text), tuple(use for use, _ in pairs)))
            chat.append(ChatMessage("user", replies=tuple(reply for _, reply in pairs)))
    if concluded is not None:
        chat += _turned_down(concluded[0], concluded[1], conceal)
    return tuple(chat)


def _pairs(
    number: int,
    turn: Turn,
    passages: Sequence[PlannerPassage],
    calls_by_number: dict[int, CompletedCall],
    conceal: PromptRedactor,
) -> Iterable[tuple[ToolUse, ToolResult]]:
    if turn.queries:
        name = f"search-{number}"
        arguments = {"queries": [conceal.authored(query) for query in turn.queries], "internal": turn.internal}
        own_passages = [each for each in passages if each.turn == number]
        text = "\n\n".join(page_text(each, conceal) for each in own_passages) or "Nothing that was not shown before."
        yield ToolUse(name, SEARCH, arguments), ToolResult(name, text)
    if turn.need:
        name = f"find-{number}"
        text = ", ".join(turn.offered) or "There is no other tool for that."
        yield ToolUse(name, FIND, {"need": conceal.authored(turn.need)}), ToolResult(name, text)
    for place, each in enumerate(turn.calls, 1):
        call = calls_by_number.get(each.number) if each.number is not None else None
        name = f"call-{call.number}" if call is not None else f"call-{number}-{place}"
        yield ToolUse(name, each.tool, _concealed(each.arguments, conceal)), _reply(name, call, conceal)


def page_text(passage: PlannerPassage, conceal: PromptRedactor) -> str:
    """The company's own pages may be followed; what customers wrote is fenced like every stranger's text."""
    mark = company_page if passage.trusted else fenced
    text = conceal(f"{passage.title}\n{passage.text}")
    return f"[{passage.name}] {mark(text, 'page')}"


def _reply(name: str, call: CompletedCall | None, conceal: PromptRedactor) -> ToolResult:
    if call is None:
        return ToolResult(name, "Not made yet: what only reads was done first. Call it again if it is still wanted.")
    lines = [f"[c{call.number}] {_AGREED if call.agreed else _OUTCOMES[call.outcome]}"]
    if call.reason:
        lines.append(fenced(conceal(call.reason), "reason"))
    if call.result:
        lines.append(fenced(conceal(call.result), "result"))
    return ToolResult(name, "\n".join(lines), failed=call.outcome in {"denied", "failed", "unknown"})


def _turned_down(conclusion: Conclusion, doubts: Sequence[str], conceal: PromptRedactor) -> list[ChatMessage]:
    use = ToolUse("conclude-1", CONCLUDE, _concealed(conclusion.model_dump(), conceal))
    lines = "\n".join(f"- {conceal.authored(doubt)}" for doubt in doubts)
    text = (
        "Not sent yet. A reviewer who sees only the sources has doubts:\n"
        f"{lines}\n"
        "Conclude again. Say what the sources say, cite the source that says it, leave out what none says, and give "
        "another verdict if it is not solved. Where the reviewer is wrong, keep the sentence and cite better."
    )
    return [
        ChatMessage("assistant", "", (use,)),
        ChatMessage("user", replies=(ToolResult("conclude-1", text, failed=True),)),
    ]


def _concealed(value: Any, conceal: PromptRedactor) -> Any:
    """Of what the planner wrote."""
    match value:
        case str():
            return conceal.authored(value)
        case dict():
            pairs = cast("dict[str, Any]", value)
            return {key: _concealed(each, conceal) for key, each in pairs.items()}
        case list() | tuple():
            return [_concealed(each, conceal) for each in cast("list[Any]", value)]
        case _:
            return value
