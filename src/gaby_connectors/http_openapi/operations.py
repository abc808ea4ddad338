"""Operations of an API: what each takes, flattened into one list of arguments."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from gaby_connectors.http_openapi.document import Resolver
from gaby_connectors.sdk.errors import NotConfigured

MOST_OPERATIONS = 300
_METHODS = ("get", "head", "post", "put", "patch", "delete")
_LONGEST_TEXT = 1_000
_NAME = re.compile(r"[^A-Za-z0-9_]+")
_PLACEHOLDER = re.compile(r"{([^}]+)}")
_FITTING = re.compile(r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$")

Place = Literal["path", "query", "body", "whole_body"]


@dataclass(frozen=True)
class Argument:
    name: str
    """What the tool calls it."""
    wire_name: str
    place: Place
    schema: dict[str, Any]
    required: bool


@dataclass(frozen=True)
class Operation:
    name: str
    method: str
    path: str
    description: str
    given_name: str = ""
    """What the file itself calls it, if it does."""
    arguments: tuple[Argument, ...] = field(default=())

    @property
    def scope_path(self) -> str:
        """The path with the tool's own names of the arguments in it, so that a rule about a path sees its values."""
        names = {argument.wire_name: argument.name for argument in self.arguments if argument.place == "path"}
        named = _PLACEHOLDER.sub(lambda match: "{" + names[match[1]] + "}", self.path)
        return named.strip("/").replace(" ", "%20")[:200] or self.name


def operations_of(document: Mapping[str, Any]) -> list[Operation]:
    """Every operation that can be called with path, query and JSON body; others are left out."""
    resolver = Resolver(document)
    operations: list[Operation] = []
    names: set[str] = set()
    for path, item in _mapping(document.get("paths")).items():
        if not path.startswith("/") or "\\" in path or ".." in path.split("/"):
            raise NotConfigured(f"The OpenAPI file has a path {path[:60]!r}; paths begin with / and go only down.")
        shared: list[Any] = _mapping(item).get("parameters", [])
        for method in _METHODS:
            if method in _mapping(item):
                operation = _operation(resolver, path, method, _mapping(item)[method], shared, names)
                if operation is not None:
                    operations.append(operation)
                    names.add(operation.name)
    if not operations:
        raise NotConfigured("The OpenAPI file has no operations that can be called.")
    if len(operations) > MOST_OPERATIONS:
        raise NotConfigured(f"The OpenAPI file has {len(operations)} operations; {MOST_OPERATIONS} is the most.")
    return operations


def _operation(
    resolver: Resolver, path: str, method: str, raw: Any, shared: list[Any], used_names: set[str]
) -> Operation | None:
    fields = _mapping(raw)
    parameters: dict[tuple[str, str], dict[str, Any]] = {}
    for parameter in resolver.whole([*shared, *fields.get("parameters", [])]):
        parameters[str(parameter.get("in")), str(parameter.get("name"))] = parameter
    arguments: list[Argument] = []
    # What stands in the path keeps its name: rules about paths speak of it, and nothing may take its place.
    for (place, name), parameter in sorted(parameters.items(), key=lambda each: each[0][0] != "path"):
        required = bool(parameter.get("required")) or place == "path"
        if place in ("path", "query"):
            arguments.append(_argument(name, cast("Place", place), parameter, arguments, required=required))
        elif required:
            # A header or cookie that must be there is not the planner's to fill.
            return None
    body = _body(resolver, fields.get("requestBody"))
    if body is not None:
        arguments += _body_arguments(body[0], arguments, required=body[1])
    missing = set(_PLACEHOLDER.findall(path)) - {a.wire_name for a in arguments if a.place == "path"}
    if missing:
        raise NotConfigured(f"{method.upper()} {path[:60]} does not declare its path parameter {min(missing)}.")
    words = str(fields.get("summary") or "") + "\n\n" + str(fields.get("description") or "")
    return Operation(
        name=_unique(str(fields.get("operationId") or f"{method}{path}"), used_names),
        method=method.upper(),
        path=path,
        description=plain_text(words) or f"{method.upper()} {path}",
        given_name=str(fields.get("operationId") or ""),
        arguments=tuple(arguments),
    )


def _body(resolver: Resolver, raw: Any) -> tuple[dict[str, Any], bool] | None:
    if raw is None:
        return None
    body = _mapping(resolver.whole(raw))
    content = _mapping(body.get("content"))
    media = next((media for kind, media in content.items() if kind.split(";")[0].endswith("json")), None)
    return (_mapping(_mapping(media).get("schema")), bool(body.get("required"))) if media is not None else None


def _body_arguments(schema: dict[str, Any], others: list[Argument], *, required: bool) -> Iterable[Argument]:
    properties = _mapping(schema.get("properties"))
    if schema.get("type") != "object" or not properties or "oneOf" in schema or "anyOf" in schema:
        yield _argument("body", "whole_body", {"schema": schema}, others, required=required)
        return
    needed: list[str] = schema.get("required", []) if required else []
    arguments: list[Argument] = []
    for name, part in properties.items():
        argument = _argument(name, "body", {"schema": part}, [*others, *arguments], required=name in needed)
        arguments.append(argument)
    yield from arguments


def _argument(
    wire_name: str, place: Place, fields: dict[str, Any], others: list[Argument], *, required: bool
) -> Argument:
    schema = dict(_mapping(fields.get("schema", {"type": "string"})))
    description = plain_text(str(fields.get("description") or schema.get("description") or ""))
    name = wire_name if _FITTING.match(wire_name) else _NAME.sub("_", wire_name).strip("_")[:60] or "argument"
    used_names = {other.name for other in others} | {"idempotency_key", "dry_run"}
    if name in used_names:
        name = f"{place}_{name}"[:60]
    name = next(each for each in (name, *(f"{name}_{number}" for number in range(2, 1000))) if each not in used_names)
    return Argument(name, wire_name, place, schema | ({"description": description} if description else {}), required)


def _unique(text: str, used_names: set[str]) -> str:
    name = _NAME.sub("_", text).strip("_")[:60] or "operation"
    number = 2
    unique = name
    while unique in used_names or unique == "healthcheck":
        unique = f"{name[:57]}_{number}"
        number += 1
    return unique


def plain_text(text: str) -> str:
    """What a person would see of a text, and not too much of it."""
    seen = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cf", "Cc", "Co", "Cn", "Cs"))
    return seen.strip()[:_LONGEST_TEXT]


def _mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
