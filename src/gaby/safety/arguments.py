"""What each argument of a tool is for. What a manifest does not say is read from the schema, in the careful way."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from gaby.safety.schemas import NO_SCHEMA, Schema, as_schema, options_of, properties_of, resolved, schemas_below
from gaby_connectors.sdk.manifest import GABY_ARGUMENTS, Access, ToolManifest


class ArgumentRole(StrEnum):
    STEERING = "steering"
    """Chooses whom or what is touched, or how."""
    DESTINATION = "destination"
    """Chooses where data goes."""
    CONTENT = "content"
    """Text that is stored or sent."""
    LOOKUP = "lookup"
    """Only finds something."""
    PLAIN = "plain"
    """Harmless whatever it holds, as the manifest declares or, for a read, as its type shows."""


_BOUNDED_FORMATS = frozenset({"date", "date-time", "time", "duration"})
_BOUNDED_TYPES = frozenset({"boolean", "number", "integer", "null"})
_ID_NAME = re.compile(r"(?:^|[_.-])(?:id|ids|key|uuid|ref|number|no)$|[a-z](?:Id|ID|Ids)$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PLACE_NAME = re.compile(
    r"(?:^|[_.-])(?:url|urls|uri|uris|link|links|href|host|hosts|hostname|domain|endpoint|webhook|"
    r"callback|server|proxy|redirect|site|target|targets|destination|destinations|dest|sink|address|addresses|addr|"
    r"recipient|recipients|to|cc|bcc|forward|notify|email|emails|mailbox|phone|sms|fax|channel|channels|iban)$",
    re.IGNORECASE,
)
_PLACE_FORMATS = frozenset(
    {"uri", "uri-reference", "iri", "iri-reference", "hostname", "idn-hostname", "ipv4", "ipv6", "email", "idn-email"}
)


def roles(manifest: ToolManifest, schema: Schema) -> dict[str, ArgumentRole]:
    """The role of every argument that the tool takes, except those that Gaby fills."""
    return {
        name: _role(manifest, name, declared, schema)
        for name, declared in properties_of(schema, schema).items()
        if name not in GABY_ARGUMENTS
    }


def _role(manifest: ToolManifest, name: str, declared: Schema, root: Schema) -> ArgumentRole:
    said = {
        ArgumentRole.DESTINATION: manifest.destinations,
        ArgumentRole.LOOKUP: manifest.lookups,
        ArgumentRole.STEERING: manifest.steering,
        ArgumentRole.CONTENT: manifest.content,
        ArgumentRole.PLAIN: manifest.plain,
    }
    for role, names in said.items():
        if name in names:
            # A text without bounds can carry anything, however harmless it is as a choice.
            is_text = role is ArgumentRole.PLAIN and not is_bounded(name, declared, root)
            return ArgumentRole.CONTENT if is_text else role
    if is_place(name, declared, root):
        return ArgumentRole.DESTINATION
    # A number can be an amount, a boolean a right: in a write only the manifest can say that they do no harm.
    harmless = manifest.scope == "read" and is_bounded(name, declared, root)
    return ArgumentRole.PLAIN if harmless else ArgumentRole.STEERING


def access_of(manifest: ToolManifest, of_arguments: Mapping[str, ArgumentRole]) -> Access:
    """What the manifest says, or a write if the schema shows a destination that the manifest is silent about."""
    return "write" if manifest.access == "write" or ArgumentRole.DESTINATION in of_arguments.values() else "read"


def is_bounded(name: str, declared: Schema, root: Schema) -> bool:
    """Whether no value of it can name anybody or anything."""
    declared = resolved(declared, root)
    if "enum" in declared or "const" in declared or declared.get("format") in _BOUNDED_FORMATS:
        return True
    if _ID_NAME.search(name):
        return False
    if options := options_of(declared):
        return all(is_bounded(name, option, root) for option in options)
    if declared.get("type") == "array":
        return is_bounded(name, as_schema(declared.get("items")), root)
    kinds = declared.get("type")
    named = [kinds] if isinstance(kinds, str) else [str(kind) for kind in cast("Sequence[Any]", kinds or ())]
    return bool(named) and _BOUNDED_TYPES.issuperset(named)


def is_identifier(argument: str) -> bool:
    """By its name: a number in it names something, and does not count or measure."""
    return _ID_NAME.search(argument.removesuffix("[]")) is not None


def takes_quantity(name: str, declared: Schema, root: Schema) -> bool:
    """Whether a number may stand there that counts or measures."""
    declared = resolved(declared, root)
    kinds = declared.get("type")
    named: Sequence[Any] = [kinds] if isinstance(kinds, str) else kinds or ()
    numeric = not {"number", "integer"}.isdisjoint(map(str, named))
    if is_identifier(name):
        return False
    return numeric or any(takes_quantity(name, option, root) for option in options_of(declared))


def is_place(name: str, declared: Schema, root: Schema) -> bool:
    """Whether an argument, or anything nested in it, takes a place to send data to."""
    return any(
        _PLACE_NAME.search(_CAMEL.sub("_", each)) or below.get("format") in _PLACE_FORMATS
        for each, below in _all(name, declared, root)
    )


def _all(name: str, declared: Schema, root: Schema) -> Iterator[tuple[str, Schema]]:
    yield name, resolved(declared, root)
    for inner, below in schemas_below(declared, root):
        yield inner or name, below


@dataclass(frozen=True)
class ArgumentLeaf:
    """One value inside the arguments."""

    argument: str
    value: str
    quantity: bool = False
    """A number that counts or measures, not one that names something."""
    literal: bool = False
    """True, false or null: it says something only together with the name of its argument."""
    chooses: bool = True
    """False for what the tool assumes anyway, or what its manifest calls harmless. Whom it reaches still matters."""


def stands_in(place: str, argument: str) -> bool:
    """Whether a value that stands at `place` is, or is inside, this argument."""
    return place == argument or place.startswith((f"{argument}.", f"{argument}[", f"{argument}{{"))


def leaves(
    argument: str, value: Any, declared: Schema | None = None, root: Schema = NO_SCHEMA
) -> Iterator[ArgumentLeaf]:
    """Every value inside an argument, and every name of a nested field that its schema does not list."""
    if value is None or isinstance(value, bool):
        yield ArgumentLeaf(argument, "null" if value is None else "true" if value else "false", literal=True)
    elif isinstance(value, str):
        yield ArgumentLeaf(argument, value)
    elif isinstance(value, int | float):
        yield ArgumentLeaf(argument, canonical_number(value), quantity=not is_identifier(argument))
    elif isinstance(value, Mapping):
        yield from _leaves_of_mapping(argument, cast("Mapping[str, Any]", value), declared, root)
    else:
        items = as_schema(resolved(declared, root).get("items"))
        for inner in cast("Sequence[Any]", value):
            yield from leaves(f"{argument}[]", inner, items, root)


def _leaves_of_mapping(
    argument: str, value: Mapping[str, Any], declared: Schema | None, root: Schema
) -> Iterator[ArgumentLeaf]:
    known = properties_of(declared, root)
    for name, inner in value.items():
        if name not in known:
            # Whoever chooses the name of a field chooses a value: `{"root": true}`.
            yield ArgumentLeaf(f"{argument}{{}}", name)
        yield from leaves(f"{argument}.{name}", inner, known.get(name), root)


def canonical_number(value: float) -> str:
    """`10.0` and `10` are one number."""
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(value)
