"""Arguments out of what is known, without guessing: what the runbook says, the records that it is about, what earlier
steps gave under the same name or of the same declared kind, and the requester's address.

A value of the ticket's text is taken only where the runbook says so, and only if exactly one fits.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gaby.mind.arguments.slots import ParameterSlot, slots_of
from gaby.mind.arguments.validation import fits, is_valid
from gaby.mind.ownership import Ownership
from gaby.mind.records import Record, RecordView, called, nearest
from gaby.mind.runbooks.model import (
    ArgumentSource,
    ConstantValue,
    RequesterAddress,
    ResultField,
    TicketIdValue,
    TicketValue,
)
from gaby.mind.situations import Situation
from gaby.mind.tool_choice import ToolCard
from gaby.mind.tool_names import connector_of, short_name
from gaby.mind.words import spelled

_READ = 20_000
_MOST_CALLS = 8
_MOST_TOKENS = 3000
_CONTENT_LONGEST = 900
ADDRESS_NAMES = frozenset({"email", "email_address", "requester_email"})
ADDRESS_FORMATS = frozenset({"email", "idn-email"})
_TOKEN = re.compile(r"[^\s,;()\[\]<>\"“”]{1,100}")
LIMITING = ("pattern", "format", "enum", "const")
_NOTHING_SAID: Mapping[str, ArgumentSource] = {}


@dataclass(frozen=True)
class MissingValue:
    argument: str
    why: str
    ask: str = ""
    """What the requester is asked for. Empty: it is not theirs to tell."""


@dataclass(frozen=True)
class ArgumentResolution:
    """Calls that can be made, or what is missing for the first of them."""

    arguments: tuple[dict[str, Any], ...] = ()
    missing: tuple[MissingValue, ...] = ()


@dataclass(frozen=True)
class ArgumentResolver:
    situation: Situation
    view: RecordView
    ownership: Ownership
    content: str = ""
    """For arguments that take words, such as a reason or a note."""
    tools: frozenset[str] = frozenset()
    """Short names of those whose answers count. Empty: all."""

    def fill(
        self,
        tool: ToolCard,
        given: Mapping[str, ArgumentSource] = _NOTHING_SAID,
        first: Sequence[Record] = (),
    ) -> ArgumentResolution:
        """`given`: what a runbook says of arguments. `first`: the records that the call is about; one call for each
        value that they have."""
        options: dict[str, list[Any]] = {}
        missing: list[MissingValue] = []
        for slots in slots_of(tool.schema, tool.schema):
            if not slots or not (slots[0].required or slots[0].name in given):
                continue
            name = slots[0].name
            values, why = self._options(slots, tool, given.get(name), first)
            if values:
                options[name] = values
            elif slots[0].required or name in given:
                missing.append(why)
        if missing:
            return ArgumentResolution(missing=tuple(missing))
        return ArgumentResolution(tuple(_combined(options)))

    def _options(
        self, slots: Sequence[ParameterSlot], tool: ToolCard, said: ArgumentSource | None, first: Sequence[Record]
    ) -> tuple[list[Any], MissingValue]:
        why = MissingValue(slots[0].name, f"nothing that was seen is called `{slots[0].name}`")
        for slot in slots:
            values, reason = self._said(slot, said, first) if said is not None else self._unsaid(slot, tool, first)
            if usable := [value for value in _once(values) if fits(slot, value)]:
                return usable, why
            why = reason or why
        return [], why

    def _said(
        self, slot: ParameterSlot, said: ArgumentSource, first: Sequence[Record]
    ) -> tuple[list[Any], MissingValue | None]:
        requester = self.situation.requester or ""
        match said:
            case ConstantValue(text=text):
                return list(typed_values(slot, text)), MissingValue(slot.name, f"`{text}` does not fit its schema")
            case RequesterAddress(only_domain=only_domain):
                value = requester.rpartition("@")[2] if only_domain else requester
                return [value] if value else [], MissingValue(slot.name, "nobody knows the requester's address")
            case TicketIdValue():
                number = self.situation.ticket_id
                return [number] if number else [], MissingValue(slot.name, "the ticket has no id of its own")
            case ResultField():
                return self._of_field(slot, said, first)
            case TicketValue():
                return self._of_ticket(slot, said)

    def _unsaid(
        self, slot: ParameterSlot, tool: ToolCard, first: Sequence[Record]
    ) -> tuple[list[Any], MissingValue | None]:
        if tool.access == "write" and slot.name in tool.declares.content:
            return [self.content[:_CONTENT_LONGEST]] if self.content else [], None
        for near in nearest(first, self.view):
            if values := self._matching(slot, tool, near):
                return values, None
        for whose in ("own", "shared"):
            records = [each for each in self._records() if self.ownership.whose(each) == whose]
            values = [value for value in _once(self._matching(slot, tool, records)) if fits(slot, value)]
            if len(values) == 1:
                return values, None
            if values:
                why = f"several values are called `{slot.name}`, and the runbook does not say which one is meant"
                return [], MissingValue(slot.name, why)
        is_address = slot.format in ADDRESS_FORMATS or spelled(slot.name) in ADDRESS_NAMES
        if tool.access == "read" and is_address and self.situation.requester:
            return [self.situation.requester], None
        return [], None

    def _records(self) -> list[Record]:
        return [each for each in self.view.records if not self.tools or short_name(each.call.tool) in self.tools]

    def _matching(self, slot: ParameterSlot, tool: ToolCard, records: Sequence[Record]) -> list[Any]:
        """By the same name, or of the same kind; ids of one connector mean nothing to another."""
        name, kind = spelled(slot.name), tool.declares.argument_kind(slot.name)
        connector = connector_of(tool.name)
        declared = {card.name: card.declares for card in self.situation.tools}
        values: list[Any] = []
        for record in records:
            if connector_of(record.call.tool) != connector:
                continue
            declares = declared.get(record.call.tool)
            for field, value in record.fields.items():
                same_kind = (
                    declares is not None and kind is not None and declares.field_kind(record.path, field) == kind
                )
                if value not in (None, "") and ((field == name and name != "id") or same_kind):
                    values.append(value)
        return values

    def _of_field(
        self, slot: ParameterSlot, said: ResultField, first: Sequence[Record]
    ) -> tuple[list[Any], MissingValue | None]:
        ref = said.ref
        near = nearest(first, self.view)
        for records in (*near, self.ownership.readable(self._records())):
            having = [record for record in records if record.get(ref.name) not in (None, "")]
            if ref.tools:
                having = [each for each in having if {short_name(each.call.tool), each.call.tool} & ref.tools]
            best = max((called(record.place, ref.nouns) for record in having), default=0)
            if ref.nouns and not best and not ref.tools:
                having = []
            values = _once([record.get(ref.name) for record in having if called(record.place, ref.nouns) == best])
            if len(values) == 1 or (values and records in near):
                return values, None
            if values:
                return [], MissingValue(slot.name, f"`{ref.name}` has several values, and only one can be meant")
        return [], MissingValue(slot.name, f"no answer has `{ref.name}` of what the runbook names")

    def _of_ticket(self, slot: ParameterSlot, said: TicketValue) -> tuple[list[Any], MissingValue | None]:
        """Every word of the ticket that fits the runbook's pattern and the schema; only if it is a single one."""
        ask = f"the {said.name.removeprefix('the ')}"
        if not said.pattern and not any(key in slot.schema for key in LIMITING):
            why = "neither the runbook nor the schema says what it looks like, so any word of the ticket could be it"
            return [], MissingValue(slot.name, why, ask)
        values: list[Any] = []
        for token in list(_TOKEN.finditer(self.situation.ticket[:_READ]))[:_MOST_TOKENS]:
            for text in {token[0], token[0].strip(".:!?#'`*")}:
                if not said.pattern or is_valid({"type": "string", "pattern": f"^(?:{said.pattern})$"}, text):
                    values += [value for value in typed_values(slot, text) if fits(slot, value)]
        distinct = _once(values)
        if len(distinct) == 1:
            return distinct, None
        why = f"the ticket names {len(distinct)} values that fit" if distinct else "the ticket names none that fits"
        return [], MissingValue(slot.name, why, ask)


