"""Turning a model's answer into the skill's output, or saying why it cannot be used. Nothing half passes."""

import json
import re
from functools import lru_cache
from typing import Any, TypeVar

import jsonschema_rs
from pydantic import BaseModel, ValidationError

from gaby.kernel.errors import GabyError
from gaby.llm.messages import ModelResponse, OutputSchema, ToolSpec, ToolUse
from gaby.llm.results import Reveal
from gaby.llm.skill import Skill, UnacceptableAnswer

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

_FENCES = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_MOST_USES = 16
_LONGEST_PROSE = 200_000
_MOST_WORDS = 1000


class ModelRefusal(UnacceptableAnswer):
    """The model refused to answer. Answer the question that was asked, in the form that was asked for."""


def shape_of(skill: Skill[Any, Any]) -> OutputSchema | None:
    return OutputSchema(skill.name, _schema(skill.gives)) if skill.form == "json" else None


@lru_cache(maxsize=256)
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def accept(skill: Skill[In, Out], given: In, answer: ModelResponse, tools: tuple[ToolSpec, ...], reveal: Reveal) -> Out:
    if answer.stop == "refusal":
        raise ModelRefusal(ModelRefusal.__doc__)
    if answer.stop == "length":
        raise UnacceptableAnswer("The answer was cut off because it was too long. Answer again, shorter.")
    value = _read(skill, given, answer, tools, reveal)
    if skill.check is not None:
        skill.check(given, value)
    return value


def _read(skill: Skill[In, Out], given: In, answer: ModelResponse, tools: tuple[ToolSpec, ...], reveal: Reveal) -> Out:
    if skill.read is None:
        return _from_json(skill.gives, answer.text)
    if skill.form == "tools":
        uses = _checked(answer.uses, {tool.name: tool for tool in tools}, reveal)
        answer = ModelResponse(answer.text, answer.stop, answer.usage, answer.model, uses)
    try:
        return skill.read(given, answer)
    except ValidationError as error:
        raise UnacceptableAnswer(_validation_message(error)) from None


def _from_json(model: type[Out], text: str) -> Out:
    match = _FENCES.match(text)
    try:
        return model.model_validate_json(match[1] if match else text)
    except ValidationError as error:
        if (inner := _only_object(text)) is not None:
            return _validated(model, inner)
        raise UnacceptableAnswer(_validation_message(error)) from None


def _validated(model: type[Out], text: str) -> Out:
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise UnacceptableAnswer(_validation_message(error)) from None


def _only_object(text: str) -> str | None:
    """The JSON object behind some prose, when nothing but prose is around it."""
    start = text.find("{")
    if start <= 0 or len(text) > _LONGEST_PROSE:
        return None
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return text[start:end] if "{" not in text[end:] else None


def _validation_message(error: ValidationError) -> str:
    """What is wrong, without repeating what the model said."""
    lines = [
        f"{'.'.join(str(part) for part in each['loc']) or 'the answer'}: {each['msg']}"
        for each in error.errors(include_input=False, include_url=False, include_context=False)[:8]
    ]
    return "; ".join(lines)[:_MOST_WORDS]


def _checked(uses: tuple[ToolUse, ...], tools: dict[str, ToolSpec], reveal: Reveal) -> tuple[ToolUse, ...]:
    """The calls, each once. One that does not fit its tool spoils them all: who is wrong in one is asked again."""
    kept: dict[str, ToolUse] = {}
    wrong: list[str] = []
    for use in uses:
        if use.name not in tools:
            wrong.append(f"There is no tool {use.name[:100]!r}. Use only the tools that were given.")
        elif misfit := _misfit(tools[use.name], use, reveal):
            wrong.append(f"The arguments do not fit {use.name}: {misfit}")
        else:
            kept.setdefault(f"{use.name} {json.dumps(use.arguments, sort_keys=True)}", use)
    if len(kept) > _MOST_USES:
        wrong.append(f"Too many calls at once. Make at most {_MOST_USES}.")
    if wrong:
        # All at once: a model has one more try.
        raise UnacceptableAnswer("\n".join(dict.fromkeys(wrong))[: 2 * _MOST_WORDS])
    return tuple(kept.values())


def _misfit(tool: ToolSpec, use: ToolUse, reveal: Reveal) -> str:
    try:
        return misfits(tool, _revealed(use.arguments, reveal))
    except UnacceptableAnswer as error:
        return str(error)


def _revealed(arguments: Any, reveal: Reveal) -> Any:
    """A placeholder for an address has to pass where only addresses fit."""
    try:
        return reveal(arguments)
    except GabyError as error:
        raise UnacceptableAnswer(error.message) from None


def _place(path: list[str | int]) -> str:
    return f"{'.'.join(str(part) for part in path)}: " if path else ""


def misfits(tool: ToolSpec, arguments: Any) -> str:
    """Without the values, since the model is told: what it wrote as a placeholder is a real value here."""
    try:
        validator = jsonschema_rs.validator_for(dict(tool.schema), offline=True, mask="the value")
        errors = validator.iter_errors(dict(arguments))
        return "; ".join(f"{_place(error.instance_path)}{error.message}" for error in errors)[:_MOST_WORDS]
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        return str(error)[:_MOST_WORDS]
