"""Whether a value may stand in a place. The schema comes from a tool's maker, so it is checked by a validator that is
made for strange schemas: no references outside, no patterns that never end."""

import re
from functools import lru_cache
from typing import Any

import jsonschema_rs
import orjson

from gaby.mind.arguments.slots import ParameterSlot, Schema, mapping

_PLACEHOLDER = re.compile(r"\[[a-z_]{2,20}:[0-9.]{1,14}-[a-z0-9]{6,16}\]")
_BROKEN = (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, TypeError)


def fits(slot: ParameterSlot, value: Any) -> bool:
    # What the redactor left for a value has not the value's form; the tool gets the value back.
    is_placeholder = isinstance(value, str) and _PLACEHOLDER.fullmatch(value) is not None
    return is_valid(_with_definitions(slot.schema, slot.root), value, formats=not is_placeholder)


def is_valid(schema: Schema, value: Any, *, formats: bool = False) -> bool:
    """No, too, for a schema that nobody can make sense of."""
    try:
        return _validator(orjson.dumps(schema), formats=formats).is_valid(value)
    except _BROKEN:
        return False


@lru_cache(maxsize=1024)
def _validator(schema: bytes, *, formats: bool) -> "jsonschema_rs.Validator":
    return jsonschema_rs.validator_for(orjson.loads(schema), offline=True, validate_formats=formats)


def _with_definitions(schema: Schema, root: Schema) -> Schema:
    shared = {name: mapping(root.get(name)) for name in ("$defs", "definitions") if name in root}
    return {**shared, **schema} if shared else schema
