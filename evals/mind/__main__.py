"""`python -m evals.mind`: the quality of each part of the offline mind, beside a simpler way to do the same."""

import argparse
import json
import sys
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from evals.mind.metrics import QualityMetric, measure
from gaby.llm.embeddings.local_embed import LocalEmbed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="local/wordllama", help="the embedding model, such as local/minilm")
    parser.add_argument("--json", action="store_true", help="print JSON, with every kind of entity")
    options = parser.parse_args()
    metrics = measure(LocalEmbed(model=options.model))
    if options.json:
        print(json.dumps([asdict(metric) for metric in metrics]))
    else:
        _show(metrics)
    return 0 if all(metric.holds for metric in metrics) else 1


def _show(metrics: list[QualityMetric]) -> None:
    table = Table("part", "measure", "value", "simpler way", "at least", "cases", box=None)
    for metric in metrics:
        # Of each kind of entity, F1 is enough for a terminal.
        if not metric.measure.startswith(("precision of ", "recall of ")):
            baseline = "" if metric.baseline is None else f"{metric.baseline:.3f}"
            table.add_row(
                metric.part, metric.measure, f"{metric.value:.3f}", baseline, f"{metric.floor}", f"{metric.cases}"
            )
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
