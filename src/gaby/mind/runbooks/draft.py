"""A runbook proposed from a page of prose: sentences that are surely understood become lines, all others become `TODO:`
lines, which `gaby runbook check` reports. Only the first sentence of the page stays as its introduction, unless it says
what to do. Nothing is followed before a person has worked them out."""

import re

from gaby.mind.runbooks.conditions import ConditionError, alternatives
from gaby.mind.runbooks.front_matter import read_front_matter
from gaby.mind.runbooks.markdown import blocks
from gaby.mind.runbooks.parser import sentences
from gaby.mind.runbooks.statements import IF, OTHERWISE, StatementError, condition_end, statement_of

_LONGEST = 40_000
_INSTRUCTS = re.compile(
    r"(?:please |first,? |then,? |next,? |always |never |do not |don['’]t )*"
    r"(?:add|ask|call|change|check|click|close|compare|confirm|contact|copy|create|delete|do|enter|escalate|find|"
    r"forward|give|go|hand|inform|look|make|note|open|pass|query|read|refund|remove|reset|restart|run|search|see|"
    r"select|send|set|start|stop|tell|try|unlock|update|use|verify|wait|write|you (?:have to|must|should|can|need))\b",
    re.IGNORECASE,
)
"""It says what to do, so it is no introduction."""


def draft_runbook(text: str, tools: frozenset[str]) -> str:
    """Markdown with `runbook: true`, with the title and the first sentence of the page."""
    front = read_front_matter(text)
    title, about = "", ""
    steps: list[str] = []
    rest: list[str] = []
    below_condition = False
    for block in blocks(text[:_LONGEST], front.lines):
        said = block.text.replace("**", "").strip("_ ")
        is_condition = bool(IF.match(said) or OTHERWISE.match(said))
        if block.kind == "heading" and not (title and is_condition):
            title = title or said
        elif block.kind == "code":
            rest.append(f"- TODO: {said} (a block of code)")
        elif is_condition:
            below_condition = True
            rest += ["", *_branch(said, tools)]
        else:
            for sentence in sentences(said):
                if not (about or steps or rest) and block.kind == "paragraph" and _introduces(sentence, tools):
                    about = sentence
                    continue
                is_call = _kind(sentence, tools) == "call" and not below_condition
                (steps if is_call else rest).append(sentence if is_call else _line(sentence, tools))
    lines = ["---", "runbook: true"]
    if front.symptoms:
        lines += ["symptoms:", *(f"  - {each}" for each in front.symptoms)]
    lines += ["---", f"# {title or 'TODO: a title in the words of those who complain'}", ""]
    lines += [about or "TODO: for whom it is, in the words in which they complain.", ""]
    lines += [f"{number}. {step}" for number, step in enumerate(steps, 1)] or [
        "1. TODO: Find the requester with `tool`, `email`: the requester's e-mail address."
    ]
    lines += [*([""] if rest and rest[0] else []), *rest]
    if not any(OTHERWISE.match(line) for line in rest):
        lines += ["", "Otherwise hand it to second level."]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def _introduces(sentence: str, tools: frozenset[str]) -> bool:
    return "`" not in sentence and not _INSTRUCTS.match(sentence) and not _kind(sentence, tools)


def _branch(text: str, tools: frozenset[str]) -> list[str]:
    otherwise = OTHERWISE.match(text)
    if otherwise:
        said = [_line(each, tools) for each in sentences(text[otherwise.end() :])]
        plain = len(said) == 1 and not said[0].startswith("- TODO")
        return [f"Otherwise {said[0][2:]}"] if plain else ["Otherwise hand it to second level.", *said]
    end, start = condition_end(text), IF.match(text)
    condition = text[start.end() if start else 0 : end].strip(" ,")
    try:
        alternatives(condition)
        head = f"If {condition}: TODO: the cause, in a sentence."
    except ConditionError:
        head = f"- TODO: If {condition}: the cause, with fields and values in backticks."
    return [head, *(_line(each, tools) for each in sentences(text[end:].lstrip(":, ")))]


def _line(sentence: str, tools: frozenset[str]) -> str:
    return f"- {sentence[:1].upper()}{sentence[1:]}" if _kind(sentence, tools) else f"- TODO: {sentence}"


def _kind(sentence: str, tools: frozenset[str]) -> str:
    try:
        said = statement_of(f"{sentence[:1].upper()}{sentence[1:]}", tools)
    except StatementError:
        return ""
    return said.kind if said is not None else ""
