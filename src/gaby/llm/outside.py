"""Texts in prompts: each says where it comes from, and what comes from outside is fenced so that it stays content."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, cast

from pydantic import BaseModel

Conceal = Callable[[str], str]
"""Takes out of a text what models must not see."""


@dataclass(frozen=True)
class Origin:
    outside: bool


Outside = Annotated[str, Origin(outside=True)]
"""Whoever wrote this may wish us ill: a ticket, a page, a tool's result. It goes to the model fenced and labelled."""

Inside = Annotated[str, Origin(outside=False)]
"""Gaby, its configuration or its operators wrote this."""

_FENCE = re.compile(r"<(/?)(outside)", re.IGNORECASE)


def fenced(text: str, label: str) -> str:
    """The closing mark holds a digest of the text, which the text cannot contain."""
    mark = sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    return f'<outside-{mark} what="{label}">\n{unfenced(text)}\n</outside-{mark}>'


def unfenced(text: str) -> str:
    """The text without anything that looks like one of our marks."""
    return _FENCE.sub(r"‹\1\2", text)


class Fenced(str):
    """A text in its fence. Templates write it anywhere and it stays fenced; its plain form is not to be had there."""

    __slots__ = ()


def dressed(model: BaseModel, conceal: Conceal) -> dict[str, Any]:
    """The model's fields as a template may use them."""
    return {
        name: _dress(getattr(model, name), name, _is_outside(field.metadata), conceal)
        for name, field in type(model).model_fields.items()
    }


def from_inside(values: Mapping[str, Any]) -> dict[str, Any]:
    """Only those dressed values that hold nothing from outside."""
    return {name: value for name, value in values.items() if not _holds_outside(value)}


def _holds_outside(value: object) -> bool:
    match value:
        case str():
            return isinstance(value, Fenced)
        case Mapping():
            return any(_holds_outside(each) for each in cast("Mapping[str, object]", value).values())
        case list():
            return any(_holds_outside(each) for each in cast("list[object]", value))
        case _:
            return False


def _dress(value: object, label: str, outside: bool | None, conceal: Conceal) -> Any:  # noqa: FBT001
    match value:
        case BaseModel():
            return dressed(value, conceal)
        case str() if outside is False:
            return unfenced(value)
        case str():
            return Fenced(fenced(conceal(value), label))
        case Mapping():
            pairs = cast("Mapping[str, object]", value)
            return {key: _dress(each, label, outside, conceal) for key, each in pairs.items()}
        case Sequence():
            return [_dress(each, label, outside, conceal) for each in cast("Sequence[object]", value)]
        case _:
            return value


def _is_outside(metadata: Sequence[object]) -> bool | None:
    return next((each.outside for each in metadata if isinstance(each, Origin)), None)
