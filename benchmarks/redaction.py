"""How much of the personal data in a labelled set of texts is taken out, by type, and how much else goes with it.

    python -m benchmarks.redaction --data DIR

DIR holds synth.jsonl, a text on each line: {"text": …, "spans": [[type, start, end], …]}.

Gaby claims the types that have a form of their own. Names of people are known from the ticket (`Dictionary`), places
and organisations are not taken out; those types are printed as what they are: not claimed.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gaby.safety.redaction import ALL_KINDS, Kind, SpanCertainty, recognise

CLAIMED: dict[str, frozenset[Kind]] = {
    "CREDIT_CARD": frozenset({"card"}),
    "EMAIL_ADDRESS": frozenset({"email"}),
    "IBAN_CODE": frozenset({"iban"}),
    "IP_ADDRESS": frozenset({"ip"}),
    "PHONE_NUMBER": frozenset({"phone"}),
    "US_DRIVER_LICENSE": frozenset({"national_id"}),
    "US_SSN": frozenset({"national_id"}),
}
FLOOR = {"Presidio, default": (0.69, 0.60), "Presidio, customised": (0.87, 0.84)}
"""Precision and recall over all types, as the data's own README gives them."""
SLACK = 3


@dataclass
class Figures:
    labels: int = 0
    found: int = 0
    """Labels that are covered as a whole."""
    spans: int = 0
    right: int = 0
    """Spans that cover a label and at most a few characters more."""
    missed: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])

    @property
    def recall(self) -> float:
        return self.found / self.labels if self.labels else 1.0

    @property
    def precision(self) -> float:
        return self.right / self.spans if self.spans else 1.0


def measure(records: Iterable[dict[str, Any]], at_least: SpanCertainty) -> dict[str, Figures]:
    figures: dict[str, Figures] = {}
    for record in records:
        text, labels = record["text"], [(str(name), int(start), int(end)) for name, start, end in record["spans"]]
        spans = recognise(text, ALL_KINDS, at_least=at_least)
        covered = {place for span in spans for place in range(span.start, span.end)}
        for name, start, end in labels:
            one = figures.setdefault(name, Figures())
            one.labels += 1
            if covered.issuperset(range(start, end)):
                one.found += 1
            else:
                one.missed.append(f"{text[start:end]!r} in {text[max(0, start - 40) : end + 20]!r}")
        marked = {place for _, start, end in labels for place in range(start, end)}
        for span in spans:
            # A span is counted for the type that its kind stands for, whether or not something is labelled there.
            name = next((name for name, kinds in CLAIMED.items() if span.kind in kinds), span.kind)
            one = figures.setdefault(name, Figures())
            one.spans += 1
            extra = [place for place in range(span.start, span.end) if place not in marked]
            if len(extra) <= SLACK and len(extra) < span.end - span.start:
                one.right += 1
            else:
                one.wrong.append(
                    f"{text[span.start : span.end]!r} in {text[max(0, span.start - 40) : span.end + 20]!r}"
                )
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with synth.jsonl")
    parser.add_argument("--json", action="store_true", help="print only the figures, as JSON")
    parser.add_argument("--examples", action="store_true", help="also print what was missed and what was too much")
    options = parser.parse_args()
    lines = (options.data / "synth.jsonl").read_text(encoding="utf-8").splitlines()
    figures = measure([json.loads(line) for line in lines if line], SpanCertainty.LIKELY)
    if options.json:
        print(json.dumps({name: _row(one) for name, one in figures.items()}))
    else:
        print(_table(figures))
    if options.examples:
        for name in CLAIMED:
            one = figures.get(name, Figures())
            print(*(f"{name} missed {text}" for text in one.missed), sep="\n")
            print(*(f"{name} too much {text}" for text in one.wrong), sep="\n")
    return 0


def _row(one: Figures) -> dict[str, float]:
    return {"labels": one.labels, "spans": one.spans, "precision": one.precision, "recall": one.recall}


def _table(figures: dict[str, Figures]) -> str:
    lines = [f"{'type':20} {'labels':>6} {'spans':>6} {'precision':>9} {'recall':>7}"]
    total = Figures()
    for name, one in sorted(figures.items(), key=lambda item: (item[0] not in CLAIMED, item[0])):
        claimed = name in CLAIMED
        lines.append(
            f"{name:20} {one.labels:6} {one.spans:6} {one.precision:9.3f} {one.recall:7.3f}"
            f"{'' if claimed else '  not claimed'}"
        )
        if claimed:
            total.labels, total.found = total.labels + one.labels, total.found + one.found
            total.spans, total.right = total.spans + one.spans, total.right + one.right
    lines.append(f"{'claimed types':20} {total.labels:6} {total.spans:6} {total.precision:9.3f} {total.recall:7.3f}")
    lines += [f"{name:34} {precision:9.3f} {recall:7.3f}  all types" for name, (precision, recall) in FLOOR.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
