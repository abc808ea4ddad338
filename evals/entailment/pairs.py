"""The labelled pairs, and what a judge of them is worth."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PAIRS = Path(__file__).with_name("pairs.jsonl")


@dataclass(frozen=True)
class Pair:
    id: str
    lang: str
    sentence: str
    source: str
    supported: bool
    wrong: str
    """The detail that is wrong, such as a quantity or a negation. Empty when nothing is."""


def read_pairs(path: Path = PAIRS) -> list[Pair]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    pairs = [
        Pair(row["id"], row["lang"], row["sentence"], row["source"], row["label"] == "supported", row["wrong"])
        for row in rows
    ]
    return sorted(pairs, key=_place)


def _place(pair: Pair) -> tuple[bool, str]:
    """The two versions of a sentence far apart, and which comes first by chance: side by side, each tells the other."""
    item, _, version = pair.id.rpartition("-")
    later = (int(_digest(item), 16) % 2 == 0) == (version == "a")
    return later, _digest(pair.id)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Figures:
    pairs: int
    true_kept: float
    """The share of true sentences that the judge lets stand."""
    false_caught: float
    """The share of wrong sentences that it turns down."""
    right_by_language: dict[str, float]
    missed: dict[str, int]
    """Wrong sentences that it lets stand, by what is wrong in them."""


def measured(pairs: Sequence[Pair], verdicts: Mapping[str, bool]) -> Figures:
    """`verdicts`: for each pair's id, whether the judge calls it supported."""
    true = [pair for pair in pairs if pair.supported]
    false = [pair for pair in pairs if not pair.supported]
    by_language = {
        lang: [pair for pair in pairs if pair.lang == lang] for lang in sorted({pair.lang for pair in pairs})
    }
    return Figures(
        pairs=len(pairs),
        true_kept=_share([verdicts[pair.id] for pair in true]),
        false_caught=_share([not verdicts[pair.id] for pair in false]),
        right_by_language={
            lang: _share([verdicts[pair.id] == pair.supported for pair in some]) for lang, some in by_language.items()
        },
        missed=dict(Counter(pair.wrong for pair in false if verdicts[pair.id]).most_common()),
    )


def _share(values: Sequence[bool]) -> float:
    return round(sum(values) / max(1, len(values)), 3)
