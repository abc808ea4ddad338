"""Honest measures of each part of the offline mind on its labelled set, with a plain baseline beside them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evals.mind import labelled_data
from evals.mind.labelled_data import Mark, SummaryCase
from gaby.llm.embeddings.embed import Embed
from gaby.mind.bm25 import Bm25Ranker
from gaby.mind.entities import KINDS, extract
from gaby.mind.summaries import CitedSentence, summarise
from gaby.mind.tool_choice import ToolCard, choose
from gaby.mind.triage import INTENTS, triage
from gaby.mind.verdicts import judge
from gaby.mind.words import terms


class MetricScore(NamedTuple):
    part: str
    measure: str
    value: float
    cases: int
    baseline: float | None = None
    """What something much simpler reaches on the same cases."""


def entities() -> Iterator[MetricScore]:
    marks: set[tuple[int, Mark]] = set()
    wanted: set[tuple[int, Mark]] = set()
    for place, case in enumerate(labelled_data.marked_texts()):
        marks |= {(place, (entity.kind, entity.start, entity.end)) for entity in extract(case.text)}
        wanted |= {(place, mark) for mark in case.marks}
    for kind in ("all", *KINDS):
        ours = {each for each in marks if kind in {"all", each[1][0]}}
        theirs = {each for each in wanted if kind in {"all", each[1][0]}}
        precision, recall = _share(len(ours & theirs), len(ours)), _share(len(ours & theirs), len(theirs))
        for measure, value in (("precision", precision), ("recall", recall), ("F1", _f1(precision, recall))):
            yield MetricScore("entities", f"{measure} of {kind}", value, len(theirs))


def tickets(embed: Embed) -> Iterator[MetricScore]:
    rows = labelled_data.triage_rows()
    results = [triage(row["text"], embed) for row in rows]
    intents = [(result.intent, row["intent"]) for result, row in zip(results, rows, strict=True)]
    urgencies = [(result.urgency, row["urgency"]) for result, row in zip(results, rows, strict=True)]
    worth = [(result.worth_investigating, row["worth"]) for result, row in zip(results, rows, strict=True)]
    lost = sum(wanted and not predicted for predicted, wanted in worth)
    yield MetricScore("triage", "intent accuracy", _right(intents), len(rows), _majority(row["intent"] for row in rows))
    yield MetricScore(
        "triage", "intent macro F1", _macro_f1(intents), len(rows), _macro_f1([("bug", b) for _, b in intents])
    )
    sure = [pair for pair, result in zip(intents, results, strict=True) if result.confidence >= 0.5]
    yield MetricScore("triage", "intent accuracy where confident", _right(sure), len(sure))
    yield MetricScore(
        "triage", "urgency accuracy", _right(urgencies), len(rows), _majority(row["urgency"] for row in rows)
    )
    yield MetricScore(
        "triage", "worth investigating accuracy", _right(worth), len(rows), _majority(b for _, b in worth)
    )
    yield MetricScore("triage", "share of worthy tickets kept", 1 - _share(lost, sum(b for _, b in worth)), len(rows))


def choices(embed: Embed) -> Iterator[MetricScore]:
    cards = labelled_data.tools()
    needs = labelled_data.needs()
    chosen = [[each.name for each in choose(need, cards, extract(need), embed, 5)] for need, _ in needs]
    ranker = Bm25Ranker([terms(f"{card.name} {card.description}") for card in cards])
    plain = [_by_words_alone(ranker, need, cards) for need, _ in needs]
    for limit in (1, 5):
        wanted = [tools for _, tools in needs]
        yield MetricScore(
            "tool choice", f"recall@{limit}", _recall(chosen, wanted, limit), len(needs), _recall(plain, wanted, limit)
        )


def _by_words_alone(ranker: Bm25Ranker, need: str, cards: Sequence[ToolCard]) -> list[str]:
    best = np.argsort(-ranker.scores(Counter(terms(need))), kind="stable")[:5]
    return [cards[int(place)].name for place in best]


def summaries(embed: Embed) -> Iterator[MetricScore]:
    cases = list(labelled_data.summary_cases())
    by_case = [summarise(case.question, case.passages, embed, 4).sentences for case in cases]
    facts = [(fact, sentences) for case, sentences in zip(cases, by_case, strict=True) for fact in case.facts]
    opening = [(fact, _first_sentences(case)) for case in cases for fact in case.facts]
    copied = [
        _is_copied(sentence, case) for case, sentences in zip(cases, by_case, strict=True) for sentence in sentences
    ]
    nothing = [not sentences for case, sentences in zip(cases, by_case, strict=True) if not case.facts]
    covered, first = (
        sum(_contains_fact(fact, summary_sentences) for fact, summary_sentences in each) for each in (facts, opening)
    )
    yield MetricScore("summaries", "facts covered", _share(covered, len(facts)), len(facts), _share(first, len(facts)))
    yield MetricScore("summaries", "verbatim with the right source", _share(sum(copied), len(copied)), len(copied))
    yield MetricScore("summaries", "silent when nothing fits", _share(sum(nothing), len(nothing)), len(nothing), 0.0)


def verdicts() -> Iterator[MetricScore]:
    cases = list(labelled_data.verdict_cases())
    right = sum(judge(case).verdict == wanted for case, wanted in cases)
    yield MetricScore(
        "verdicts", "accuracy", _share(right, len(cases)), len(cases), _majority(wanted for _, wanted in cases)
    )


def _contains_fact(fact: CitedSentence, sentences: Iterable[CitedSentence]) -> bool:
    return any(fact.text in each.text and fact.citations[0] in each.citations for each in sentences)


def _first_sentences(case: SummaryCase) -> list[CitedSentence]:
    """The baseline: how each source begins, as long as a sentence or two."""
    return [CitedSentence(passage.text[:120], (passage.citation,)) for passage in case.passages[:4]]


def _is_copied(sentence: CitedSentence, case: SummaryCase) -> bool:
    """Every word and number of it stands in each of its sources, in prose as one piece."""
    texts = {passage.citation: passage.text for passage in case.passages}
    wanted = set(re.findall(r"[A-Za-z0-9]+", sentence.text))
    helping = {"first", "last", "lowest", "highest", "yes", "no", "and", "more"}
    for citation in sentence.citations:
        source = " ".join(texts.get(citation, "").split())
        if sentence.text in source:
            continue
        if not (wanted - helping) <= set(re.findall(r"[A-Za-z0-9]+", source.replace("_", " "))) | set(
            re.findall(r"[A-Za-z0-9]+", source)
        ):
            return False
    return bool(sentence.citations)


def _recall(chosen: Sequence[Sequence[str]], wanted: Sequence[frozenset[str]], limit: int) -> float:
    """At 1: whether the first is one of those that are wanted."""
    hits = [
        len(tools & set(names[:limit])) / min(limit, len(tools)) for names, tools in zip(chosen, wanted, strict=True)
    ]
    return _share(sum(hits), len(hits))


def _right(pairs: Sequence[tuple[object, object]]) -> float:
    return _share(sum(predicted == wanted for predicted, wanted in pairs), len(pairs))


def _majority(labels: Iterable[object]) -> float:
    counted = Counter(labels)
    return _share(max(counted.values()), counted.total())


def _macro_f1(pairs: Sequence[tuple[str, str]]) -> float:
    values: list[float] = []
    for label in INTENTS:
        both = sum(predicted == wanted == label for predicted, wanted in pairs)
        predicted, wanted = sum(a == label for a, _ in pairs), sum(b == label for _, b in pairs)
        values.append(_f1(_share(both, predicted), _share(both, wanted)))
    return _share(sum(values), len(values))


def _f1(precision: float, recall: float) -> float:
    return round(2 * precision * recall / (precision + recall), 3) if precision + recall else 0.0


def _share(part: float, whole: float) -> float:
    return round(part / whole, 3) if whole else 1.0
