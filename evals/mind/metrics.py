"""How good the offline mind is, in figures with floors that the tests hold it to."""

from dataclasses import dataclass
from itertools import chain

from evals.mind import scoring
from gaby.llm.embeddings.embed import Embed


@dataclass(frozen=True)
class QualityMetric:
    part: str
    measure: str
    value: float
    cases: int
    floor: float
    """What must hold with the embedding model that comes with Gaby. Of what is invented it is the most."""
    baseline: float | None = None

    @property
    def holds(self) -> bool:
        return self.value >= self.floor


_FLOORS: dict[tuple[str, str], float] = {
    ("triage", "intent accuracy"): 0.62,
    ("triage", "intent macro F1"): 0.6,
    ("triage", "intent accuracy where confident"): 0.85,
    ("triage", "urgency accuracy"): 0.7,
    ("triage", "worth investigating accuracy"): 0.85,
    ("triage", "share of worthy tickets kept"): 1.0,
    ("tool choice", "recall@1"): 0.85,
    ("tool choice", "recall@5"): 0.93,
    ("summaries", "facts covered"): 0.8,
    ("summaries", "verbatim with the right source"): 1.0,
    ("summaries", "silent when nothing fits"): 1.0,
    ("verdicts", "accuracy"): 0.95,
}
_ENTITY_FLOOR = 0.9
_LESS_CERTAIN = {"recall of username": 0.75, "F1 of username": 0.85, "recall of ip": 0.75, "F1 of ip": 0.85}


def measure(embed: Embed) -> list[QualityMetric]:
    scores = chain(
        scoring.entities(),
        scoring.tickets(embed),
        scoring.choices(embed),
        scoring.summaries(embed),
        scoring.verdicts(),
    )
    return [
        QualityMetric(score.part, score.measure, score.value, score.cases, _floor(score), score.baseline)
        for score in scores
    ]


def _floor(score: scoring.MetricScore) -> float:
    if score.part == "entities":
        return _LESS_CERTAIN.get(score.measure, _ENTITY_FLOOR)
    return _FLOORS[score.part, score.measure]
