"""Prompts: files of sandboxed Jinja in three blocks, versioned, each known by the hash of its text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gaby.kernel.errors import GabyError

BLOCKS = ("system", "envelope", "message")
_VERSION = re.compile(r"\A\{#\s*version:\s*(\d{1,6})\s*#\}")


class PromptBroken(GabyError):
    """A prompt cannot be rendered."""


@dataclass(frozen=True)
class PromptId:
    name: str
    version: int
    hash: str


@dataclass(frozen=True)
class RenderedPrompt:
    """The blocks with their values, in the order in which they go to the model."""

    prompt: PromptId
    system: str
    envelope: str
    message: str


class Prompt:
    def __init__(self, name: str, source: str) -> None:
        match = _VERSION.match(source)
        if match is None:
            raise PromptBroken(f"The prompt {name} must begin with its version, as in {{# version: 1 #}}.")
        self.id = PromptId(name, int(match[1]), sha256(source.encode()).hexdigest())
        self.source = source
        self._template = _compiled(name, source)
        missing = [block for block in ("system", "message") if block not in self._template.blocks]
        strange = sorted(set(self._template.blocks) - set(BLOCKS))
        if missing or strange:
            wrong = f"lacks the block {missing[0]}" if missing else f"has a strange block {strange[0]}"
            raise PromptBroken(f"The prompt {name} {wrong}. It has system, envelope (if any) and message.")

    def render(self, values: Mapping[str, Any], *, inside: Mapping[str, Any]) -> RenderedPrompt:
        """A variable that nobody gave is an error, never an empty place. The system block knows only the values that
        come from inside, so that no stranger's words ever stand among the instructions."""
        return RenderedPrompt(
            self.id, self._block("system", inside), self._block("envelope", values), self._block("message", values)
        )

    def _block(self, block: str, values: Mapping[str, Any]) -> str:
        if block not in self._template.blocks:
            return ""
        try:
            context = self._template.new_context(dict(values))
            return "".join(self._template.blocks[block](context)).strip()
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise PromptBroken(f"The prompt {self.id.name} cannot be rendered: {error}") from None


@lru_cache(maxsize=256)
def load_prompt(path: Path) -> Prompt:
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptBroken(f"The prompt {path.name} cannot be read: {error}") from None
    return Prompt(path.name.split(".")[0], source)


def _compiled(name: str, source: str) -> Template:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=False
    )
    try:
        return environment.from_string(source)
    except TemplateError as error:
        raise PromptBroken(f"The prompt {name} is not valid: {error}") from None
