"""Retrieval on anybody's own data: indexed into a temporary workspace through the real pipeline, and asked."""

import asyncio
import math
import re
import resource
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError
from rich.progress import Progress

from gaby.app import Gaby, build
from gaby.cli.console import SafeConsole
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.errors import BadRequest
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.knowledge.new_source import NewSource
from gaby.knowledge.retrieval.metrics import ndcg, recall
from gaby.migrations import upgrade
from gaby.mind.bm25 import Bm25Ranker
from gaby.settings import ModelSettings, Settings

_DEPTH = 10
_WORD = re.compile(r"\w+")
T = TypeVar("T", bound=BaseModel)
Text = Annotated[str, Field(max_length=20_000_000)]


class BenchmarkDocument(BaseModel):
    id: Annotated[str, Field(min_length=1)]
    title: Text = ""
    text: Text
    group: str = ""


class BenchmarkQuery(BaseModel):
    id: str
    query: Annotated[str, Field(min_length=1)]
    relevant: Annotated[list[str], Field(min_length=1)]
    group: str = ""


@dataclass
class BenchmarkRankings:
    """Rankings of documents, one for each question."""

    rankings: list[Sequence[str]] = field(default_factory=list[Sequence[str]])
    seconds: list[float] = field(default_factory=list[float])

    def figures(self, questions: Sequence[BenchmarkQuery]) -> dict[str, float]:
        pairs = list(zip(self.rankings, questions, strict=True))
        return {
            "recall@5": mean(recall(ranking, question.relevant, 5) for ranking, question in pairs),
            "recall@10": mean(recall(ranking, question.relevant, 10) for ranking, question in pairs),
            "nDCG@10": mean(ndcg(ranking, question.relevant, 10) for ranking, question in pairs),
        }


def measure(corpus: Path, queries: Path, *, grouped: bool, model: str, folder: Path | None) -> dict[str, Any]:
    documents, questions = _rows(corpus, BenchmarkDocument), _rows(queries, BenchmarkQuery)
    if not grouped:
        documents = [row.model_copy(update={"group": ""}) for row in documents]
        questions = [row.model_copy(update={"group": ""}) for row in questions]
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home), models=ModelSettings(embeddings=model, folder=folder))
        return asyncio.run(_measure(settings, documents, questions))


async def _measure(
    settings: Settings, documents: Sequence[BenchmarkDocument], questions: Sequence[BenchmarkQuery]
) -> dict[str, Any]:
    gaby = build(settings)
    await asyncio.to_thread(upgrade, gaby.database)
    async with gaby.running(background=False):
        before = _memory()
        begin, spent = time.perf_counter(), time.process_time()
        places, passages = await _index(gaby, settings.home, documents)
        indexed, used = time.perf_counter() - begin, time.process_time() - spent
        ours = await _ask(gaby, places, questions)
        memory = _memory() - before
    plain = _bm25_baseline(documents, questions)
    seconds = sorted(ours.seconds)
    return {
        "documents": len(documents),
        "passages": passages,
        "queries": len(questions),
        "model": settings.models.embeddings,
        **{name: round(value, 4) for name, value in ours.figures(questions).items()},
        "plain BM25": {name: round(value, 4) for name, value in plain.figures(questions).items()},
        "index_seconds": round(indexed, 2),
        "index_cpu_seconds": round(used, 2),
        "query_ms_p50": round(median(seconds) * 1000, 1),
        "query_ms_p95": round(seconds[math.ceil(len(seconds) * 0.95) - 1] * 1000, 1),
        "memory_mb": round(memory / 1e6, 1),
    }


async def _index(
    gaby: Gaby, home: Path, documents: Sequence[BenchmarkDocument]
) -> tuple[dict[str, "_BenchmarkWorkspace"], int]:
    """Each group is a workspace of its own, so that its statistics are its own."""
    places: dict[str, _BenchmarkWorkspace] = {}
    passages = 0
    with Progress(console=SafeConsole(stderr=True), transient=True) as bar:
        task = bar.add_task("indexing", total=len(documents))
        for number, (group, rows) in enumerate(_grouped(documents).items()):
            folder = home / "corpus" / str(number)
            names = await asyncio.to_thread(_written, folder, rows)
            async with gaby.database.write(SYSTEM) as session:
                actor = system_actor("bench")
                workspace = await gaby.identity.workspaces.create(session, actor, slug=f"g{number}", name="bench")
            place = _BenchmarkWorkspace(system_actor("bench", WorkspaceId(workspace.id)), names)
            places[group] = place
            passages += await _sync(gaby, place.actor, folder, names)
            bar.advance(task, len(rows))
    return places, passages


