"""On tables of secrets, ids and look-alikes in many spellings and languages: how much is found, and how little else."""

from collections.abc import Iterable

import pytest

from gaby.safety.redaction import ALL_KINDS, SpanCertainty, recognise
from tests.safety.redaction.marked_table import MarkedText, load

pytestmark = pytest.mark.promise("S5")

_SLACK = 3
"""So many characters too many are punctuation; more would take away what a reader needs."""


class Tally:
    def __init__(self, texts: Iterable[MarkedText]) -> None:
        self.missed: list[str] = []
        self.wrong: list[str] = []
        self.marks = self.spans = 0
        for text in texts:
            self._count(text)

    @property
    def recall(self) -> float:
        return 1 - len(self.missed) / self.marks

    @property
    def precision(self) -> float:
        return 1 - len(self.wrong) / self.spans

    def _count(self, marked: MarkedText) -> None:
        spans = recognise(marked.text, ALL_KINDS, at_least=SpanCertainty.LIKELY)
        covered = {place for span in spans for place in range(span.start, span.end)}
        wanted = {place for start, end, _ in marked.marks for place in range(start, end)}
        self.marks += len(marked.marks)
        self.spans += len(spans)
        self.missed += [
            marked.text[start:end] for start, end, _ in marked.marks if not covered.issuperset(range(start, end))
        ]
        for span in spans:
            extra = set(range(span.start, span.end)) - wanted
            if len(extra) > _SLACK or len(extra) == span.end - span.start:
                self.wrong.append(f"{span.kind}: {marked.text[span.start : span.end]!r} in {marked.text!r}")


@pytest.mark.parametrize("part", ["", "held_out_"])
def test_nearly_every_secret_is_found_and_nearly_nothing_else(part: str) -> None:
    tally = Tally([*load(f"{part}secrets.txt"), *load(f"{part}look_alikes.txt")])
    assert tally.recall >= 0.98, tally.missed
    # Each rule stands for a few lines of the table, so that one that breaks would hide in the figure.
    assert tally.missed == []
    assert tally.precision >= 0.98, tally.wrong


def test_the_tables_are_large_enough_to_tell() -> None:
    marks = [mark for part in ("", "held_out_") for text in load(f"{part}secrets.txt") for mark in text.marks]
    look_alikes = [text for part in ("", "held_out_") for text in load(f"{part}look_alikes.txt")]
    assert len(marks) >= 300
    assert len(look_alikes) >= 200
    assert {kind for _, _, kind in marks} <= ALL_KINDS
    assert not any(text.marks for text in look_alikes)
