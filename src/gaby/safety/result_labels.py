"""Labels for the values in a tool's result: what its connector vouches for, whose it is, and who may be told."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, cast

from gaby.safety.addresses import canonical_identity
from gaby.safety.arguments import ArgumentLeaf, leaves
from gaby.safety.kinds import kind_of_field
from gaby.safety.provenance import Label, Origin, ProvenanceLedger
from gaby.safety.readers import Reader, Readers
from gaby.safety.redaction.fields import FieldHints
from gaby_connectors.sdk.manifest import Audience, ResultLabel, ToolManifest

Path = tuple[str, ...]
_DEEPEST = 40
_FIELD_NAME = re.compile(r"[A-Za-z_]+[0-9]?")
_MOST_VALUES = 50_000


@dataclass(frozen=True)
class ResultContext:
    """What one needs to know about a call in order to label what it returned."""

    connector: str
    source: str
    manifest: ToolManifest
    principals: frozenset[str] | None
    """Canonical addresses of the verified requester, none if nobody was verified; None: an operator acts."""
    chosen_outside: bool
    """Whether content from outside chose what was looked up. Then nothing that was found is vouched for."""
    owned: bool = False
    """The argument that names the owner of the whole result names the requester."""


class _InheritedLabels(NamedTuple):
    """What a value inside a result has from the rows that it stands in."""

    label: Label | None
    """What a vouched-for value gets here."""
    owners: frozenset[str] | None
    """Whose the row is; None outside of any owned row."""


class LabelledValue(NamedTuple):
    path: Path
    leaf: ArgumentLeaf
    label: Label | None
    readers: Readers


def learn_result(ledger: ProvenanceLedger, result: Any, context: ResultContext, *, vouches: bool = True) -> None:
    """Enter a structured result into the ledger: trusted values, and who may be told of each. The rest is EXTERNAL.

    Without `vouches` nothing becomes trusted, such as in what a rehearsal says would exist.
    """
    rules = _LabelRules(context.manifest)
    for count, value in enumerate(_traverse(result, (), rules, context, _at_the_top(context))):
        if count >= _MOST_VALUES:
            # What was not looked at is nobody's but the staff's.
            ledger.reading.read(context.source, [Readers()])
            return
        ledger.reading.read_value(context.source, value.leaf.value, value.readers)
        if vouches and value.label is not None:
            kind = rules.kind(value.path)
            ledger.learn(value.leaf.value, Origin(value.label, context.source, context.connector, kind))


def readers_of_text(context: ResultContext) -> Readers:
    """Of a result without a structure, and of everything that no rule speaks of."""
    owners = context.principals if context.owned and context.principals else frozenset[str]()
    return Readers(Audience.STAFF if context.owned else context.manifest.audience, owners)


_NOTHING = object()


def readable_part(result: Any, context: ResultContext, reader: Reader) -> Any:
    """The result without what this reader may not be told; None if nothing is left of it."""
    if isinstance(result, Mapping | list):
        part = _readable(cast("Any", result), (), _LabelRules(context.manifest), context, _at_the_top(context), reader)
        return None if part is _NOTHING else part
    return result if readers_of_text(context).allow(reader) else None


def _readable(
    value: Any, path: Path, rules: "_LabelRules", context: ResultContext, at: "_InheritedLabels", reader: Reader
) -> Any:
    if len(path) > _DEEPEST:
        return _NOTHING
    if isinstance(value, Mapping):
        row = cast("Mapping[str, Any]", value)
        owner = rules.owner_field(path)
        below = at if owner is None else _of_owner(_field(row, owner), context, at)
        parts = {name: _readable(inner, (*path, name), rules, context, below, reader) for name, inner in row.items()}
        kept = {name: part for name, part in parts.items() if part is not _NOTHING}
        return kept if kept or (not row and rules.tells_nothing(path, at.owners, reader)) else _NOTHING
    if isinstance(value, list):
        items = cast("list[Any]", value)
        readable = [_readable(inner, (*path, "[]"), rules, context, at, reader) for inner in items]
        left = [part for part in readable if part is not _NOTHING]
        return left if left or (not items and rules.tells_nothing(path, at.owners, reader)) else _NOTHING
    return value if rules.readers(path, at.owners).allow(reader) else _NOTHING


def values_to_redact(result: Any, manifest: ToolManifest) -> list[str]:
    """What stands where the manifest says that it is personal, also below such a place."""
    places = FieldHints(dict.fromkeys(manifest.redact, "personal"))
    return [leaf.value for leaf in _personal(result, (), places, personal=False)] if places else []


def _personal(value: Any, path: Path, places: FieldHints, *, personal: bool) -> Iterator[ArgumentLeaf]:
    if len(path) > _DEEPEST:
        return
    personal = personal or places.kind_at(path) is not None
    if isinstance(value, Mapping):
        for name, inner in cast("Mapping[str, Any]", value).items():
            yield from _personal(inner, (*path, name), places, personal=personal)
    elif isinstance(value, list):
        for place, inner in enumerate(cast("list[Any]", value)):
            yield from _personal(inner, (*path, str(place)), places, personal=personal)
    elif personal:
        yield from (leaf for leaf in leaves("", value) if not leaf.literal)


def _at_the_top(context: ResultContext) -> _InheritedLabels:
    if context.owned and context.principals:
        return _InheritedLabels(Label.PRINCIPAL, context.principals)
    return _InheritedLabels(None if context.chosen_outside else Label.SYSTEM, None)


class _LabelRules:
    def __init__(self, manifest: ToolManifest) -> None:
        self._vouched = [_steps(path) for path, label in manifest.results.items() if label is ResultLabel.SYSTEM]
        self._created = [_steps(path) for path, label in manifest.results.items() if label is ResultLabel.CREATED]
        self._external = [_steps(path) for path, label in manifest.results.items() if label is ResultLabel.EXTERNAL]
        self._kinds = [(_steps(path), kind) for path, kind in manifest.result_kinds.items()]
        self._owners = [(_steps(path), owner) for path, owner in manifest.owner.items()]
        self._readers = sorted(
            ((_steps(path), audience) for path, audience in manifest.readers.items()), key=lambda rule: -len(rule[0])
        )
        self._declared = [
            _steps(path) for path in (*manifest.results, *manifest.owner, *manifest.readers, *manifest.result_kinds)
        ]
        self.audience = manifest.audience
        # The rows of a list have the same fields, so one path is asked for again and again.
        self.vouches = cache(self._vouches)
        self.created = cache(self._is_created)
        self.kind = cache(self._kind)
        self.owner_field = cache(self._owner_field)
        self.is_declared = cache(self._is_declared)
        self._said = cache(self._audience_at)

    def _vouches(self, path: Path) -> bool:
        """A rule that says external beats one that says system, as with scopes."""
        return _covers(self._vouched, path) and not _covers(self._external, path)

    def _is_created(self, path: Path) -> bool:
        return _covers(self._created, path)

    def _kind(self, path: Path) -> str | None:
        declared = next((kind for rule, kind in self._kinds if _matches(rule, path)), None)
        return declared or kind_of_field(path)

    def _owner_field(self, path: Path) -> str | None:
        return next((owner for rule, owner in self._owners if _matches(rule, path)), None)

    def _is_declared(self, path: Path) -> bool:
        """Whether the manifest names this field, so that its name is no value."""
        if not path:
            return True
        return any(
            len(rule) >= len(path) and rule[len(path) - 1] != "*" and _matches(rule[: len(path)], path)
            for rule in self._declared
        )

    def tells_nothing(self, path: Path, owners: frozenset[str] | None, reader: Reader) -> bool:
        """Of something empty: its name may be all that there is to tell."""
        return self.is_declared(path) or self.readers(path, owners).allow(reader)

    def readers(self, path: Path, owners: frozenset[str] | None) -> Readers:
        """The longest rule that leads to the value. A row with an owner is for its owner unless a rule says more."""
        unsaid = self.audience if owners is None else Audience.STAFF
        return Readers(self._said(path) or unsaid, owners or frozenset())

    def _audience_at(self, path: Path) -> Audience | None:
        return next((audience for rule, audience in self._readers if _matches(rule, path[: len(rule)])), None)


def _traverse(
    value: Any, path: Path, rules: _LabelRules, context: ResultContext, at: _InheritedLabels
) -> Iterator[LabelledValue]:
    """A row with an owner changes label and owners of everything below it."""
    if len(path) > _DEEPEST:
        yield LabelledValue(path, ArgumentLeaf("", ""), None, Readers())
    elif isinstance(value, Mapping | list):
        held = cast("Mapping[str, Any] | list[Any]", value)
        if not held and not rules.is_declared(path):
            yield LabelledValue(path, ArgumentLeaf("", ""), None, rules.readers(path, at.owners))
        yield from _traverse_children(held, path, rules, context, at)
    else:
        label = Label.CREATED if rules.created(path) else at.label if rules.vouches(path) else None
        readers = rules.readers(path, at.owners)
        for leaf in leaves("", value):
            yield LabelledValue(path, leaf, None if leaf.literal else label, readers)


def _traverse_children(
    held: Mapping[str, Any] | list[Any], path: Path, rules: _LabelRules, context: ResultContext, at: _InheritedLabels
) -> Iterator[LabelledValue]:
    if isinstance(held, list):
        for inner in held:
            yield from _traverse(inner, (*path, "[]"), rules, context, at)
        return
    owner = rules.owner_field(path)
    below = at if owner is None else _of_owner(_field(held, owner), context, at)
    for name, inner in held.items():
        place = (*path, name)
        if not _FIELD_NAME.fullmatch(name) and not rules.is_declared(place):
            # An id or an address as a key is a value like any other, and nobody vouches for it.
            yield LabelledValue(place, ArgumentLeaf("", name), None, rules.readers(place, below.owners))
        yield from _traverse(inner, place, rules, context, below)


def _of_owner(owner: Any, context: ResultContext, at: _InheritedLabels) -> _InheritedLabels:
    """The requester's own row is theirs, however it was found. Somebody else's is no authority for them."""
    name = canonical_identity(owner) if isinstance(owner, str) else ""
    owners = frozenset({name}) if name else frozenset[str]()
    if context.principals is None:
        return _InheritedLabels(at.label, owners)
    return _InheritedLabels(Label.PRINCIPAL if name in context.principals else None, owners)


def _field(row: Mapping[str, Any], owner: str) -> Any:
    """`email`, or `customer.email` inside of the row."""
    value: Any = row.get(owner)
    if value is None:
        value = row
        for step in owner.split("."):
            value = cast("Mapping[str, Any]", value).get(step) if isinstance(value, Mapping) else None
    return value


def _steps(path: str) -> tuple[str, ...]:
    return tuple(path.replace("[]", ".[]").strip(".").split("."))


def _matches(rule: Sequence[str], path: Sequence[str]) -> bool:
    return len(rule) == len(path) and all(step in ("*", at) for step, at in zip(rule, path, strict=True))


def _covers(rules: Sequence[Sequence[str]], path: Sequence[str]) -> bool:
    return any(_matches(rule, path) for rule in rules)
