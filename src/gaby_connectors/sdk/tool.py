"""A tool: what it is called, what it takes and gives, what its manifest says, and the function behind it."""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.errors import ToolError, invalid
from gaby_connectors.sdk.manifest import GABY_ARGUMENTS, ToolManifest

WRITE_ARGUMENTS: dict[str, dict[str, Any]] = {
    "idempotency_key": {
        "type": "string",
        "minLength": 1,
        "maxLength": 200,
        "description": "The same key twice has one effect. Without it, every call is a new one.",
    },
    "dry_run": {
        "type": "boolean",
        "default": False,
        "description": "Only tell what would happen; nothing is changed.",
    },
}
_NAME = re.compile(r"^[A-Za-z0-9_-]{1,64}$")


class WriteCall(BaseModel):
    """What a write needs to know of its call. Ask for it with a parameter of this type."""

    model_config = ConfigDict(frozen=True)

    dry_run: bool = False
    idempotency_key: str | None = None


Run = Callable[[Any, Mapping[str, Any], WriteCall], Awaitable[Mapping[str, Any]]]
Lookup = Callable[[Any, str], Awaitable[BaseModel | None]]
"""Given the backend and an idempotency key: the result of that call if its effect happened, else nothing."""
Function = Callable[..., Awaitable[BaseModel]]


@dataclass(frozen=True)
class Tool:
    name: str
    description: str
    manifest: ToolManifest
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    check: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    """Arguments as they were sent, to arguments that are valid; raises `ToolError`."""
    run: Run
    canonical: Callable[[Mapping[str, Any]], Any] = field(default=lambda arguments: arguments)
    more: str = ""
    repeatable: bool = False
    lookup: Lookup | None = None

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise ValueError(f"{self.name!r} is no name for a tool: letters, digits, _ and -, at most 64")
        if not self.description:
            raise ValueError(f"{self.name} needs a docstring: it is what a planner reads")
        if unknown := self.manifest.unknown_arguments(self.input_schema.get("properties", {})):
            raise ValueError(f"the manifest of {self.name} speaks of {', '.join(unknown)}, which it does not take")

    @property
    def writes(self) -> bool:
        return self.manifest.access == "write"


def tool_of(
    function: Function,
    manifest: ToolManifest,
    *,
    more: str = "",
    repeatable: bool = False,
    lookup: Lookup | None = None,
) -> Tool:
    """A tool from a typed async function: its signature is the input schema, its return model the output schema."""
    hints = get_type_hints(function, include_extras=True)
    returned = hints.pop("return")
    if not (isinstance(returned, type) and issubclass(returned, BaseModel)):
        raise TypeError(f"{function.__qualname__} must return a model: results are always objects")
    arguments = _arguments_of(function, hints)
    writes = manifest.access == "write"

    async def run(backend: Any, given: Mapping[str, Any], call: WriteCall) -> Mapping[str, Any]:
        injected = {name: call if hint is WriteCall else backend for name, hint in hints.items() if _is_injected(hint)}
        return (await function(**given, **injected)).model_dump(mode="json")

    return Tool(
        name=function.__name__,
        description=inspect.getdoc(function) or "",
        manifest=manifest,
        input_schema=with_write_arguments(_schema(arguments, "validation"), writes=writes),
        output_schema=with_markers(_schema(returned, "serialization"), writes=writes),
        check=lambda given: _checked(arguments, given),
        run=run,
        canonical=lambda given: arguments.model_construct(**given).model_dump(mode="json", warnings=False),
        more=more,
        repeatable=repeatable,
        lookup=lookup,
    )


def with_write_arguments(schema: dict[str, Any], *, writes: bool) -> dict[str, Any]:
    properties = cast("dict[str, Any]", schema.get("properties", {}))
    if reserved := sorted(GABY_ARGUMENTS & set(properties)):
        raise ValueError(f"{', '.join(reserved)} is added to every write by itself")
    return schema | {
        "properties": properties | (WRITE_ARGUMENTS if writes else {}),
        "additionalProperties": False,
    }


def with_markers(schema: dict[str, Any], *, writes: bool) -> dict[str, Any]:
    """Names what is added to results: whether rows were left out, and for writes whether it was a dry run."""
    properties: dict[str, Any] = dict(schema.get("properties", {}))
    properties.setdefault("truncated", {"type": "boolean", "description": "Some of the result was left out."})
    properties.setdefault("more", {"type": "string", "description": "What was left out, and how to get it."})
    if writes:
        properties["dry_run"] = {"type": "boolean", "description": "True: nothing was changed."}
    return schema | {"properties": properties}


def _arguments_of(function: Function, hints: Mapping[str, Any]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name)
        if hint is None:
            raise TypeError(f"{function.__qualname__}: {name} needs a type")
        if _is_injected(hint):
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hint, default if isinstance(default, FieldInfo) else Field(default))
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    return create_model(f"{function.__name__}_arguments", __config__=config, **fields)


def _is_injected(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, WriteCall | Backend)


def _checked(arguments: type[BaseModel], given: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        valid = arguments.model_validate(given)
    except ValidationError as error:
        raise _bad_arguments(error) from None
    return {name: getattr(valid, name) for name in arguments.model_fields}


def _bad_arguments(error: ValidationError) -> ToolError:
    problems = [
        f"`{'.'.join(str(part) for part in problem['loc']) or 'arguments'}`: {problem['msg']}"
        for problem in error.errors(include_input=False, include_url=False, include_context=False)[:5]
    ]
    return invalid(f"Bad arguments: {'; '.join(problems)}.")


class _PlainSchema(GenerateJsonSchema):
    """Without titles: they only repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _schema(model: type[BaseModel], mode: Any) -> dict[str, Any]:
    schema = model.model_json_schema(schema_generator=_PlainSchema, mode=mode)
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
    schema.setdefault("properties", {})
    if mode == "validation":
        schema.pop("description", None)
    return schema
