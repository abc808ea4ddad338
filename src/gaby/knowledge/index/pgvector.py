"""Vectors as pgvector writes them: `[0.1,0.2]`."""

import sys
from array import array


def to_text(vector: bytes) -> str:
    # Nine digits are enough to get the same float32 back.
    return f"[{','.join([f'{value:.9g}' for value in _numbers(vector)])}]"


def from_text(text: str) -> bytes:
    numbers = array("f", map(float, text.strip("[]").split(",")))
    return _little(numbers).tobytes()


def _numbers(vector: bytes) -> "array[float]":
    numbers = array("f")
    numbers.frombytes(vector)
    return _little(numbers)


def _little(numbers: "array[float]") -> "array[float]":
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
