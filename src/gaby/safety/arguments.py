"""What each argument of a tool is for. What a manifest does not say is read from the schema, in the careful way."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from gaby_connectors.sdk.manifest import GABY_ARGUMENTS, Lane, ToolManifest

Schema = Mapping[str, Any]


class Role(StrEnum):
    STEERING = "steering"
    """Chooses whom or what is touched."""
    DESTINATION = "destination"
    """Chooses where data goes."""
    CONTENT = "content"
    """Text that is stored or sent."""
    LOOKUP = "lookup"
    """Only finds something."""
    PLAIN = "plain"
    """A number, a date, a choice from a list: it cannot name anybody."""


_BOUNDED_FORMATS = frozenset({"date", "date-time", "time", "duration"})
_BOUNDED_TYPES = frozenset({"boolean", "number", "integer", "null"})
_ID_NAME = re.compile(r"(?:^|[_.-])(?:id|ids|key|uuid|ref|number|no)$|[a-z](?:Id|ID|Ids)$")
_PLACE_NAME = re.compile(
    r"(?:^|[_.-])(?:url|urls|uri|link|href|host|hostname|domain|endpoint|webhook|callback|server|"
    r"recipient|recipients|to|cc|bcc|email|emails|phone|channel|iban)$",
    re.IGNORECASE,
)
_PLACE_FORMATS = frozenset(
    {"uri", "uri-reference", "iri", "hostname", "idn-hostname", "ipv4", "ipv6", "email", "idn-email"}
)


def roles(manifest: ToolManifest, schema: Schema) -> dict[str, Role]:
    """The role of every argument that the tool takes, except those that Gaby fills."""
    return {name: _role(manifest, name, declared) for name, declared in _declared(schema) if name not in GABY_ARGUMENTS}


def _role(manifest: ToolManifest, name: str, declared: Schema) -> Role:
    said = {
        Role.DESTINATION: manifest.destinations,
        Role.LOOKUP: manifest.lookups,
        Role.STEERING: manifest.steering,
        Role.CONTENT: manifest.content,
        Role.PLAIN: manifest.plain,
    }
    for role, names in said.items():
        if name in names:
            return role
    if _is_place(name, declared):
        return Role.DESTINATION
    return Role.PLAIN if is_bounded(name, declared) else Role.STEERING


def lane(manifest: ToolManifest, of_arguments: Mapping[str, Role]) -> Lane:
    """What the manifest says, or a write if the schema shows a destination that the manifest is silent about."""
    return "write" if manifest.lane == "write" or Role.DESTINATION in of_arguments.values() else "read"


def is_bounded(name: str, declared: Schema) -> bool:
    """Whether no value of it can name anybody or anything."""
    if "enum" in declared or "const" in declared or declared.get("format") in _BOUNDED_FORMATS:
        return True
    if _ID_NAME.search(name):
        return False
    options = [_mapping(option) for key in ("anyOf", "oneOf") for option in _sequence(declared.get(key))]
    if options:
        return all(is_bounded(name, option) for option in options)
    if declared.get("type") == "array":
        return is_bounded(name, _mapping(declared.get("items")))
    kinds = declared.get("type")
    named = [kinds] if isinstance(kinds, str) else [str(kind) for kind in _sequence(kinds)]
    return bool(named) and _BOUNDED_TYPES.issuperset(named)


def looks_outward(schema: Schema) -> bool:
    """Whether a tool without a manifest takes something that looks like a place to send data to."""
    return any(_is_place(name, declared) for name, declared in _declared(schema))


def _is_place(name: str, declared: Schema) -> bool:
    items = _mapping(declared.get("items"))
    formats = {declared.get("format"), items.get("format")}
    return bool(_PLACE_NAME.search(name)) or not _PLACE_FORMATS.isdisjoint(formats)


@dataclass(frozen=True)
class Leaf:
    """One value inside the arguments."""

    argument: str
    value: str
    quantity: bool = False
    """A number that counts or measures, not one that names something."""


def leaves(argument: str, value: Any) -> Iterator[Leaf]:
    """Every text and number inside an argument, names of nested fields too. Nothing is told by null, true or false."""
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        yield Leaf(argument, value)
    elif isinstance(value, int | float):
        yield Leaf(argument, canonical_number(value), quantity=not _ID_NAME.search(argument.removesuffix("[]")))
    elif isinstance(value, Mapping):
        for name, inner in cast("Mapping[str, Any]", value).items():
            yield from leaves(f"{argument}.{name}", inner)
    else:
        for inner in cast("Sequence[Any]", value):
            yield from leaves(f"{argument}[]", inner)


def canonical_number(value: float) -> str:
    """`10.0` and `10` are one number."""
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(value)


def _declared(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """The arguments, each with its own schema; one that is written elsewhere in the file is looked up there."""
    shared = {f"#/$defs/{name}": declared for name, declared in _mapping(schema.get("$defs")).items()}
    for name, declared in _mapping(schema.get("properties")).items():
        place = str(_mapping(declared).get("$ref"))
        yield name, _mapping(shared.get(place, declared))


def _mapping(value: object) -> Schema:
    return cast("Schema", value) if isinstance(value, Mapping) else {}


def _sequence(value: object) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()
