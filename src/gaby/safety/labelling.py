"""Labels for the values in a tool's result: what its connector vouches for, and what belongs to the requester."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from gaby.safety.arguments import Leaf, leaves
from gaby.safety.provenance import Label, Ledger, Origin
from gaby_connectors.sdk.manifest import ResultLabel, ToolManifest

Path = tuple[str, ...]
_DEEPEST = 40
_MOST_VALUES = 50_000


@dataclass(frozen=True)
class ResultContext:
    """What one needs to know about a call in order to label what it returned."""

    connector: str
    source: str
    manifest: ToolManifest
    principals: frozenset[str]
    """Everything that identifies the verified requester; empty when an operator asks for themselves."""
    chosen_outside: bool
    """Whether content from outside chose what was looked up. Then nothing that was found is vouched for."""


def learn_result(ledger: Ledger, result: Any, context: ResultContext) -> None:
    """Enter the trusted values of a structured result into the ledger. The rest stays EXTERNAL by not being entered."""
    rules = _Rules(context.manifest)
    start: Label | None = None if context.chosen_outside else Label.SYSTEM
    for count, (path, leaf, label) in enumerate(_walk(result, (), rules, context, start)):
        if count >= _MOST_VALUES:
            return
        if label is Label.SYSTEM:
            ledger.learn(leaf.value, Origin(label, context.source, context.connector, rules.kind(path)))
        else:
            ledger.learn(leaf.value, Origin(label, context.source))


class _Rules:
    def __init__(self, manifest: ToolManifest) -> None:
        self._vouched = [_steps(path) for path, label in manifest.results.items() if label is ResultLabel.SYSTEM]
        self._created = [_steps(path) for path, label in manifest.results.items() if label is ResultLabel.CREATED]
        self._external = [_steps(path) for path, label in manifest.results.items() if label is ResultLabel.EXTERNAL]
        self._kinds = [(_steps(path), kind) for path, kind in manifest.result_kinds.items()]
        self._owners = [(_steps(path), owner) for path, owner in manifest.owner.items()]

    def vouches(self, path: Sequence[str]) -> bool:
        """A rule that says external beats one that says system, as with scopes."""
        return _covers(self._vouched, path) and not _covers(self._external, path)

    def created(self, path: Sequence[str]) -> bool:
        return _covers(self._created, path)

    def kind(self, path: Sequence[str]) -> str | None:
        return next((kind for rule, kind in self._kinds if _matches(rule, path)), None)

    def owner_field(self, path: Sequence[str]) -> str | None:
        return next((owner for rule, owner in self._owners if _matches(rule, path)), None)


def _walk(
    value: Any, path: Path, rules: _Rules, context: ResultContext, label: Label | None
) -> Iterator[tuple[Path, Leaf, Label]]:
    """`label` is what a vouched-for value gets here; a row with an owner changes it for everything below."""
    if len(path) > _DEEPEST:
        return
    if isinstance(value, Mapping):
        row = cast("Mapping[str, Any]", value)
        owner = rules.owner_field(path)
        below = label if owner is None else _of_owner(row.get(owner), context, label)
        for name, inner in row.items():
            yield from _walk(inner, (*path, name), rules, context, below)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _walk(inner, (*path, "[]"), rules, context, label)
    elif rules.created(path):
        for leaf in leaves("", value):
            yield path, leaf, Label.OPERATOR
    elif label is not None and rules.vouches(path):
        for leaf in leaves("", value):
            yield path, leaf, label


def _of_owner(owner: Any, context: ResultContext, label: Label | None) -> Label | None:
    """The requester's own row is theirs, however it was found. Somebody else's is no authority for them."""
    if not context.principals:
        return label
    return Label.PRINCIPAL if isinstance(owner, str) and owner.strip().casefold() in context.principals else None


def _steps(path: str) -> tuple[str, ...]:
    return tuple(path.replace("[]", ".[]").strip(".").split("."))


def _matches(rule: Sequence[str], path: Sequence[str]) -> bool:
    return len(rule) == len(path) and all(step in ("*", at) for step, at in zip(rule, path, strict=True))


def _covers(rules: Sequence[Sequence[str]], path: Sequence[str]) -> bool:
    return any(_matches(rule, path) for rule in rules)
