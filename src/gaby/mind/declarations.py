"""What a connector declares of a tool beyond its arguments: whose its rows are, what kinds its values are of, and the
fields of its results. It comes from the manifest; nothing of it is guessed from names in a ticket."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from gaby.mind.arguments.slots import mapping, sequence
from gaby.mind.words import spelled
from gaby.safety.kinds import kind_of_argument, kind_of_field

_DEEPEST = 8
_MOST_FIELDS = 400
_IDS = frozenset({"id", "uuid", "guid"})

RowPath = tuple[str, ...]
"""The keys that lead to a row; lists add none."""


@dataclass(frozen=True)
class ToolDeclaration:
    owner: Mapping[str, str] = field(default_factory=dict[str, str])
    """Whose a row is: `{'orders[]': 'customer_email'}`."""
    owner_argument: str | None = None
    """Everything in the result belongs to whomever this argument names."""
    argument_kinds: Mapping[str, str] = field(default_factory=dict[str, str])
    result_kinds: Mapping[str, str] = field(default_factory=dict[str, str])
    content: Sequence[str] = ()
    """Arguments that take free text, such as a note."""
    output_schema: Mapping[str, Any] | None = None
    """None: it does not say what it returns."""

    @cached_property
    def owner_fields(self) -> dict[RowPath, RowPath]:
        """For each row the way to the field that names its owner."""
        return {row_path(row): tuple(name.split(".")) for row, name in self.owner.items()}

    @cached_property
    def kinds(self) -> dict[tuple[RowPath, str], str]:
        """For a row and a field what the field names."""
        by_field: dict[tuple[RowPath, str], str] = {}
        for path, kind in self.result_kinds.items():
            steps = row_path(path)
            if steps:
                by_field[steps[:-1], spelled(steps[-1])] = kind
        return by_field

    @cached_property
    def rows(self) -> dict[RowPath, frozenset[str]]:
        """The fields of every row that the output schema tells of, by names in one spelling."""
        fields: dict[RowPath, set[str]] = {}
        if self.output_schema is not None:
            for path, name in _fields(self.output_schema, self.output_schema, (), 0):
                if sum(map(len, fields.values())) >= _MOST_FIELDS:
                    break
                fields.setdefault(path, set()).add(name)
        return {path: frozenset(names) for path, names in fields.items()}

    def argument_kind(self, name: str) -> str | None:
        return self.argument_kinds.get(name) or kind_of_argument(name)

    def field_kind(self, path: RowPath, name: str) -> str | None:
        """As declared; else an `id` names what its row is called, `users[].id` a user."""
        if declared := self.kinds.get((path, name)):
            return declared
        return kind_of_field((*path, name)) if name in _IDS and path else None


def row_path(path: str) -> RowPath:
    return tuple(step for step in path.replace("[]", "").split(".") if step)


def _fields(
    schema: Mapping[str, Any], root: Mapping[str, Any], path: RowPath, depth: int
) -> Iterator[tuple[RowPath, str]]:
    if depth > _DEEPEST:
        return
    for shape in _shapes(schema, root, 0):
        if isinstance(shape.get("items"), Mapping):
            yield from _fields(mapping(shape["items"]), root, path, depth + 1)
        for name, inner in mapping(shape.get("properties")).items():
            below = mapping(inner)
            if not _is_row(below, root):
                yield path, spelled(name)
            yield from _fields(below, root, (*path, name), depth + 1)


def _is_row(schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    """An object, or a list of objects: it has fields and is none."""
    for shape in _shapes(schema, root, 0):
        inner = mapping(shape.get("items")) if "items" in shape else shape
        if any("properties" in each for each in _shapes(inner, root, 0)):
            return True
    return False


def _shapes(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Iterator[Mapping[str, Any]]:
    """Without references and alternatives."""
    if depth > _DEEPEST:
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for step in reference[2:].split("/"):
            target = cast("Mapping[str, Any]", target).get(step) if isinstance(target, Mapping) else None
        if isinstance(target, Mapping):
            yield from _shapes(cast("Mapping[str, Any]", target), root, depth + 1)
        return
    yield schema
    for name in ("anyOf", "oneOf", "allOf"):
        for each in sequence(schema.get(name)):
            yield from _shapes(mapping(each), root, depth + 1)