async def _sync(gaby: Gaby, actor: Actor, folder: Path, names: Mapping[str, str]) -> int:
    components = gaby.knowledge.components
    async with gaby.database.write(actor.workspace_id) as session:
        row = await components.sources.add(session, actor, NewSource("corpus", "folder", str(folder)))
    await components.syncer.sync(actor, row.id)
    async with gaby.database.read(actor.workspace_id) as session:
        [overview] = await components.sources.list(session)
    if overview.failed:
        async with gaby.database.read(actor.workspace_id) as session:
            first = (await components.sources.failures(session, row.id, 1))[0]
        cannot = "1 document cannot" if overview.failed == 1 else f"{overview.failed} documents cannot"
        raise BadRequest(f"{cannot} be read; the first is {names[first.uri]}: {first.reason}")
    return overview.passages


@dataclass(frozen=True)
class _BenchmarkWorkspace:
    actor: Actor
    names: dict[str, str]


def _written(folder: Path, rows: Sequence[BenchmarkDocument]) -> dict[str, str]:
    folder.mkdir(parents=True)
    names: dict[str, str] = {}
    for number, row in enumerate(rows):
        name = f"{number:07}.md"
        heading = " ".join(row.title.split())
        (folder / name).write_text(f"# {heading}\n\n{row.text}\n" if heading else f"{row.text}\n", encoding="utf-8")
        names[name] = row.id
    return names


async def _ask(
    gaby: Gaby, places: dict[str, _BenchmarkWorkspace], questions: Sequence[BenchmarkQuery]
) -> BenchmarkRankings:
    measured = BenchmarkRankings()
    with Progress(console=SafeConsole(stderr=True), transient=True) as bar:
        for question in bar.track(questions, description="asking"):
            place = places.get(question.group)
            begin = time.perf_counter()
            ranking: list[str] = []
            if place is not None:
                searcher = gaby.knowledge.components.searcher
                # Several passages of a document count once, so more are asked for.
                results = await searcher.search(
                    place.actor.workspace_id, question.query, limit=3 * _DEPTH, everything=True
                )
                ranking = list(dict.fromkeys(place.names[hit.uri] for hit in results.hits))
            measured.seconds.append(time.perf_counter() - begin)
            measured.rankings.append(ranking)
    return measured


def _bm25_baseline(documents: Sequence[BenchmarkDocument], questions: Sequence[BenchmarkQuery]) -> BenchmarkRankings:
    """The simpler way: BM25 over words in small letters."""
    groups = {
        group: ([row.id for row in rows], Bm25Ranker([_words(f"{row.title} {row.text}") for row in rows]))
        for group, rows in _grouped(documents).items()
    }
    measured = BenchmarkRankings()
    for question in questions:
        ids, ranker = groups.get(question.group, ([], Bm25Ranker([])))
        terms: dict[str, float] = {}
        for word in _words(question.query):
            terms[word] = terms.get(word, 0) + 1
        scores = ranker.scores(terms)
        # What shares no word with the question is not found, wherever it stands in the corpus.
        fitting = [place for place in range(len(ids)) if scores[place] > 0]
        best = sorted(fitting, key=lambda place: (-scores[place], place))[:_DEPTH]
        measured.rankings.append([ids[place] for place in best])
    return measured


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _grouped(documents: Sequence[BenchmarkDocument]) -> dict[str, list[BenchmarkDocument]]:
    groups: dict[str, list[BenchmarkDocument]] = {}
    for row in documents:
        groups.setdefault(row.group, []).append(row)
    return groups


def _rows(path: Path, kind: type[T]) -> list[T]:
    try:
        # Only "\n" ends a row: a text may have other ends of lines in it, which JSON need not escape.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path} cannot be read: {error}") from error
    rows: list[T] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                rows.append(kind.model_validate_json(line))
            except ValidationError as error:
                first = error.errors(include_input=False, include_url=False)[0]
                where = ".".join(map(str, first["loc"])) or "the line"
                raise BadRequest(f"{path}, line {number}: {where}: {first['msg']}.") from None
    if not rows:
        raise BadRequest(f"{path} has no rows. Write one JSON object on each line.")
    return rows


def _memory() -> int:
    """What the process holds at the moment; where the system does not tell, what it held at most."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
