"""Public sets of questions and the documents that answer them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

SAMPLE = 500
_ANSWER = 30
"""A paragraph shorter than this is no question."""


@dataclass(frozen=True)
class Document:
    title: str
    text: str


@dataclass(frozen=True)
class Task:
    name: str
    documents: list[Document]
    questions: list[str]
    wanted: list[set[int]]
    """The documents that answer each question, by their place."""


def tasks(data: Path) -> list[Task]:
    return [banking(data), livemcp(data), ultratool(data), runbooks(data)]


def banking(data: Path) -> Task:
    documents, queries = _rows(data / "banking_kb/documents.jsonl"), _rows(data / "banking_kb/queries.jsonl")
    places = {document["id"]: place for place, document in enumerate(documents)}
    return Task(
        "banking_kb",
        [Document(document["title"], document["content"]) for document in documents],
        [query["query"] for query in queries],
        [{places[each] for each in query["required_documents"]} for query in queries],
    )


def livemcp(data: Path) -> Task:
    tools, queries = _rows(data / "tools/livemcp_tools.jsonl"), _rows(data / "tools/livemcp_queries.jsonl")
    return Task(
        "livemcp",
        [Document(f"{tool['server']} {tool['name']}", " ".join(_told_of(tool))) for tool in tools],
        [query["query"] for query in queries],
        [{place for place, tool in enumerate(tools) if tool["name"] in query["tools"]} for query in queries],
    )


def _told_of(tool: dict[str, Any]) -> Iterator[str]:
    yield tool["description"] or ""
    schema: dict[str, Any] = tool["input_schema"] or {}
    properties: dict[str, Any] = schema.get("properties", {})
    for name, about in properties.items():
        yield name
        if isinstance(about, dict):
            yield str(cast("dict[str, Any]", about).get("description") or "")


def ultratool(data: Path) -> Task:
    tools, queries = _rows(data / "tools/ultratool_tools.jsonl"), _rows(data / "tools/ultratool_requests.jsonl")
    places = {tool["id"]: place for place, tool in enumerate(tools)}
    sample = queries[:: max(len(queries) // SAMPLE, 1)][:SAMPLE]
    return Task(
        "ultratool",
        [Document(tool["id"], " ".join([tool["desc"], *tool["domain"]])) for tool in tools],
        [query["query"] for query in sample],
        [{places[each] for each in query["tools"] if each in places} for query in sample],
    )


def runbooks(data: Path) -> Task:
    """What an alert means and what it does is asked, in the words of its own page, which are taken out of the page; and
    its name out of the question."""
    task = Task("runbooks", [], [], [])
    for path in sorted((data / "runbooks").rglob("*.md")):
        if path.name.startswith("_"):
            continue
        text = re.sub(r"\A---\n.*?\n---\n", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for question, rest in _asked(text):
            text = rest
            task.questions.append(question.replace(path.stem, "this alert"))
            task.wanted.append({len(task.documents)})
        task.documents.append(Document(path.stem, text))
    return task


def _asked(text: str) -> Iterator[tuple[str, str]]:
    for section in ("Meaning", "Impact"):
        match = re.search(
            rf"^## {section}\s*\n\s*(.+?)(?:\n\s*\n|\n#|\Z)", text, re.DOTALL | re.MULTILINE | re.IGNORECASE
        )
        if match and len(match[1]) > _ANSWER and not match[1].startswith(("```", "{")):
            text = text[: match.start(1)] + text[match.end(1) :]
            yield match[1], text


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
