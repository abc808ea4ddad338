"""Texts in prompts: each says where it comes from, and what comes from outside is fenced so that it stays content."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, Any, Literal, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo


def _same(text: str) -> str:
    return text


@dataclass(frozen=True)
class PromptRedactor:
    """Takes out of a text what models must not see."""

    outside: Callable[[str], str] = _same
    authored: Callable[[str], str] = _same
    """Of what a model of the same run wrote: the placeholders in it are those that it was given."""

    def __call__(self, text: str) -> str:
        return self.outside(text)


@dataclass(frozen=True)
class TextOrigin:
    outside: bool
    authored: bool = False


Outside = Annotated[str, TextOrigin(outside=True)]
"""Whoever wrote this may wish us ill: a ticket, a page, a tool's result. It goes to the model fenced and labelled."""

Authored = Annotated[str, TextOrigin(outside=True, authored=True)]
"""A model of the same run wrote this, after reading what strangers wrote: it is fenced like theirs."""

Inside = Annotated[str, TextOrigin(outside=False)]
"""Gaby, its configuration or its operators wrote this."""

_FENCE = re.compile(r"<(/?)(outside|company)", re.IGNORECASE)


def fenced(text: str, label: str) -> str:
    """The closing mark holds a digest of the text, which the text cannot contain."""
    return _between("outside", text, label)


def company_page(text: str, label: str) -> str:
    """A page that the company itself wrote: a model may follow it, which it must not do with what is `fenced`."""
    return _between("company", text, label)


def _between(kind: str, text: str, label: str) -> str:
    mark = sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    return f'<{kind}-{mark} what="{label}">\n{unfenced(text)}\n</{kind}-{mark}>'


def unfenced(text: str) -> str:
    """The text without anything that looks like one of our marks."""
    return _FENCE.sub(r"‹\1\2", text)


class FencedText(str):
    """A text in its fence. Templates write it anywhere and it stays fenced; its plain form is not to be had there."""

    __slots__ = ()


class UnmarkedField(TypeError):
    """A field can hold text and does not say where it comes from."""


@lru_cache(maxsize=512)
def origins(model: type[BaseModel]) -> Mapping[str, TextOrigin]:
    """For each field, where what it holds comes from. Numbers and choices of ours do not come from outside."""
    return {name: _origin(f"{model.__name__}.{name}", field) for name, field in model.model_fields.items()}


def _origin(where: str, field: FieldInfo) -> TextOrigin:
    marks, open_ended = _marks(field.annotation)
    marks += [each for each in field.metadata if isinstance(each, TextOrigin)]
    if open_ended and not marks:
        raise UnmarkedField(f"{where} says neither Inside nor Outside.")
    outside = [mark for mark in marks if mark.outside]
    return TextOrigin(bool(outside), authored=bool(outside) and all(mark.authored for mark in outside))


def _marks(annotation: Any) -> tuple[list[TextOrigin], bool]:
    """The marks in a type, and whether it can hold any text at all. Models inside of it are asked by themselves."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        origins(annotation)
        return [], False
    if get_origin(annotation) is Literal:
        return [], False
    parts = get_args(annotation)
    if not parts:
        return [], annotation in {str, bytes, Any, object}
    marked = [_marks(part) for part in parts if not isinstance(part, TextOrigin)]
    marks = [part for part in parts if isinstance(part, TextOrigin)]
    return marks + [mark for each, _ in marked for mark in each], any(text for _, text in marked)


def dressed(model: BaseModel, conceal: PromptRedactor) -> dict[str, Any]:
    """The model's fields as a template may use them."""
    return {name: _dress(getattr(model, name), name, origin, conceal) for name, origin in origins(type(model)).items()}


def from_inside(values: Mapping[str, Any]) -> dict[str, Any]:
    """Only those dressed values that hold nothing from outside."""
    return {name: value for name, value in values.items() if not _holds_outside(value)}


def _holds_outside(value: object) -> bool:
    match value:
        case str():
            return isinstance(value, FencedText)
        case Mapping():
            return any(_holds_outside(each) for each in cast("Mapping[str, object]", value).values())
        case list():
            return any(_holds_outside(each) for each in cast("list[object]", value))
        case _:
            return False


def _dress(value: object, label: str, origin: TextOrigin, conceal: PromptRedactor) -> Any:
    match value:
        case BaseModel():
            return dressed(value, conceal)
        case str():
            if not origin.outside:
                return unfenced(value)
            return FencedText(fenced(conceal.authored(value) if origin.authored else conceal(value), label))
        case Mapping():
            pairs = cast("Mapping[str, object]", value)
            # Names of fields may be a stranger's words as well.
            return {unfenced(str(key)): _dress(each, label, origin, conceal) for key, each in pairs.items()}
        case Sequence():
            items = cast("Sequence[object]", value)
            return [_dress(each, label, origin, conceal) for each in items]
        case _:
            return value