def takes_an_address(tool: ToolCard) -> str:
    """The one argument that a tool needs, if it can be an address: by its format, its name or its description."""
    needed = [slots for slots in slots_of(tool.schema, tool.schema) if slots and slots[0].required]
    if len(needed) != 1:
        return ""
    for slot in needed[0]:
        slot_words = {*slot.words, *slot.described}
        if "string" in slot.types and (slot.format in ADDRESS_FORMATS or not slot_words.isdisjoint(_MAIL)):
            return slot.name
    return ""


_MAIL = frozenset({"email", "mail", "e-mail"})


def typed_values(slot: ParameterSlot, said: str) -> Iterator[Any]:
    if "boolean" in slot.types and said.lower() in {"true", "false", "yes", "no"}:
        yield said.lower() in {"true", "yes"}
    elif slot.is_number:
        try:
            yield int(said) if "integer" in slot.types or said.lstrip("-").isdigit() else float(said)
        except ValueError:
            return
    else:
        yield said


def _combined(options: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """One call, or one for each value of the one argument that has several."""
    many = next((name for name, values in options.items() if len(values) > 1), None)
    base = {name: values[0] for name, values in options.items()}
    if many is None:
        yield base
        return
    for value in options[many][:_MOST_CALLS]:
        yield {**base, many: value}


def _once(values: Sequence[Any]) -> list[Any]:
    return list({repr(value): value for value in values}.values())
