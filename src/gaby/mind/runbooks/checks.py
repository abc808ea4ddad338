"""Checks of a runbook against the tools that are connected: their arguments, their results, and who owns the rows.

An error is something that cannot work. A warning is something that cannot be checked, mostly because a tool does not
declare what it returns.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from gaby.mind.arguments.slots import ParameterSlot, slots_of
from gaby.mind.arguments.validation import fits, is_valid
from gaby.mind.ownership import Ownership
from gaby.mind.records import RecordView
from gaby.mind.runbooks.conditions import Condition, CountCondition, FieldTest, SameValue
from gaby.mind.runbooks.evaluation import EvaluationContext, resolve
from gaby.mind.runbooks.field_refs import FieldRef, dotted
from gaby.mind.runbooks.model import (
    Advice,
    ArgumentSource,
    ConstantValue,
    ResultField,
    Runbook,
    RunbookCall,
    RunbookProblem,
    TicketValue,
)
from gaby.mind.situations import PastCall
from gaby.mind.tool_choice import ToolCard
from gaby.mind.tool_names import connector_of, short_name
from gaby.mind.values import ADDRESS_FORMATS, ADDRESS_NAMES, LIMITING, typed_values
from gaby.mind.words import spelled

_TICKED = re.compile(r"`([^`\n]{1,200})`")


@dataclass(frozen=True)
class CheckedProblem:
    severity: Literal["error", "warning"]
    problem: RunbookProblem


def check(runbook: Runbook, cards: Sequence[ToolCard]) -> list[CheckedProblem]:
    """Its own errors first, then those against the tools, in the order of its lines."""
    problems = [CheckedProblem("error", each) for each in runbook.errors]
    problems += _Check(runbook, cards).problems()
    return sorted(dict.fromkeys(problems), key=lambda each: each.problem.line)


def tool_names(cards: Sequence[ToolCard]) -> frozenset[str]:
    """As a runbook may write them: with the connector and without."""
    return frozenset(name for card in cards for name in (card.name, short_name(card.name)))


class _Check:
    def __init__(self, runbook: Runbook, cards: Sequence[ToolCard]) -> None:
        self._runbook = runbook
        self._by_name: dict[str, list[ToolCard]] = {}
        for card in cards:
            for name in {card.name, short_name(card.name)}:
                self._by_name.setdefault(name, []).append(card)
        self._used = [card for card in cards if short_name(card.name) in runbook.tools]
        self._reads = [card for card in self._used if card.access == "read"]
        # Every tool has answered, and no answer has any row: what is left is what the schemas declare.
        calls = [PastCall(number, card.name, {}, "done", "read", {}) for number, card in enumerate(self._reads, 1)]
        view = RecordView(calls)
        self._scene = EvaluationContext(
            view, Ownership(view, None, cards), tools=runbook.tools, cards=self._reads, calls=calls
        )
        self._unclear = sorted(short_name(card.name) for card in self._reads if not card.declares.rows)

    def problems(self) -> Iterator[CheckedProblem]:
        for call in self._runbook.steps:
            yield from self._call(call, is_step=True)
        for branch in self._runbook.branches:
            for ref, words in _refs(branch.conditions):
                yield from self._field(ref, branch.line, words)
            for call in branch.wanted:
                yield from self._call(call, is_step=False)
            for said in (*branch.told, *branch.asked):
                yield from self._template(said)
        changes = [card for card in self._used if card.access == "write"]
        if changes and not any(card.declares.owner for card in self._reads):
            why = "no tool of this runbook declares whose its rows are, so nobody is known and nothing will be changed"
            yield _warning(1, self._runbook.title, why, "declare `owner` in the connector's manifest")

    def _call(self, call: RunbookCall, *, is_step: bool) -> Iterator[CheckedProblem]:
        cards = self._by_name.get(call.tool, [])
        if len(cards) > 1:
            tool_names = ", ".join(f"`{card.name}`" for card in cards)
            yield _error(call.line, call.words, f"several connectors have `{call.tool}`", f"write one of {tool_names}")
        if not cards:
            return
        card = cards[0]
        if is_step and card.access == "write":
            hint = "put it below a paragraph that begins with If"
            yield _error(call.line, call.words, f"`{call.tool}` changes something, and no condition says when", hint)
        slots = {each[0].name: each for each in slots_of(card.schema, card.schema) if each}
        for name, source in call.given:
            yield from self._given(call, name, source, slots)
        given = {name for name, _ in call.given}
        for name, several in slots.items():
            if several[0].required and name not in given:
                yield from self._argument(call, card, several)

    def _given(
        self, call: RunbookCall, name: str, source: ArgumentSource, slots: Mapping[str, Sequence[ParameterSlot]]
    ) -> Iterator[CheckedProblem]:
        """An argument of which the runbook says where it comes from."""
        if name not in slots:
            near = get_close_matches(name, list(slots), 1)
            hint = f"did you mean `{near[0]}`?" if near else f"it has {_listed(slots)}"
            yield _error(call.line, call.words, f"`{call.tool}` has no argument `{name}`", hint)
            return
        match source:
            case ConstantValue(text=text):
                if not any(fits(slot, value) for slot in slots[name] for value in typed_values(slot, text)):
                    yield _error(call.line, call.words, f"`{text}` is no value for `{name}` of `{call.tool}`")
            case TicketValue():
                yield from _ticket_value(call, slots[name][0], source)
            case ResultField(ref=ref):
                yield from self._field(ref, call.line, call.words)
            case _:
                pass

    def _argument(self, call: RunbookCall, card: ToolCard, slots: Sequence[ParameterSlot]) -> Iterator[CheckedProblem]:
        """An argument of which the runbook says nothing has to come from a result by its name or its kind."""
        name = slots[0].name
        if card.access == "write" and name in card.declares.content:
            return
        if card.access == "read" and (
            spelled(name) in ADDRESS_NAMES or any(slot.format in ADDRESS_FORMATS for slot in slots)
        ):
            return
        connector, kind = connector_of(card.name), card.declares.argument_kind(name)
        for each in self._reads:
            if connector_of(each.name) == connector and each is not card:
                for path, fields in each.declares.rows.items():
                    if any(
                        field == spelled(name) or (kind and each.declares.field_kind(path, field) == kind)
                        for field in fields
                    ):
                        return
        why = f"nothing gives `{name}`, which `{call.tool}` needs"
        hint = f"say where it comes from: `{name}`: ..."
        yield self._doubt(call.line, call.words, why, hint)

    def _field(self, ref: FieldRef, line: int, words: str) -> Iterator[CheckedProblem]:
        resolved = resolve(ref, self._scene)
        if resolved.places:
            return
        if "several" in resolved.why:
            yield _error(line, words, resolved.why, f"say whose it is: the account's `{ref.name}`")
        else:
            names = sorted({name for card in self._reads for names in card.declares.rows.values() for name in names})
            near = get_close_matches(ref.name, names, 1)
            hint = f"did you mean `{near[0]}`?" if near else ""
            yield self._doubt(line, words, f"no tool of this runbook gives `{ref.name}`", hint)

    def _template(self, said: Advice) -> Iterator[CheckedProblem]:
        for mark in _TICKED.finditer(said.text):
            name, nouns, tools = dotted(mark[1])
            if not any(name in fields for card in self._reads for fields in card.declares.rows.values()):
                yield from self._field(FieldRef(name, frozenset(nouns), frozenset(tools)), said.line, said.text)

    def _doubt(self, line: int, words: str, why: str, hint: str) -> CheckedProblem:
        """An error where all tools say what they return; else nobody can know."""
        if self._unclear:
            reason = f"{why}, as far as is known; {_listed(self._unclear)} does not declare what it returns"
            return _warning(line, words, reason, hint)
        return _error(line, words, why, hint)


def _refs(groups: Sequence[Sequence[Condition]]) -> Iterator[tuple[FieldRef, str]]:
    for condition in (each for group in groups for each in group):
        match condition:
            case FieldTest(ref=ref, other=other):
                yield ref, condition.words
                if other is not None:
                    yield other, condition.words
            case SameValue(ref=ref):
                yield ref, condition.words
            case CountCondition(tests=tests):
                yield from ((test.ref, condition.words) for test in tests)
            case _:
                pass


def _ticket_value(call: RunbookCall, slot: ParameterSlot, source: TicketValue) -> Iterator[CheckedProblem]:
    if source.pattern and not _is_pattern(source.pattern):
        yield _error(call.line, call.words, f"`{source.pattern}` is no regular expression")
    elif not source.pattern and not any(key in slot.schema for key in LIMITING):
        why = f"nothing says what a {source.name} looks like, so any word of a ticket could be one"
        yield _error(call.line, call.words, why, "add a pattern: in the ticket, matching `ORD-[0-9]{6}`")


def _is_pattern(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    # Schemas are validated by an engine without some of what Python has; there a broken pattern fits nothing.
    return is_valid({"anyOf": [{"pattern": f"^(?:{pattern})$"}, {}]}, "")


def _listed(names: Sequence[str] | Mapping[str, object]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _error(line: int, text: str, why: str, hint: str = "") -> CheckedProblem:
    return CheckedProblem("error", RunbookProblem(line, text[:300], why, hint))


def _warning(line: int, text: str, why: str, hint: str = "") -> CheckedProblem:
    return CheckedProblem("warning", RunbookProblem(line, text[:300], why, hint))
