"""The labelled sets by which the offline mind is measured. None of their texts is among the examples it learns from."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gaby.mind.summaries import CitedSentence, SummaryPassage
from gaby.mind.tool_choice import ToolCard
from gaby.mind.verdicts import CaseFinding, CaseStep, VerdictCase

_FOLDER = Path(__file__).with_name("labelled")
_MARKED = re.compile(r"\{\{(\w+)\|(.*?)\}\}")

Mark = tuple[str, int, int]
"""The kind of an entity, and where it begins and ends."""


@dataclass(frozen=True)
class MarkedText:
    text: str
    marks: frozenset[Mark]


@dataclass(frozen=True)
class SummaryCase:
    question: str
    passages: tuple[SummaryPassage, ...]
    facts: tuple[CitedSentence, ...]
    """Words that must stand in the summary with that source. None where nothing in the passages fits the question."""


def marked_texts() -> Iterator[MarkedText]:
    """`{{email|ada@acme.example}}` in the file is an e-mail in the text."""
    for row in _rows("entities.jsonl"):
        plain, marks, at = "", set[Mark](), 0
        for match in _MARKED.finditer(row["text"]):
            plain += row["text"][at : match.start()]
            marks.add((match[1], len(plain), len(plain) + len(match[2])))
            plain, at = plain + match[2], match.end()
        yield MarkedText(plain + row["text"][at:], frozenset(marks))


def triage_rows() -> list[dict[str, Any]]:
    return _rows("triage.jsonl")


def tools() -> list[ToolCard]:
    return [ToolCard(**row) for row in _rows("tools.jsonl")]


def needs() -> list[tuple[str, frozenset[str]]]:
    return [(row["need"], frozenset(row["tools"])) for row in _rows("tool_choice.jsonl")]


def summary_cases() -> Iterator[SummaryCase]:
    for row in _rows("summaries.jsonl"):
        facts = tuple(CitedSentence(fact["text"], (fact["citation"],)) for fact in row["facts"])
        yield SummaryCase(row["question"], tuple(SummaryPassage(**each) for each in row["passages"]), facts)


def verdict_cases() -> Iterator[tuple[VerdictCase, str]]:
    for row in _rows("verdicts.jsonl"):
        given = row["case"]
        parts: dict[str, Any] = {
            **given,
            "findings": tuple(CaseFinding(**each) for each in given.get("findings", ())),
            "steps": tuple(CaseStep(**each) for each in given.get("steps", ())),
            "missing": tuple(given.get("missing", ())),
        }
        yield VerdictCase(**parts), row["verdict"]


def _rows(name: str) -> list[dict[str, Any]]:
    lines = (_FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]
