"""Chance that comes out the same every time: for sequences that can be repeated, and in place of real randomness."""

from collections.abc import Sequence
from hashlib import shake_256
from typing import TypeVar

T = TypeVar("T")


class Dice:
    def __init__(self, name: str) -> None:
        self.turn_to(name)

    def turn_to(self, name: str) -> None:
        """Begin the stream of this name. The same name always gives the same stream."""
        self._name = name
        self._count = 0

    def __call__(self, count: int) -> bytes:
        self._count += 1
        return shake_256(f"{self._name} {self._count}".encode()).digest(count)

    def pick(self, options: Sequence[T]) -> T:
        return options[int.from_bytes(self(8), "big") % len(options)]
