"""Arguments to try tools with: given by the author, or made up from the schema when that is possible."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from gaby_connectors.sdk.errors import NotConfigured
from gaby_connectors.sdk.manifest import GABY_ARGUMENTS


class LargeResultSample(BaseModel):
    """A call whose full answer would be larger than 100 KB."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    arguments: dict[str, Any] = {}


class SampleArguments(BaseModel):
    """The file that an author writes: arguments that work, by the tool's name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tools: dict[str, dict[str, Any]] = {}
    large: LargeResultSample | None = None


def load_samples(path: Path) -> SampleArguments:
    try:
        return SampleArguments.model_validate(json.loads(path.read_text()))
    except OSError as error:
        raise NotConfigured(f"{path} cannot be read: {error.strerror}.") from None
    except (ValidationError, ValueError):
        shape = '{"tools": {"NAME": {"argument": "value"}}, "large": {"tool": "NAME", "arguments": {}}}'
        raise NotConfigured(f"{path} is not a file of samples. It looks like this: {shape}") from None


def sample_arguments(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Arguments that fit the schema, or nothing when they cannot be guessed."""
    properties = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties", {}))
    required = [name for name in schema.get("required", ()) if name not in GABY_ARGUMENTS]
    values = {name: _value(properties.get(name, {})) for name in required}
    return None if any(value is None for value in values.values()) else values


def _value(schema: Mapping[str, Any]) -> Any:
    known = [schema.get("const"), schema.get("default"), *schema.get("examples", ()), *schema.get("enum", ())]
    return next((value for value in known if value is not None), _by_type(schema))


def _by_type(schema: Mapping[str, Any]) -> Any:
    match schema.get("type"):
        case "string" if "pattern" not in schema and "format" not in schema:
            return "example".ljust(int(schema.get("minLength", 0)), "e")[: int(schema.get("maxLength", 1000))]
        case "integer" | "number":
            return schema.get("minimum", int(schema.get("exclusiveMinimum", 0)) + 1)
        case "boolean":
            return False
        case "array" if not schema.get("minItems"):
            return []
        case "object" if not schema.get("required"):
            return {}
        case _:
            return None
