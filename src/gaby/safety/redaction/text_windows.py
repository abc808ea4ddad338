"""Long texts in overlapping windows: one call of a pattern on a megabyte would hold every other thread meanwhile."""

from collections.abc import Iterator
from typing import NamedTuple

WINDOW = 16_384
OVERLAP = 4096
"""Longer than anything that is recognised, with the words before it."""
EDGE = 64
"""What is found so near to a cut may be a piece of something else. The next window sees it whole."""


class TextWindow(NamedTuple):
    start: int
    end: int
    is_first: bool
    is_last: bool

    def is_at_start(self, place: int) -> bool:
        """Whether a place in this window is too near to where the text was cut before it."""
        return not self.is_first and place < EDGE

    def is_at_end(self, place: int) -> bool:
        return not self.is_last and place > self.end - self.start - EDGE


def windows(text: str) -> Iterator[TextWindow]:
    start = 0
    while True:
        end = min(len(text), start + WINDOW)
        yield TextWindow(start, end, start == 0, end == len(text))
        if end == len(text):
            return
        start = end - OVERLAP
