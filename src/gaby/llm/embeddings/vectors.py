"""Vectors of length 1, and how they are stored."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaby.llm.embeddings.embedder import Matrix, Vector

_STORED = np.dtype("<f4")
_NEARLY = 1e-3


def nowhere(dimensions: int) -> Vector:
    """For a text that says nothing. It has length 1 as all do, since a zero has no cosine and databases make it NaN;
    and no real text points this way."""
    signs = np.ones(dimensions, np.float32)
    signs[1::2] = -1
    return signs / np.float32(np.sqrt(dimensions))


def unit_rows(rows: NDArray[np.floating[Any]]) -> Matrix:
    """The rows with their length made 1. One without a direction becomes `nowhere`."""
    exact = rows.astype(np.float64)
    largest = np.abs(exact).max(axis=1, initial=0)
    directed = np.isfinite(largest) & (largest > 0)
    units = np.tile(nowhere(rows.shape[1]), (len(rows), 1))
    scaled = exact[directed] / largest[directed, np.newaxis]  # Squares of huge and of tiny numbers are no numbers.
    units[directed] = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return units


def to_bytes(vector: Vector) -> bytes:
    return vector.astype(_STORED, copy=False).tobytes()


def from_bytes(blob: bytes) -> Vector | None:
    """None when they are not what `to_bytes` gave: cut short, not numbers, or not of length 1."""
    if not blob or len(blob) % _STORED.itemsize:
        return None
    vector = np.frombuffer(blob, _STORED).astype(np.float32, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        length = float(np.linalg.norm(vector))
    return vector if abs(length - 1) < _NEARLY else None
