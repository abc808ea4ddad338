"""A recording: for each request, by the key of its normal form, what the model answered."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RecordedAnswer:
    ticket: str
    key: str
    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()


@dataclass
class Recording:
    path: Path
    answers: dict[str, RecordedAnswer] = field(default_factory=dict[str, RecordedAnswer])

    def add(self, answer: RecordedAnswer) -> None:
        self.answers[answer.key] = answer
        self.save()

    def keep_only(self, used: set[str], tickets: set[str]) -> None:
        """Without what these tickets do not ask any more."""
        self.answers = {key: each for key, each in self.answers.items() if key in used or each.ticket not in tickets}
        self.save()

    def save(self) -> None:
        ordered = sorted(self.answers.values(), key=lambda each: each.ticket)
        lines = [json.dumps(asdict(each), ensure_ascii=False) for each in ordered]
        draft = self.path.with_suffix(".part")
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
        draft.replace(self.path)

    @property
    def tickets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.ticket for each in self.answers.values()))


def read_recording(path: Path) -> Recording:
    recording = Recording(path)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for line in lines:
        told = json.loads(line)
        calls = tuple((name, arguments) for name, arguments in told["calls"])
        recording.answers[told["key"]] = RecordedAnswer(told["ticket"], told["key"], told["text"], calls)
    return recording
