"""The local embedding models: how fast, how large, and with `--data DIR` how good they are at finding things.

Each model works in a process of its own, beside its tokenizer alone, which is the floor. Passages are cut out of Gaby's
own pages and sources. Processor time, so that a busy machine does not matter much.
"""

import argparse
import asyncio
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, cast
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Table, create_engine

from gaby.kernel.database import Base, open_database
from gaby.kernel.ids import WorkspaceId
from gaby.knowledge.retrieval.metrics import ndcg, recall
from gaby.llm.embeddings import cache
from gaby.llm.embeddings.embedder import Vector
from gaby.llm.embeddings.files import models_folder
from gaby.llm.embeddings.local import find_embedder
from gaby.llm.embeddings.models import CachedVector
from gaby.llm.embeddings.texts import digest
from gaby.llm.embeddings.vectors import unit_rows

ROOT = Path(__file__).parent.parent
CHARACTERS = 1_000
MOST_PASSAGES = {"wordllama": 100_000, "minilm": 60}
MIXES = (0.3, 0.5, 0.7)
FUSIONS = (0.5, 0.7)
Scores = NDArray[np.float64]
"""One row for each query, one column for each document."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print only the figures, as JSON")
    parser.add_argument("--data", type=Path, help="a folder with banking_kb and tools, to measure quality as well")
    parser.add_argument("--passages", type=int, default=2_000, help="for wordllama; MiniLM gets 60 at most")
    parser.add_argument("--measure", choices=MEASURES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(MEASURES[options.measure](options.measure.split("/")[0], options.passages)))
        return 0
    figures: dict[str, Any] = {"speed": {name: _alone(name, options.passages) for name in MEASURES}}
    figures["cache"] = asyncio.run(_cache(options.passages))
    if options.data:
        figures["quality"] = {task.name: _quality(task) for task in (_banking(options.data), _tools(options.data))}
    print(json.dumps(figures) if options.json else _report_text(figures))
    return 0


def _alone(name: str, passages: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.embeddings", "--measure", name, "--passages", str(passages)]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)


def _model(name: str, passages: int) -> dict[str, float]:
    embedder = find_embedder(f"local/{name}")
    return _measured(embedder.embed, min(passages, MOST_PASSAGES[name]))


def _tokenizer(name: str, passages: int) -> dict[str, float]:
    tokenizers: list[Any] = []

    def tokenize(texts: Sequence[str]) -> None:
        if not tokenizers:
            tokenizer: Any = import_module("tokenizers").Tokenizer  # Counts as a part of the first text.
            tokenizers.append(tokenizer.from_file(str(models_folder() / name / "tokenizer.json")))
        for text in texts:
            tokenizers[0].encode(text)

    return _measured(tokenize, passages)


def _measured(work: Callable[[Sequence[str]], object], count: int) -> dict[str, float]:
    passages = _passages(count)
    begin = time.perf_counter()
    work(["the first text"])
    loaded = time.perf_counter() - begin
    spent = time.process_time()
    work(passages)
    spent = time.process_time() - spent
    queries: list[float] = []
    for passage in passages:
        begin = time.perf_counter()
        work([passage[:60]])
        queries.append(time.perf_counter() - begin)
    return {
        "first_text_s": round(loaded, 3),
        "passages_per_cpu_s": round(len(passages) / spent, 1),
        "query_ms": round(median(queries) * 1000, 3),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


def _nothing(_name: str, _passages: int) -> dict[str, float]:
    return {"peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)}


MEASURES: dict[str, Callable[[str, int], dict[str, float]]] = {
    "nothing": _nothing,
    "wordllama": _model,
    "wordllama/tokenizer": _tokenizer,
    "minilm": _model,
    "minilm/tokenizer": _tokenizer,
}


def _passages(count: int) -> list[str]:
    files = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py"), *ROOT.glob("tests/*/*.py")])
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    step = max(len(text) // count, 1)
    return [text[start : start + CHARACTERS] for start in range(0, len(text), step)][:count]


async def _cache(count: int) -> dict[str, float]:
    """Microseconds of a processor for each vector of 384 numbers, on SQLite."""
    place = WorkspaceId(UUID(int=1))
    rows = unit_rows(np.random.default_rng(1).normal(size=(count, 384)))
    vectors: dict[bytes, Vector] = {digest(str(number)): row for number, row in enumerate(rows)}
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(f"sqlite:///{Path(folder) / 'gaby.db'}")
        (Path(folder) / "gaby.db").touch()
        engine = create_engine(database.engine.migration_url())
        Base.metadata.create_all(engine, [cast("Table", CachedVector.__table__)])
        engine.dispose()
        begin = time.process_time()
        async with database.write(place) as session:
            await cache.store(session, "m", vectors, now=datetime.now(UTC))
        kept = time.process_time()
        async with database.read(place) as session:
            await cache.find(session, "m", list(vectors))
        found = time.process_time()
        for text_hash in list(vectors)[:200]:
            async with database.read(place) as session:
                await cache.find(session, "m", [text_hash])
        single = time.process_time()
        await database.close()
    spent = {"keep": (kept - begin) / count, "find": (found - kept) / count, "find_one": (single - found) / 200}
    return {f"{name}_us": round(seconds * 1e6, 1) for name, seconds in spent.items()}


@dataclass(frozen=True)
class Task:
    name: str
    documents: list[str]
    queries: list[str]
    wanted: list[set[int]]


def _banking(data: Path) -> Task:
    documents, queries = _rows(data / "banking_kb/documents.jsonl"), _rows(data / "banking_kb/queries.jsonl")
    places = {document["id"]: place for place, document in enumerate(documents)}
    return Task(
        "banking_kb",
        [f"{document['title']}\n{document['content']}" for document in documents],
        [query["query"] for query in queries],
        [{places[each] for each in query["required_documents"]} for query in queries],
    )


def _tools(data: Path) -> Task:
    tools, queries = _rows(data / "tools/livemcp_tools.jsonl"), _rows(data / "tools/livemcp_queries.jsonl")
    return Task(
        "livemcp",
        [_told_of(tool) for tool in tools],
        [query["query"] for query in queries],
        [{place for place, tool in enumerate(tools) if tool["name"] in query["tools"]} for query in queries],
    )


def _told_of(tool: dict[str, Any]) -> str:
    schema: dict[str, Any] = tool["input_schema"] or {}
    return " ".join([tool["server"], tool["name"], tool["description"] or "", *schema.get("properties", {})])


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _quality(task: Task) -> dict[str, dict[str, float]]:
    words = _spread(_bm25(task))
    cosines = {name: _cosines(name, task) for name in MOST_PASSAGES}
    for mix in MIXES:
        cosines[f"both {mix}"] = mix * cosines["wordllama"] + (1 - mix) * cosines["minilm"]
    found = {"BM25": words}
    for name, scores in cosines.items():
        found[name] = scores
        for share in FUSIONS:
            found[f"{share} {name} + {1 - share:.1f} BM25"] = share * _spread(scores) + (1 - share) * words
    return {name: _ranking_metrics(scores, task.wanted) for name, scores in found.items()}


def _cosines(name: str, task: Task) -> Scores:
    embed = find_embedder(f"local/{name}", threads=2).embed
    return (embed(task.queries) @ embed(task.documents).T).astype(np.float64)


def _bm25(task: Task, k1: float = 1.2, b: float = 0.75) -> Scores:
    documents = [re.findall(r"\w+", text.lower()) for text in task.documents]
    words = {word: place for place, word in enumerate(dict.fromkeys(_all(documents)))}
    counts = np.zeros((len(documents), len(words)))
    for row, document in zip(counts, documents, strict=True):
        np.add.at(row, [words[word] for word in document], 1)
    lengths = counts.sum(axis=1, keepdims=True)
    holding = (counts > 0).sum(axis=0)
    rarity = np.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
    weights = rarity * counts * (k1 + 1) / (counts + k1 * (1 - b + b * lengths / lengths.mean()))
    asked = [{words[word] for word in re.findall(r"\w+", query.lower()) if word in words} for query in task.queries]
    return np.array([weights[:, sorted(each)].sum(axis=1) for each in asked])


def _all(lists: Iterable[list[str]]) -> Iterable[str]:
    return (each for one in lists for each in one)


def _spread(scores: Scores) -> Scores:
    """From 0 to 1 within each query, so that scores of different kinds can be added."""
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    return (scores - low) / np.maximum(high - low, 1e-12)


def _ranking_metrics(scores: Scores, wanted: list[set[int]]) -> dict[str, float]:
    ranked = [np.argsort(-row, kind="stable")[:10].tolist() for row in scores]
    pairs = list(zip(ranked, wanted, strict=True))
    return {
        "recall@5": _percent(recall(found, right, 5) for found, right in pairs),
        "recall@10": _percent(recall(found, right, 10) for found, right in pairs),
        "ndcg@10": _percent(ndcg(found, right, 10) for found, right in pairs),
    }


def _percent(values: Iterable[float]) -> float:
    return round(float(np.mean(list(values))) * 100, 1)


def _report_text(figures: dict[str, Any]) -> str:
    lines = [f"{'':22} {'first text':>10} {'passages/s':>10} {'query':>10} {'peak':>9}"]
    for name, speed in figures["speed"].items():
        if name == "nothing":
            lines.append(f"{name:22} {'':10} {'':10} {'':10} {speed['peak_mb']:6.0f} MB")
            continue
        lines.append(
            f"{name:22} {speed['first_text_s']:8.2f} s {speed['passages_per_cpu_s']:10,.1f} "
            f"{speed['query_ms']:7.2f} ms {speed['peak_mb']:6.0f} MB"
        )
    kept = figures["cache"]
    lines.append(
        f"from the cache, for each vector: kept in {kept['keep_us']} us, found in {kept['find_us']} us, "
        f"one alone in {kept['find_one_us']} us"
    )
    for task, found in figures.get("quality", {}).items():
        lines += ["", f"{task:42} {'recall@5':>9} {'@10':>6} {'nDCG@10':>8}"]
        lines += [
            f"{name:42} {quality['recall@5']:9} {quality['recall@10']:6} {quality['ndcg@10']:8}"
            for name, quality in found.items()
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
