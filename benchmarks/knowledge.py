"""Knowledge at scale: indexing beside the bare embedder, questions to 50,000 passages, memory, and a sync without news.

Documents are made of Gaby's own pages and sources, cut and mixed, so that words are as common as in real texts. Every
part runs in a process of its own. `--passages N` asks another size.
"""

import argparse
import asyncio
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from gaby.app import Gaby, build
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.knowledge.collection import KnowledgeCollection
from gaby.knowledge.new_source import NewSource
from gaby.llm.embeddings.embed import EmbedTexts
from gaby.llm.embeddings.local import DEFAULT
from gaby.llm.embeddings.minilm import MiniLM
from gaby.llm.setups import parse_ref
from gaby.migrations import upgrade
from gaby.settings import Settings

ROOT = Path(__file__).parent.parent
FILES = 5_000
INDEXED = 2_000
INDEXED_SLOWLY = 24
QUESTIONS = 40
PARAGRAPHS = 8
PASSAGES_PER_FILE = 5
"""About so many come out of eight paragraphs."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print only the figures, as JSON")
    parser.add_argument("--passages", type=int, default=50_000, help="a smaller number makes every part smaller")
    parser.add_argument("--measure", choices=MEASURES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(asyncio.run(MEASURES[options.measure](options.passages))))
        return 0
    figures = {name: _alone(name, options.passages) for name in MEASURES}
    print(json.dumps(figures) if options.json else _report_text(figures))
    return 0


def _alone(name: str, passages: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.knowledge", "--measure", name, "--passages", str(passages)]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.splitlines()[-1])


def _report_text(figures: dict[str, dict[str, Any]]) -> str:
    return "\n".join(f"{part}: {name} {value}" for part, of in figures.items() for name, value in of.items())


async def _indexing(passages: int) -> dict[str, Any]:
    return await _indexed(DEFAULT, min(INDEXED, passages))


async def _indexing_by_transformer(passages: int) -> dict[str, Any]:
    """With a model that takes its time, the rest must be done beside it."""
    return await _indexed(MiniLM.name, min(INDEXED_SLOWLY, passages))


async def _indexed(model: str, files: int) -> dict[str, Any]:
    """Passages a second through the whole pipeline, against the embedder alone: the same model in the same process, and
    the same texts in batches of the same size. The embedder comes second, so it has seen every word before."""
    with tempfile.TemporaryDirectory() as home:
        folder, warm = Path(home, "docs"), Path(home, "warm")
        await asyncio.to_thread(write, folder, files)
        await asyncio.to_thread(write, warm, 2)
        async with opened(Path(home)) as (gaby, actor):
            async with gaby.database.write(actor.workspace_id) as session:
                await gaby.models.route(session, actor, "embeddings", (parse_ref(model),))
            await gaby.models.reindex()
            await synced(gaby, actor, "warm", warm)
            with spending() as whole:
                count = await synced(gaby, actor, "docs", folder)
            knowledge = KnowledgeCollection()
            async with gaby.database.read(actor.workspace_id) as session:
                written = [text for _, text in await knowledge.batch(session, None, 10**6)][-count:]
            spoken = [knowledge.spoken(model, text) for text in written]
            with spending() as alone:
                _embed_all(gaby.models.embeddings.local(model), spoken)
            figures = {
                "passages": count,
                "passages_per_second": round(count / whole.seconds),
                "cpu_ms_per_passage": round(whole.cpu / count * 1000, 2),
                "embedder_alone_per_second": round(count / alone.seconds),
                "share_of_the_embedder": round(alone.seconds / whole.seconds, 2),
                "share_of_the_embedder_by_cpu": round(alone.cpu / whole.cpu, 2),
            }
            if model == DEFAULT:
                # It is given the words that say something; this is how fast it would read the passages as they stand.
                with spending() as as_written:
                    _embed_all(gaby.models.embeddings.local(model), written)
                figures["embedder_alone_on_whole_texts_per_second"] = round(count / as_written.seconds)
                figures["share_of_the_embedder_on_whole_texts"] = round(as_written.seconds / whole.seconds, 2)
            return figures


def _embed_all(embed: EmbedTexts, texts: Sequence[str]) -> None:
    for start in range(0, len(texts), 256):
        embed(texts[start : start + 256])


async def _asking(passages: int) -> dict[str, Any]:
    """Questions of a sentence, and whole tickets, to a workspace of that size; and what a passage costs in memory."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "docs")
        texts = await asyncio.to_thread(write, folder, int(passages / PASSAGES_PER_FILE))
        async with opened(Path(home)) as (gaby, actor):
            count = await synced(gaby, actor, "docs", folder)
        # Anew, as a server would after a restart: only what searching needs is in memory.
        async with opened(Path(home)) as (gaby, actor):
            await asked(gaby, actor, "warm up the models before anything is measured", empty=True)
            before = memory()
            first = await timed(gaby, actor, ["what does the guard refuse, and why?"])
            dice = random.Random(3)
            short = [" ".join(dice.choice(texts).split()[:12]) for _ in range(QUESTIONS)]
            long = [" ".join(" ".join(dice.sample(texts, 3)).split()[:250]) for _ in range(QUESTIONS // 4)]
            questions, tickets = await timed(gaby, actor, short), await timed(gaby, actor, long)
            grown = memory() - before
    return {
        "passages": count,
        "first_question_s": round(first[0], 2),
        "question_ms_p50": round(median(questions) * 1000, 1),
        "question_ms_p95": round(sorted(questions)[int(len(questions) * 0.95)] * 1000, 1),
        "ticket_ms_p50": round(median(tickets) * 1000, 1),
        "bytes_of_memory_per_passage": round(grown / count),
    }


async def _again(passages: int) -> dict[str, Any]:
    """A folder in which nothing changed."""
    files = min(FILES, passages)
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "docs")
        await asyncio.to_thread(write, folder, files)
        async with opened(Path(home)) as (gaby, actor):
            begin = time.perf_counter()
            await synced(gaby, actor, "docs", folder)
            first = time.perf_counter() - begin
            async with gaby.database.read(actor.workspace_id) as session:
                row = await gaby.knowledge.components.sources.named(session, "docs")
            begin = time.perf_counter()
            await gaby.knowledge.components.syncer.sync(actor, row.id)
            second = time.perf_counter() - begin
    return {"files": files, "first_sync_s": round(first, 2), "sync_without_news_s": round(second, 2)}


MEASURES = {
    "indexing": _indexing,
    "indexing by a transformer": _indexing_by_transformer,
    "asking": _asking,
    "nothing new": _again,
}


@dataclass
class Spent:
    seconds: float = 0.0
    cpu: float = 0.0


@contextmanager
def spending() -> Generator[Spent]:
    spent = Spent()
    cpu, begin = time.process_time(), time.perf_counter()
    yield spent
    spent.seconds, spent.cpu = time.perf_counter() - begin, time.process_time() - cpu


@asynccontextmanager
async def opened(home: Path) -> AsyncGenerator[tuple[Gaby, Actor]]:
    gaby = build(Settings(home=home / "gaby"))
    await asyncio.to_thread(upgrade, gaby.database)
    async with gaby.running(background=False):
        async with gaby.database.write(SYSTEM) as session:
            workspaces = await gaby.identity.workspaces.all(session)
            actor = system_actor("bench")
            place = (
                workspaces[0]
                if workspaces
                else await gaby.identity.workspaces.create(session, actor, slug="bench", name="bench")
            )
        yield gaby, system_actor("bench", WorkspaceId(place.id))


async def synced(gaby: Gaby, actor: Actor, name: str, folder: Path) -> int:
    components = gaby.knowledge.components
    async with gaby.database.write(actor.workspace_id) as session:
        row = await components.sources.add(session, actor, NewSource(name, "folder", str(folder)))
    await components.syncer.sync(actor, row.id)
    async with gaby.database.read(actor.workspace_id) as session:
        return (await components.sources.overview(session, row.id)).passages


async def timed(gaby: Gaby, actor: Actor, questions: Sequence[str]) -> list[float]:
    seconds: list[float] = []
    for question in questions:
        begin = time.perf_counter()
        await asked(gaby, actor, question)
        seconds.append(time.perf_counter() - begin)
    return seconds


async def asked(gaby: Gaby, actor: Actor, question: str, *, empty: bool = False) -> None:
    if empty:
        await gaby.models.embeddings.embed(actor.workspace_id, [question])
        return
    results = await gaby.knowledge.components.searcher.search(actor.workspace_id, question, everything=True)
    assert results.hits


def write(folder: Path, count: int) -> list[str]:
    """So many files, each of a few paragraphs from anywhere; gives some of the paragraphs."""
    files = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py")])
    text = "\n\n".join(file.read_text(encoding="utf-8") for file in files if "node_modules" not in file.parts)
    paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n", text) if len(each) > 80]
    dice = random.Random(1)
    for number in range(count):
        name = folder / str(number % 50) / f"{number}.md"
        name.parent.mkdir(parents=True, exist_ok=True)
        chosen = [dice.choice(paragraphs)[:900] for _ in range(PARAGRAPHS)]
        sections = "\n\n".join(f"## Part {place} of {number}\n\n{each}" for place, each in enumerate(chosen))
        name.write_text(f"# Page {number}\n\n{sections}\n", encoding="utf-8")
    return paragraphs[:500]


def memory() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    raise SystemExit(main())
