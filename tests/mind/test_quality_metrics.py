"""The figures of the offline mind hold, and stand above what something simpler reaches."""

import pytest
from evals.mind.labelled_data import marked_texts, needs, summary_cases, tools, verdict_cases
from evals.mind.metrics import QualityMetric, measure

from gaby.llm.embeddings.embed import Embed
from gaby.mind.entities import KINDS
from gaby.mind.package_data import rows_of

pytestmark = pytest.mark.promise("G2")


@pytest.fixture(scope="module")
def figures(embed: Embed) -> list[QualityMetric]:
    return measure(embed)


def test_every_figure_is_above_its_floor(figures: list[QualityMetric]) -> None:
    assert [figure for figure in figures if not figure.holds] == []


def test_every_part_is_measured(figures: list[QualityMetric]) -> None:
    parts = {"entities", "triage", "tool choice", "summaries", "verdicts"}
    assert {figure.part for figure in figures} == parts
    assert {f"F1 of {kind}" for kind in KINDS} <= {figure.measure for figure in figures}


def test_each_is_better_than_its_baseline(figures: list[QualityMetric]) -> None:
    assert all(figure.value > figure.baseline for figure in figures if figure.baseline is not None)
    assert sum(figure.baseline is not None for figure in figures) >= 8


def test_the_sets_are_large_enough_to_mean_something() -> None:
    sizes = [*map(len, (list(marked_texts()), needs(), tools()))]
    assert min(*sizes, len(list(summary_cases())), len(list(verdict_cases()))) >= 30


def test_what_the_mind_learns_from_is_not_what_it_is_measured_by() -> None:
    learned = {row["text"] for row in rows_of("triage.jsonl")}
    asked = {need for need, _ in needs()} | {case.text for case in marked_texts()}
    assert learned.isdisjoint(asked)
