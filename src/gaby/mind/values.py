"""Arguments out of what is known: what a runbook says, the records that show the trouble, the requester's own records,
and, for calls that only read, what the ticket says.

A change never takes a value that only the ticket gives: whoever writes a ticket must not choose what is changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gaby.mind.arguments import fill
from gaby.mind.arguments.checking import fits
from gaby.mind.arguments.slots import Slot, slots_of
from gaby.mind.entities import Entity, extract
from gaby.mind.ownership import Ownership
from gaby.mind.records import Record, View, spelled
from gaby.mind.situations import Situation
from gaby.mind.tool_choice import ToolCard
from gaby.mind.words import stem, stems, words

_READ = 20_000
_MOST_CALLS = 5
_MAIL = stems("email mail e-mail address")
_DOMAIN = stems("domain")
_TICKETS = stems("ticket case issue request conversation")
_CONTENT = stems("reason text note comment message body description summary detail content subject title why")
_CONTENT_LONGEST = 900
_EMPTY: Mapping[str, str] = {}


@dataclass(frozen=True)
class Filling:
    """Calls that can be made, or what is missing for the first of them."""

    arguments: tuple[dict[str, Any], ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Values:
    situation: Situation
    view: View
    ownership: Ownership
    content: str = ""
    """For arguments that take words, such as a reason or a note."""
    _filled: dict[str, Any] = field(default_factory=dict[str, Any])

    def fill(
        self, tool: ToolCard, given: Mapping[str, str] = _EMPTY, first: Sequence[Record] = (), *, several: bool = False
    ) -> Filling:
        """`given`: what a runbook says of arguments. `first`: records from which values are taken before all others.
        Several calls are made when several records fit equally and several are wanted."""
        options: dict[str, list[Any]] = {}
        missing: list[str] = []
        for slots in slots_of(tool.schema, tool.schema):
            if not slots or not (slots[0].required or slots[0].name in given):
                continue
            found, sure = self._options(slots, tool, given.get(slots[0].name), first)
            if found and (sure or tool.lane == "read" or len(found) == 1):
                options[slots[0].name] = found
            elif slots[0].required:
                missing.append(slots[0].name)
        if missing:
            return Filling(missing=tuple(missing))
        return Filling(tuple(_combined(options, several=several)))

    def _options(
        self, slots: Sequence[Slot], tool: ToolCard, said: str | None, first: Sequence[Record]
    ) -> tuple[list[Any], bool]:
        """Values that fit, and whether all of them are meant, or only one that nobody can tell from the others."""
        for slot in slots:
            for source, sure in self._sources(slot, tool, said, first):
                if found := [value for value in _once(source) if fits(slot, value)]:
                    return found, sure
        return [], False

    def _sources(
        self, slot: Slot, tool: ToolCard, said: str | None, first: Sequence[Record]
    ) -> Iterator[tuple[list[Any], bool]]:
        """The surest first."""
        if said is not None:
            yield list(self._said(slot, said, first)), True
        if tool.lane == "write" and not _CONTENT.isdisjoint(slot.words):
            yield [self.content[:_CONTENT_LONGEST]] if self.content else [], True
        if not _TICKETS.isdisjoint(slot.nouns) and self.situation.ticket_id:
            yield [self.situation.ticket_id], True
        yield _of_records(slot, first), True
        for whose in ("own", "account"):
            yield _of_records(slot, [each for each in self.view.records if self.ownership.whose(each) == whose]), False
        yield list(self._of_requester(slot)), True
        if tool.lane == "read":
            open_ones = [each for each in self.view.records if self.ownership.whose(each) == "anyone"]
            yield _of_records(slot, open_ones), False
            yield self._of_ticket(slot, tool), False

    def _said(self, slot: Slot, said: str, first: Sequence[Record]) -> Iterator[Any]:
        requester = self.situation.requester or ""
        if said.startswith("@"):
            meant = {
                "@requester": requester,
                "@domain": requester.rpartition("@")[2],
                "@ticket": self.situation.ticket_id or "",
            }
            if value := meant.get(said):
                yield value
            return
        for record in first:
            if spelled(said) in record.fields:
                yield record.get(spelled(said))
        yield from _typed(slot, said)

    def _of_requester(self, slot: Slot) -> Iterator[str]:
        """Only what is looked for by an address gets the requester's."""
        address = self.situation.requester
        if not address:
            return
        terms = {*slot.words, *slot.described}
        if slot.format in {"email", "idn-email"} or not _MAIL.isdisjoint(terms):
            yield address
        elif not _DOMAIN.isdisjoint(terms):
            yield address.rpartition("@")[2]

    def _of_ticket(self, slot: Slot, tool: ToolCard) -> list[Any]:
        if tool.name not in self._filled:
            self._filled[tool.name] = fill(tool.schema, self._entities, self._text).arguments
        value = self._filled[tool.name].get(slot.name)
        return [] if value is None else [value]

    @cached_property
    def _text(self) -> str:
        return self.situation.ticket[:_READ]

    @cached_property
    def _entities(self) -> list[Entity]:
        return extract(self._text)


def takes_an_address(tool: ToolCard) -> bool:
    """Whether the one thing that a tool needs can be an address, by its format, its name or its description."""
    needed = [slots for slots in slots_of(tool.schema, tool.schema) if slots and slots[0].required]
    if len(needed) != 1:
        return False
    return any(
        slot.format in {"email", "idn-email"} or not _MAIL.isdisjoint({*slot.words, *slot.described} - {"address"})
        for slot in needed[0]
        if "string" in slot.types
    )


def _of_records(slot: Slot, records: Sequence[Record]) -> list[Any]:
    """By the same name; or the id of a record that is called like what is wanted: `user_id` is the `id` in `users`."""
    name = spelled(slot.name)
    nouns = set(slot.nouns)
    same = [record.get(name) for record in records if record.get(name) is not None and name != "id"]
    last = spelled(slot.name).rpartition("_")[2]
    called = [
        record.get(last)
        for record in records
        if record.path and record.get(last) is not None and nouns & {stem(word) for word in words(record.path[-1])}
    ]
    return called + same


def _typed(slot: Slot, said: str) -> Iterator[Any]:
    if "boolean" in slot.types and said.lower() in {"true", "false", "yes", "no"}:
        yield said.lower() in {"true", "yes"}
    if slot.is_number:
        try:
            yield int(said)
        except ValueError:
            return
    yield said


def _combined(options: Mapping[str, list[Any]], *, several: bool) -> Iterator[dict[str, Any]]:
    """One call, or one for each value of the one argument that has several."""
    many = next((name for name, values in options.items() if len(values) > 1), None) if several else None
    base = {name: values[0] for name, values in options.items()}
    if many is None:
        yield base
        return
    for value in options[many][:_MOST_CALLS]:
        yield {**base, many: value}


def _once(values: Sequence[Any]) -> list[Any]:
    return list({repr(value): value for value in values}.values())
