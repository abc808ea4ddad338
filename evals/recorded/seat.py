"""The model's seat: a chat server that answers from a recording, or asks whoever plays the model."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from evals.chat_server import ChatAnswer, ChatServer
from evals.recorded.normal_form import NormalForm
from evals.recorded.recording import RecordedAnswer, Recording

_CHARACTERS_OF_A_TOKEN = 4
"""Of English, with the tokenisers of the day. Only ratios and orders of magnitude are read from it."""


class StaleRecording(Exception):
    """The prompt is not in the recording."""


@dataclass
class PromptSize:
    """Of a ticket's requests together, in tokens."""

    requests: int = 0
    tokens: int = 0
    repeated: int = 0
    """Of the tokens, those with which an earlier request of the same company began, as vendors' caches count."""


@dataclass
class Seat:
    recording: Recording
    folder: Path | None = None
    """Where requests are put for whoever plays the model. Without it, what is not recorded is stale."""
    patience: float = 590.0
    ticket: str = ""
    stale: list[str] = field(default_factory=list[str])
    used: set[str] = field(default_factory=set[str])
    sizes: dict[str, PromptSize] = field(default_factory=dict[str, PromptSize])
    _seen: list[str] = field(default_factory=list[str])
    _number: "count[int]" = field(default_factory=lambda: count(1))

    def begin(self, ticket: str) -> None:
        self.ticket = ticket

    def serve(self) -> ChatServer:
        return ChatServer(self.answer)

    def answer(self, asked: Mapping[str, Any]) -> ChatAnswer:
        form = NormalForm(asked)
        tokens, cached = self._measure(asked)
        self.used.add(form.key)
        known = self.recording.answers.get(form.key)
        if known is None:
            if self.folder is None:
                self.stale.append(self.ticket)
                raise StaleRecording(self.ticket)
            known = self._by_hand(asked, form)
            self.recording.add(known)
        calls = [(name, json.loads(form.from_normal(json.dumps(arguments)))) for name, arguments in known.calls]
        return ChatAnswer(form.from_normal(known.text), calls, tokens, cached)

    def _by_hand(self, asked: Mapping[str, Any], form: NormalForm) -> RecordedAnswer:
        folder = self.folder or Path()
        name = f"{next(self._number):04}.json"
        for each in ("asked", "answered"):
            (folder / each).mkdir(parents=True, exist_ok=True)
        draft = folder / "asked" / f"{name}.part"
        draft.write_text(json.dumps({"ticket": self.ticket, **asked}, ensure_ascii=False, indent=1), encoding="utf-8")
        draft.replace(folder / "asked" / name)
        file, until = folder / "answered" / name, time.monotonic() + self.patience
        while not file.exists():
            if time.monotonic() > until:
                raise TimeoutError(f"Nobody answered {name}.")
            time.sleep(0.2)
        given = json.loads(file.read_text(encoding="utf-8"))
        calls = [(each["name"], each.get("arguments", {})) for each in given.get("calls", [])]
        normal = [(called, json.loads(form.to_normal(json.dumps(arguments)))) for called, arguments in calls]
        return RecordedAnswer(self.ticket, form.key, form.to_normal(given.get("text", "")), tuple(normal))

    def _measure(self, asked: Mapping[str, Any]) -> tuple[int, int]:
        text = _as_prompt(asked)
        longest = max((_common(text, each) for each in self._seen), default=0)
        self._seen.append(text)
        size = self.sizes.setdefault(self.ticket, PromptSize())
        tokens, repeated = len(text) // _CHARACTERS_OF_A_TOKEN, longest // _CHARACTERS_OF_A_TOKEN
        size.requests += 1
        size.tokens += tokens
        size.repeated += repeated
        return tokens, repeated


def _as_prompt(asked: Mapping[str, Any]) -> str:
    """In the order in which vendors put a prompt together: tools, then messages."""
    return json.dumps([asked.get("tools", []), asked["messages"]], ensure_ascii=False)


def _common(one: str, other: str) -> int:
    """By halves: comparing slices is quick, characters one by one are not."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
