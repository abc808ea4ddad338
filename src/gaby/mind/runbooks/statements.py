"""What a sentence of a runbook says: a call, words for the requester, work for colleagues, or a note.

A sentence is one of a few forms, and all of it has to be understood. What is not raises `StatementError`.
"""

import re
from dataclasses import dataclass
from typing import Literal

from gaby.mind.runbooks.call_arguments import StatementError, arguments_of
from gaby.mind.runbooks.model import RunbookCall

__all__ = ["RunbookStatement", "StatementError", "call_of", "condition_end", "statement_of", "tool_named"]

Kind = Literal["call", "tell", "ask", "hand", "security", "slow", "settles", "consent", "note", "cause"]


@dataclass(frozen=True)
class RunbookStatement:
    kind: Kind
    text: str
    later: bool = False
    """Only after the change was made."""
    calls: tuple[RunbookCall, ...] = ()


_REQUESTERS = r"(?:the )?(?:requester|customer|client|person who asks|writer)|them"
_AFTERWARDS = re.compile(
    r"(?:then|after that|afterwards|when (?:it|that) is done|once (?:it is )?done),? (?=\S)", re.IGNORECASE
)
TELLS = re.compile(
    rf"(?:also )?(?:tell|inform) (?:{_REQUESTERS})(?:: ?|,? that )|let (?:{_REQUESTERS}) know(?:: ?| that )",
    re.IGNORECASE,
)
ASKS = re.compile(
    r"(?:also )?ask (the (?:[\w'\-]+ ){0,4}?[\w\-]+|them) "
    r"(to|for|whether|if|which|what|when|where|who|not to) (?=\S)",
    re.IGNORECASE,
)
_HANDOVER = re.compile(
    r"(?:hand|pass|escalate|forward|route|assign|give|report) (?:it|this|that|the ticket|everything)"
    r"(?: over)? to (?=\S)",
    re.IGNORECASE,
)
_COLLEAGUES = re.compile(r"\b(?:team|colleagues?|engineers?|second level|support|operations)\b", re.IGNORECASE)
REQUESTER = re.compile(r"(?:the )?(?:requester|customer|client|user|person|writer)\b|them\b", re.IGNORECASE)
_SECURITY = re.compile(r"treat (?:it|this) as a(?:n attack| security (?:matter|incident))[.!]?\Z", re.IGNORECASE)
_SLOW = re.compile(r"(?:it|this|that)(?: then)? (?:can |may )?takes? \S.*", re.IGNORECASE | re.DOTALL)
_SETTLES = re.compile(r"(?:this|that|the change) settles it[.!]?\Z", re.IGNORECASE)
_CONSENT = re.compile(r"only (?:after|once|when|if) \S.*", re.IGNORECASE | re.DOTALL)
_NOTE = re.compile(r"(?:note|remark)(?: for colleagues)?: ?(?=\S)", re.IGNORECASE)
_TODO = re.compile(r"todo:?\b", re.IGNORECASE)
_CAUSE = re.compile(r"(?:the )?cause(?:: ?| is(?: that)? )(?=\S)", re.IGNORECASE)
IF = re.compile(r"(?:if|when|in case) ", re.IGNORECASE)
OTHERWISE = re.compile(r"(?:otherwise|else|in all other cases|in any other case)\b[:,]? ?", re.IGNORECASE)
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("note", _NOTE),
    ("tell", TELLS),
    ("hand", _HANDOVER),
    ("security", _SECURITY),
    ("consent", _CONSENT),
    ("slow", _SLOW),
    ("settles", _SETTLES),
    ("cause", _CAUSE),
)
_TICKED = re.compile(r"`([^`\n]{1,200})`")
_DIRECTLY = re.compile(
    r"(?:do|call|run|use|make|read|open|query|check|see|look at|look into|look in|look up|start)", re.IGNORECASE
)
_WITH = re.compile(r"\S.*\b(?:with|using|in|via|by|through)", re.IGNORECASE | re.DOTALL)
_DOUBTFUL = re.compile(
    r"\b(?:not|never|no|unless|if|when|whenever|only|except|instead|until|before|after|may|might|could|should|"
    r"would|can|optionally|perhaps|maybe)\b|n['’]t\b",
    re.IGNORECASE,
)
_FORMS = (
    "a sentence begins with Do `tool`, Tell the requester:, Then tell the requester:, Ask the requester to, "
    "Hand it to, Only after, It takes, That settles it, Treat it as a security matter, or Note for colleagues:"
)


