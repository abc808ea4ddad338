"""Whose a record is, by what its connector declares: the requester's own, somebody else's, or nobody's in particular.

A row with a declared owner belongs to whomever that field names. A result with an `owner_argument` belongs to whomever
the argument names: the requester, if its value is the requester's address or stands in a row that is the requester's.
A record of which nothing is declared is shared, and one of a tool that is not connected any more is nobody's to use.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, cast

from gaby.mind.declarations import RowPath, ToolDeclaration
from gaby.mind.records import Record, RecordView
from gaby.mind.situations import PastCall
from gaby.mind.tool_choice import ToolCard
from gaby.mind.tool_names import connector_of
from gaby.safety.addresses import canonical_identity

Whose = Literal["own", "shared", "other"]

_NOTHING = ToolDeclaration()


class Ownership:
    def __init__(self, view: RecordView, requester: str | None, cards: Sequence[ToolCard]) -> None:
        self._view = view
        self._address = canonical_identity(requester) if requester else ""
        self._declared = {card.name: card.declares for card in cards}
        self._own_values: set[tuple[str, str, str]] = set()
        """Connector, kind and value of what stands in the requester's rows."""
        self._known: dict[int, Whose] = {}
        for record in view.records:
            self._known[id(record)] = whose = self._find(record)
            if whose == "own":
                self._learn(record)

    def whose(self, record: Record) -> Whose:
        return self._known.get(id(record)) or self._find(record)

    def readable(self, records: Sequence[Record]) -> list[Record]:
        """Those that are not somebody else's."""
        return [record for record in records if self.whose(record) != "other"]

    @cached_property
    def is_known(self) -> bool:
        """A tool that was asked for the requester's address gave a row of which the requester is the declared owner.
        Rows that were found in another way prove nothing: anybody can write a ticket, with any address."""
        return any(
            self._address in _identities(record.call) and self._names_requester(record) for record in self._view.records
        )

    @cached_property
    def was_looked_up(self) -> bool:
        """A tool whose rows have owners was asked for the requester's address, and answered."""
        return bool(self._address) and any(
            self._declared.get(call.tool, _NOTHING).owner and self._address in _identities(call)
            for call in self._view.calls
        )

    @property
    def is_stranger(self) -> bool:
        return self.was_looked_up and not self.is_known

    def _find(self, record: Record) -> Whose:
        declared = self._declared.get(record.call.tool)
        if declared is None:
            # Of a tool that is gone nobody can say whose its rows are.
            return "other"
        owner = _owner_of(record, declared.owner_fields)
        if owner is not None:
            return "own" if self._address and canonical_identity(owner) == self._address else "other"
        if declared.owner_argument is not None:
            return "own" if self._is_own(record.call, declared) else "other"
        return "shared"

    def _is_own(self, call: PastCall, declared: ToolDeclaration) -> bool:
        name = declared.owner_argument or ""
        value = call.arguments.get(name)
        if not isinstance(value, str | int) or not self._address:
            return False
        if canonical_identity(str(value)) == self._address:
            return True
        connector, kind = connector_of(call.tool), declared.argument_kind(name) or name
        return (connector, kind, str(value)) in self._own_values

    def _learn(self, record: Record) -> None:
        declared = self._declared.get(record.call.tool, _NOTHING)
        connector = connector_of(record.call.tool)
        for name, value in record.fields.items():
            if isinstance(value, str | int) and value != "":
                kinds = {declared.argument_kind(name), declared.field_kind(record.path, name), name}
                self._own_values |= {(connector, kind, str(value)) for kind in kinds if kind}

    def _names_requester(self, record: Record) -> bool:
        owner = _owner_of(record, self._declared.get(record.call.tool, _NOTHING).owner_fields)
        return owner is not None and bool(self._address) and canonical_identity(owner) == self._address


def _owner_of(record: Record, owner_fields: Mapping[RowPath, RowPath]) -> str | None:
    """Of the row itself, or of the row that it stands in. Empty when the field is there and names nobody."""
    for path, row in record.rows:
        if (steps := owner_fields.get(path)) is not None:
            value: Any = row
            for step in steps:
                value = cast("Mapping[str, Any]", value).get(step) if isinstance(value, Mapping) else None
            return value if isinstance(value, str) else ""
    return None


def _identities(call: PastCall) -> set[str]:
    return {canonical_identity(value) for value in call.arguments.values() if isinstance(value, str)}
