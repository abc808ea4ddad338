"""A skill: one typed question that Gaby can put to a model, and answer by itself when there is none."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel

from gaby.kernel.errors import NotFound
from gaby.llm.embeddings.embed import Embed
from gaby.llm.messages import ChatMessage, ModelResponse, ToolSpec
from gaby.llm.prompts import Prompt, load_prompt
from gaby.llm.tiers import Tier
from gaby.llm.untrusted_text import PromptRedactor, dressed, origins

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

Form = Literal["json", "text", "tools"]


class UnacceptableAnswer(ValueError):
    """Raised by a skill's `read`: the answer cannot be used, and the message tells the model why."""


@dataclass(frozen=True)
class Skill(Generic[In, Out]):
    """One small file makes one of these."""

    name: str
    does: str
    tier: Tier
    takes: type[In]
    gives: type[Out]
    prompt_file: Path
    fallback: Callable[[In, Embed], Out]
    """The answer without a model: deterministic, no network, off the event loop."""
    form: Form = "json"
    """`json`: the answer is the output model. `text`: prose, which can be streamed. `tools`: calls to tools."""
    read: Callable[[In, ModelResponse], Out] | None = None
    """Makes the output of prose or of tool calls, or raises `UnacceptableAnswer`. Tool calls arrive checked."""
    check: Callable[[In, Out], None] | None = None
    """Looks at a model's output beside the input, and raises `UnacceptableAnswer` when the two do not fit."""
    tools: Callable[[In], tuple[ToolSpec, ...]] | None = None
    turns: Callable[[In, PromptRedactor], tuple[ChatMessage, ...]] | None = None
    """What was said before in the same conversation, oldest first. It only grows, so that vendors can cache it."""
    more_values: Callable[[In, PromptRedactor], Mapping[str, Any]] | None = None
    """For the template, beside the fields of the input: texts that are marked otherwise than by their field."""
    max_output_tokens: int = 1024
    temperature: float | None = None
    example: In | None = None
    """For people who tune the prompt, and for the tests that run every skill."""

    def __post_init__(self) -> None:
        if (self.form == "json") != (self.read is None) or (self.form == "tools") != (self.tools is not None):
            raise TypeError(f"The skill {self.name} is of form {self.form}: give `read` and `tools` to match.")
        origins(self.takes)

    def values(self, given: In, conceal: PromptRedactor) -> dict[str, Any]:
        """What the template may use."""
        values = dressed(given, conceal)
        if self.more_values is not None:
            values.update(self.more_values(given, conceal))
        return values

    @property
    def prompt(self) -> Prompt:
        return load_prompt(self.prompt_file)

    @property
    def file(self) -> Path:
        return Path(inspect.getfile(self.fallback))


class Skills:
    """All skills of the house, by name. They are loaded when first asked for, since the mind behind them is heavy."""

    def __init__(self, load: Callable[[], Iterable[Skill[Any, Any]]]) -> None:
        self._load = load

    def __iter__(self) -> Iterator[Skill[Any, Any]]:
        return iter(sorted(self._by_name.values(), key=lambda skill: skill.name))

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def find(self, name: str) -> Skill[Any, Any]:
        if name not in self:
            raise NotFound("There is no such skill. `gaby skill list` shows all of them.")
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Skill[Any, Any]]:
        return {skill.name: skill for skill in self._load()}
