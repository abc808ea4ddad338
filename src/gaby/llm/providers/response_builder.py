"""An answer while it comes together, and the rules by which it may leave."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import orjson

from gaby.kernel.text import printable
from gaby.llm.errors import AnswerCutOff, AnswerUnreadable
from gaby.llm.messages import ModelResponse, Stop, TokenUsage, ToolUse

MOST_CHARACTERS = 400_000
"""Of text and arguments together. No skill of ours asks for anything near."""
_MOST_TOKENS = 10_000_000
_LONGEST_NAME = 256
_MOST_CALLS = 100


@dataclass
class PendingToolUse:
    """A tool call whose arguments may not all be there yet."""

    id: str
    name: str
    arguments: list[str] = field(default_factory=list[str])
    whole: bool = False


@dataclass
class ResponseBuilder:
    """What of an answer is here. `begun` and `billed` also say how far it had come when it breaks off."""

    names: Mapping[str, str]
    """Our names of the tools, by the vendor's."""
    asked: str
    """The model that was asked."""
    begun: bool = False
    billed: TokenUsage | None = None
    model: str = ""
    text: list[str] = field(default_factory=list[str])
    calls: dict[int, PendingToolUse] = field(default_factory=dict[int, PendingToolUse])
    _characters: int = 0

    def add_text(self, piece: str) -> str:
        self._count(piece)
        self.text.append(piece)
        return piece

    def begin_call(self, index: int, use_id: object, name: object) -> None:
        if len(self.calls) >= _MOST_CALLS:
            raise self.unreadable("It calls more tools at once than anybody could mean.")
        if index in self.calls:
            raise self.unreadable("It began the same tool call twice.")
        if not (isinstance(use_id, str) and 0 < len(use_id) <= _LONGEST_NAME):
            raise self.unreadable("A tool call has no id.")
        if not (isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME):
            raise self.unreadable("A tool call has no name.")
        self.calls[index] = PendingToolUse(use_id, name)

    def add_arguments(self, index: int, piece: object) -> None:
        call = self.calls.get(index)
        if call is None or call.whole or not isinstance(piece, str):
            raise self.unreadable("Arguments came without a tool call.")
        self._count(piece)
        call.arguments.append(piece)

    def end_call(self, index: int, if_empty: str = "") -> None:
        call = self.calls.get(index)
        if call is not None:
            call.whole = True
            call.arguments = call.arguments if any(call.arguments) else [if_empty]

    def answer(self, stop: Stop) -> ModelResponse:
        """Tool calls leave only as whole JSON objects, and only from an answer that came to its end."""
        uses = () if stop in ("length", "refusal") else self._uses()
        if stop == "tools" and not uses:
            raise self.unreadable("It says that it calls tools, and calls none.")
        said = "tools" if uses else stop
        return ModelResponse("".join(self.text), said, self.billed or TokenUsage(), self._answered(), uses)

    def unreadable(self, why: str) -> AnswerUnreadable:
        return AnswerUnreadable(f"The provider's answer is not what its interface promises. {why}", usage=self.billed)

    def _uses(self) -> tuple[ToolUse, ...]:
        ids = [call.id for call in self.calls.values()]
        if len(set(ids)) != len(ids):
            raise self.unreadable("Two tool calls have the same id.")
        return tuple(self._use(call) for _, call in sorted(self.calls.items()))

    def _use(self, call: PendingToolUse) -> ToolUse:
        text = "".join(call.arguments)
        arguments = loaded(text) if call.whole else None
        if arguments is None and is_cut_off(text):
            raise AnswerCutOff(usage=self.billed)
        if not isinstance(arguments, dict):
            raise self.unreadable("The arguments of a tool call are not a whole JSON object.")
        return ToolUse(call.id, self.names.get(call.name, call.name), cast("dict[str, Any]", arguments))

    def _answered(self) -> str:
        return printable(self.model[:200], one_line=True) or self.asked

    def _count(self, piece: str) -> None:
        self._characters += len(piece)
        if self._characters > MOST_CHARACTERS:
            raise AnswerUnreadable("The provider's answer is too long to be one.", usage=self.billed)


def loaded(text: str | bytes) -> Any:
    """The JSON, or None when it is none, or not whole."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def document(body: bytes) -> Mapping[str, Any]:
    """The JSON object that a whole answer is; an empty one when it is something else."""
    value = loaded(body)
    if value is None and is_cut_off(body.decode(errors="replace")):
        raise AnswerCutOff
    return mapping(value)


def is_cut_off(text: str) -> bool:
    """An object that began and did not end: another try may bring the rest."""
    stripped = text.strip()
    return stripped.startswith("{") and not stripped.endswith("}")


def mapping(value: object) -> Mapping[str, Any]:
    """The object that should be there; an empty one when something else is."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def word(value: object) -> str:
    return value if isinstance(value, str) else ""


def sequence(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def tokens(value: object) -> int:
    """A number of tokens that can be recorded, whatever the provider claims."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return max(0, min(int(value), _MOST_TOKENS))