def condition_end(text: str) -> int:
    """Where the `if` ends: at the first colon, or else at the first comma that begins something new."""
    comma = 0
    ticked = False
    for place, character in enumerate(text):
        ticked ^= character == "`"
        if ticked:
            continue
        if character == ":" and text[place + 1 : place + 2] in {"", " ", "*"}:
            return place
        goes_on = re.match(r",\s*(?:and|or|whose|then and)\b|,\s*`", text[place : place + 12], re.IGNORECASE)
        if character == "," and not comma and not goes_on:
            comma = place
    return comma or len(text)


def statement_of(sentence: str, tools: frozenset[str]) -> RunbookStatement | None:
    """None for a sentence of no known form: it may go on with what was said before, or be a cause."""
    if _TODO.match(sentence):
        raise StatementError("this is still to be written", "say it in one of the forms, or make it a note")
    after = _AFTERWARDS.match(sentence)
    said, later = (sentence[after.end() :], True) if after else (sentence, False)
    if (asks := ASKS.match(said)) and not TELLS.match(said):
        is_for_colleagues = _COLLEAGUES.search(asks[1]) and not REQUESTER.match(asks[1])
        return RunbookStatement("hand" if is_for_colleagues else "ask", said, later)
    for kind, form in _KINDS:
        if match := form.match(said):
            text = said[match.end() :] if kind in {"note", "cause"} else said
            return RunbookStatement(kind, text, later, _handed_with(said, tools) if kind == "hand" else ())
    call = call_of(said, tools)
    return None if call is None else RunbookStatement("call", said, calls=(call,))


def call_of(sentence: str, tools: frozenset[str]) -> RunbookCall | None:
    """The one call that a sentence asks for. None when it names no tool."""
    marks = [match for match in _TICKED.finditer(sentence) if tool_named(match[1], tools)]
    if not marks:
        return None
    mark, ahead = marks[0], sentence[: marks[0].start()].strip()
    if not (_DIRECTLY.fullmatch(ahead) or _WITH.fullmatch(ahead)) or "`" in ahead:
        why = f"it is not clear whether `{mark[1]}` is to be called"
        raise StatementError(why, f"write: Do `{mark[1]}`., or: Look at ... with `{mark[1]}`.")
    if doubt := _DOUBTFUL.search(ahead):
        raise StatementError(
            f"“{doubt[0]}” before `{mark[1]}` makes it unclear whether it is to be called",
            "put a condition into an If, or make the sentence a note for colleagues",
        )
    if len(marks) > 1 and not re.search(r"\b(?:of|from|in) \Z", sentence[: marks[1].start()]):
        raise StatementError("a sentence asks for one call, and this one names several", "write a sentence for each")
    given, selector = arguments_of(sentence[mark.end() :].rstrip(" .!"))
    return RunbookCall(tool_named(mark[1], tools), given, selector, plain(sentence))


def _handed_with(sentence: str, tools: frozenset[str]) -> tuple[RunbookCall, ...]:
    """`Hand it to the reporting team with `add_note``: the call tells them, and what follows a colon is for them."""
    ticked = next((each for each in _TICKED.finditer(sentence) if tool_named(each[1], tools)), None)
    if ticked is None:
        if match := re.search(r"\b(?:with|using|by) `([^`\n]{1,200})`", sentence):
            raise StatementError(f"there is no tool `{match[1]}`", "`gaby tools list` shows those that are connected")
        return ()
    if not re.search(r"\b(?:with|using|by|through) \Z", sentence[: ticked.start()]):
        raise StatementError(f"it is not clear whether `{ticked[1]}` is to be called", "write: with `tool`")
    rest = sentence[ticked.end() :]
    arguments = rest if rest.lstrip().startswith((",", "(")) and "`" in rest else ""
    given, selector = arguments_of(arguments.rstrip(" .!"))
    return (RunbookCall(tool_named(ticked[1], tools), given, selector, plain(sentence), hands_over=True),)


def not_understood(sentence: str) -> StatementError:
    unknown = _TICKED.search(sentence)
    if unknown and re.search(r"\b(?:do|call|run|use|with|using) \Z", sentence[: unknown.start()], re.IGNORECASE):
        why = f"there is no tool `{unknown[1]}`"
        return StatementError(why, "`gaby tools list` shows those that are connected")
    return StatementError("this sentence is not understood", _FORMS)


def tool_named(words_in_ticks: str, tools: frozenset[str]) -> str:
    """`list_logins`, `list_logins()` and `directory.list_logins` name a tool; nothing when there is none."""
    name = words_in_ticks.strip().removesuffix("()")
    return name if name in tools else ""


def plain(sentence: str) -> str:
    return " ".join(sentence.replace("**", "").split())
