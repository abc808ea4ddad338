"""The parameters of a tool as places to be filled: what each is called, what it takes, and whether it must be there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from gaby.mind.words import stem, stems, words

Schema = Mapping[str, Any]

_DEEPEST = 6
_GENERIC = stems(
    "id ids identifier number num no nr ref key code name names value text string the a an of to for by in on "
    "with and or is it this that which whose be list array object type unique optional required given used "
    "use"
)


@dataclass(frozen=True)
class ParameterSlot:
    path: tuple[str, ...]
    schema: Schema
    """One of the shapes it may have, without references."""
    required: bool
    description: str
    root: Schema

    @cached_property
    def name(self) -> str:
        return self.path[-1]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Stems of its name: `invoiceIds` is `invoic`, `id`."""
        return tuple(stem(word) for word in words(self.name))

    @cached_property
    def nouns(self) -> tuple[str, ...]:
        """What it is a value of: `invoic` for `invoice_id`; for a plain `id`, what its description speaks of first."""
        own = tuple(word for word in self.words if word not in _GENERIC)
        return own or tuple(word for word in self.described if word not in _GENERIC)[:2]

    @cached_property
    def described(self) -> tuple[str, ...]:
        return tuple(stem(word) for word in words(self.description[:400]))

    @cached_property
    def types(self) -> frozenset[str]:
        given = self.schema.get("type")
        if isinstance(given, str):
            return frozenset({given})
        if isinstance(given, Sequence):
            return frozenset(str(each) for each in cast("Sequence[object]", given))
        return frozenset({"object"}) if "properties" in self.schema else frozenset({"string"})

    @cached_property
    def is_number(self) -> bool:
        return not self.types.isdisjoint({"number", "integer"})

    @cached_property
    def format(self) -> str | None:
        given = self.schema.get("format")
        return given.lower() if isinstance(given, str) else None

    @cached_property
    def choices(self) -> list[Any]:
        if "const" in self.schema:
            return [self.schema["const"]]
        return list(sequence(self.schema.get("enum")))


def slots_of(schema: Schema, root: Schema, path: tuple[str, ...] = ()) -> Iterator[list[ParameterSlot]]:
    """For each parameter the shapes that it may have."""
    required = set(map(str, sequence(schema.get("required"))))
    for name, declared in mapping(schema.get("properties")).items():
        yield list(_shapes(declared, root, (*path, name), required=name in required))


def _shapes(declared: object, root: Schema, path: tuple[str, ...], *, required: bool) -> Iterator[ParameterSlot]:
    outer = mapping(declared)
    for option in _options(outer, root, 0):
        description = option.get("description") or outer.get("description") or option.get("title") or outer.get("title")
        yield ParameterSlot(
            path, option, required=required, description=description if isinstance(description, str) else "", root=root
        )


def _options(declared: Schema, root: Schema, depth: int) -> Iterator[Schema]:
    """A parameter that may be null or one of several shapes is looked at as each of them; null is not looked at."""
    if depth > _DEEPEST:
        return
    if isinstance(place := declared.get("$ref"), str):
        if target := _at(root, place):
            yield from _options({**target, **{k: v for k, v in declared.items() if k != "$ref"}}, root, depth + 1)
        return
    several = [*sequence(declared.get("anyOf")), *sequence(declared.get("oneOf")), *sequence(declared.get("allOf"))]
    if not several:
        if declared.get("type") != "null":
            yield declared
        return
    own = {key: value for key, value in declared.items() if key not in {"anyOf", "oneOf", "allOf", "default"}}
    for option in several:
        yield from _options({**own, **mapping(option)}, root, depth + 1)


def _at(root: Schema, place: str) -> Schema | None:
    """What a reference inside of the same document means. Others are not followed."""
    if not place.startswith("#/"):
        return None
    here: object = root
    for step in place[2:].split("/"):
        here = mapping(here).get(step.replace("~1", "/").replace("~0", "~"))
    return mapping(here) or None


def mapping(value: object) -> Schema:
    return cast("Schema", value) if isinstance(value, Mapping) else {}


def sequence(value: object) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()
