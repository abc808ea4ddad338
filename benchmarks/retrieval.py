"""Retrieval: how much of what answers is found, next to plain BM25 in the same run, and how honestly nothing is said.

    python -m benchmarks.retrieval --data DIR [--model local/both] [--json]
    python -m benchmarks.retrieval --data DIR --choose

The index is one in memory that fills pools as the real one does. Recall and nDCG are of documents, in percent.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.retrieval_choosing import choose
from benchmarks.retrieval_data import Task, tasks
from benchmarks.retrieval_honesty import decisions
from benchmarks.retrieval_index import Corpus, corpus_of, plain_words, ranking_by_words, without_stop_words
from gaby.knowledge.retrieval.metrics import ndcg, recall
from gaby.knowledge.retrieval.query_expansion import questions
from gaby.knowledge.retrieval.ranking import rank
from gaby.knowledge.retrieval.weights import DEFAULT
from gaby.knowledge.terms import terms
from gaby.llm.embeddings.local import DEFAULT as DEFAULT_MODEL
from gaby.llm.embeddings.local import find_embedder

PASSAGES = 40
"""That are ranked, so that ten documents are among them."""
BASELINES: dict[str, Callable[[str], list[str]]] = {
    "BM25, plain words": plain_words,
    "BM25, no stop words": without_stop_words,
    "BM25, our terms": terms,
}
Figures = dict[str, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with banking_kb, tools and runbooks")
    parser.add_argument("--model", default=DEFAULT_MODEL, help="the embedding model, such as local/both")
    parser.add_argument("--json", action="store_true", help="print only the figures, as JSON")
    parser.add_argument("--choose", action="store_true", help="choose the weights, each set by the others")
    options = parser.parse_args()
    embed = find_embedder(options.model, threads=2).embed
    read = [(task, corpus_of(task.documents, options.model, embed)) for task in tasks(options.data)]
    if options.choose:
        for line in choose(read):
            print(line, flush=True)
        return 0
    figures: dict[str, Any] = {task.name: _measured(task, corpus) for task, corpus in read}
    if options.model == DEFAULT_MODEL:  # Confidence is fitted to its cosines.
        figures["honesty"] = decisions(read)
    print(json.dumps(figures) if options.json else _report_text(figures, options.model))
    return 0


def _measured(task: Task, corpus: Corpus) -> dict[str, Figures]:
    found = {
        name: measured_figures(ranking_by_words(task.documents, task.questions, tokens), task.wanted)
        for name, tokens in BASELINES.items()
    }
    pools = [(queries, corpus.pool(queries)) for queries in map(questions, task.questions)]
    everything = replace(DEFAULT, threshold=0.0)
    begin = time.process_time()
    ranked = [rank(queries, pool, limit=PASSAGES, weights=everything) for queries, pool in pools]
    spent = time.process_time() - begin
    ours = measured_figures([list(dict.fromkeys(each.passage.document for each in one)) for one in ranked], task.wanted)
    cost = {
        "ms": round(spent / len(pools) * 1000, 1),
        "queries": round(sum(len(queries) for queries, _ in pools) / len(pools), 1),
        "pool": round(sum(len(pool.candidates) for _, pool in pools) / len(pools)),
    }
    return {**found, "ours": ours | cost}


def measured_figures(rankings: Iterable[Sequence[int]], wanted: Iterable[set[int]]) -> Figures:
    pairs = [(found, right) for found, right in zip(rankings, wanted, strict=True) if right]
    return {
        "recall@5": _percent([recall(found, right, 5) for found, right in pairs]),
        "recall@10": _percent([recall(found, right, 10) for found, right in pairs]),
        "ndcg@10": _percent([ndcg(found, right, 10) for found, right in pairs]),
    }


def _percent(values: Sequence[float]) -> float:
    return round(sum(values) / len(values) * 100, 1)


def _report_text(figures: dict[str, Any], model: str) -> str:
    lines: list[str] = []
    for name, found in figures.items():
        if name == "honesty":
            continue
        lines.append(f"{name:24} {'recall@5':>9} {'recall@10':>10} {'nDCG@10':>8}")
        for way, figure in found.items():
            shown = f"ours, {model}" if way == "ours" else way
            lines.append(f"{shown:24} {figure['recall@5']:9} {figure['recall@10']:10} {figure['ndcg@10']:8}")
        ours = found["ours"]
        for way in list(BASELINES)[:2]:
            times = [f"{ours[each] / found[way][each]:.2f}" for each in ("recall@5", "recall@10", "ndcg@10")]
            lines.append(f"{'times ' + way:24} {times[0]:>9} {times[1]:>10} {times[2]:>8}")
        lines += [f"{ours['queries']} queries, {ours['pool']} passages and {ours['ms']} ms of ranking a question", ""]
    if "honesty" in figures:
        lines.append(f"Whether anything is returned, at confidence {DEFAULT.threshold}:")
        lines += [f"  {told}" for told in figures["honesty"]["told"]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
