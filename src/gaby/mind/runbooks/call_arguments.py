"""What a runbook says behind a tool: which arguments it has, where their values come from, and for which things.

`, `service`: `payments``, `(`limit` = 5)`, `, `query`: the requester's address`, ` for each device whose ...`.
"""

import re

from gaby.mind.runbooks.conditions import ConditionError, FieldTest, alternatives
from gaby.mind.runbooks.field_refs import FieldRef, dotted, nouns_in
from gaby.mind.runbooks.model import (
    ArgumentSource,
    ConstantValue,
    RequesterAddress,
    ResultField,
    Selector,
    TicketIdValue,
    TicketValue,
)


class StatementError(ValueError):
    """Why a sentence is not understood, and what to write."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.why, self.hint = why, hint


_T = r"`[^`\n]{1,200}`"
_WORDS = r"[A-Za-z][\w'’\-]{0,40}(?: [A-Za-z][\w'’\-]{0,40}){0,5}"
_NAME = re.compile(r"[\s,;(]*(?:and )?`([^`\n]{1,100})`(?: ?[:=] ?| is | as | set to | )")
_REQUESTER = r"(?:the )?(?:requester|customer)['’]s"
_SOURCES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("address", re.compile(rf"{_REQUESTER} (?:own )?(?:e-?mail )?address", re.IGNORECASE)),
    ("domain", re.compile(rf"{_REQUESTER} domain", re.IGNORECASE)),
    ("ticket value", re.compile(
        rf"(?:the |an? )?({_WORDS}?) (?:that stands )?in the ticket(?:['’]s text)?"
        rf"(?:,? (?:that |which )?(?:matches|matching|like|of the form) ({_T}))?", re.IGNORECASE)),
    ("ticket", re.compile(r"(?:this|the) ticket(?:['’]s id)?\b", re.IGNORECASE)),
    ("field", re.compile(
        rf"({_T}) (?:of|from|in) (?:({_T})|((?:the|a|an|this|that|their|its|each) {_WORDS}?))"
        r"(?=[,;.)]|\s+(?:and|for)\b|\s*\Z)",
        re.IGNORECASE)),
    ("whose field", re.compile(rf"((?:the|its|their|this|that) {_WORDS}['’]s) ({_T})", re.IGNORECASE)),
    ("constant", re.compile(rf"({_T})|(true|false|yes|no|-?[0-9]{{1,15}}(?:\.[0-9]{{1,6}})?)\b", re.IGNORECASE)),
)  # fmt: skip
_SELECTS = re.compile(
    rf"[\s,;(]*(?:and )?for (each|every|all|the|that|this)(?: of)?(?: the| their| these)? ({_WORDS}?)"
    r"(?:,? (whose|with|that|which) (.*))?[\s)]*",
    re.IGNORECASE | re.DOTALL,
)
_FOR_REQUESTER = re.compile(r"[\s,;(]*for (?:the )?(?:requester|customer|client|user|person|them)[\s)]*", re.IGNORECASE)
_EXTREME = re.compile(
    r"the (highest|largest|most|newest|latest|lowest|smallest|oldest|fewest) `([^`\n]{1,100})`", re.IGNORECASE
)
_HIGH = frozenset({"highest", "largest", "most", "newest", "latest"})
_BEHIND_SELECTOR = re.compile(r"\s*[,;(]\s*(?:and )?(?=`[^`\n]{1,100}` ?:)")
"""An argument behind `for each ...`. Its colon tells it from a test of the things."""
_HINT = "behind a tool stand arguments, ``, `service`: `payments` ``, and which things it is for, ``for each device``"
_ONE_SELECTOR = "name once which things it is for, before or behind all arguments that follow the tool"


def arguments_of(text: str) -> tuple[tuple[tuple[str, ArgumentSource], ...], Selector | None]:
    """All of the text has to be arguments and, behind or before them, a selector."""
    given: dict[str, ArgumentSource] = {}
    rest = _read_arguments(text, given)
    selected, behind = _cut_selector(rest)
    if behind and (left := _read_arguments(behind, given)):
        raise StatementError(f"“{left[:120]}” is not understood behind the arguments", _ONE_SELECTOR)
    if not selected or _FOR_REQUESTER.fullmatch(selected):
        return tuple(given.items()), None
    if (selects := _SELECTS.fullmatch(selected)) is None:
        raise StatementError(f"“{selected[:120]}” is not understood behind the tool", _HINT)
    return tuple(given.items()), _selector(selects)


def _read_arguments(text: str, given: dict[str, ArgumentSource]) -> str:
    """Adds the arguments that the text begins with, and gives what is left of it."""
    while name := _NAME.match(text):
        source, end = _source(text, name.end())
        if name[1] in given:
            raise StatementError(f"`{name[1]}` is given twice")
        given[name[1]] = source
        text = text[end:]
    return text.strip(" ,;.)")


def _cut_selector(text: str) -> tuple[str, str]:
    """`for each ride, `station_id`: ...` in front of its arguments and from there on."""
    for match in _BEHIND_SELECTOR.finditer(text):
        if text.count("`", 0, match.start()) % 2 == 0:
            return text[: match.start()].strip(" ,;.)"), text[match.end() :]
    return text, ""


def _source(text: str, start: int) -> tuple[ArgumentSource, int]:
    for kind, pattern in _SOURCES:
        if match := pattern.match(text, start):
            return _argument_source(kind, match), match.end()
    raise StatementError(
        f"“{text[start : start + 80].strip()}” says not where the value comes from",
        "write a value in backticks, the requester's e-mail address, this ticket, `field` of the thing, or "
        "the order number in the ticket, matching `pattern`",
    )


def _argument_source(kind: str, matched: re.Match[str]) -> ArgumentSource:  # noqa: PLR0911 - one for each kind of source
    match kind:
        case "address":
            return RequesterAddress()
        case "domain":
            return RequesterAddress(only_domain=True)
        case "ticket":
            return TicketIdValue()
        case "ticket value":
            return TicketValue(" ".join(matched[1].split()), (matched[2] or "").strip("`"))
        case "field":
            return ResultField(_ref(matched[1], matched[3] or "", (matched[2] or "").strip("`")))
        case "whose field":
            return ResultField(_ref(matched[2], matched[1], ""))
        case _:
            return ConstantValue((matched[1] or matched[2]).strip("`"))


def _ref(field: str, whose: str, tool: str) -> FieldRef:
    name, nouns, tools = dotted(field.strip("`"))
    return FieldRef(name, frozenset(nouns | nouns_in(whose)), frozenset(tools | ({tool} if tool else set())))


def _selector(match: re.Match[str]) -> Selector:
    nouns = nouns_in(match[2])
    if not nouns:
        raise StatementError(f"“{match[2]}” names no thing", _HINT)
    rest = (match[4] or "").strip(" .;)")
    each = match[1].lower() in {"each", "every", "all"}
    if extreme := _EXTREME.fullmatch(rest):
        side = "highest" if extreme[1].lower() in _HIGH else "lowest"
        return Selector(nouns, match[2], extreme=side, by=extreme[2], each=each)
    return Selector(nouns, match[2], _tests(rest), each=each)


def _tests(rest: str) -> tuple[FieldTest, ...]:
    if not rest:
        return ()
    try:
        groups = alternatives(rest)
    except ConditionError as error:
        raise StatementError(error.why, error.hint) from error
    if len(groups) != 1 or not all(isinstance(each, FieldTest) and each.other is None for each in groups[0]):
        raise StatementError(f"“{rest[:80]}” does not choose among them by their own fields")
    return tuple(each for each in groups[0] if isinstance(each, FieldTest))
