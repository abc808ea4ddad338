"""Learning from examples: a linear model over vectors, concepts and the form of a text.

Everything is counted out from the packaged examples when first needed, always in the same way: full steps of gradient
descent from zero, no random numbers. How sure the model may be is read off a quarter of the examples, which it had not
seen for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gaby.llm.embeddings.embed import Embed

Numbers = NDArray[np.float32]

_STEPS = 60
_TURNS = 30
_WEIGHT_DECAY = 0.05
_VECTOR_WEIGHT = 5.0
_FORM_WEIGHT = 0.5
# A rare feature must not count as much as its rarity would give it.
_LEAST_SPREAD = 0.25
_HELD_BACK = 4
_TEMPERATURES = tuple(round(0.5 + 0.1 * step, 1) for step in range(11))


@dataclass(frozen=True)
class FeatureScaler:
    """How the numbers of the examples lie, so that those of a new text are measured by the same rule."""

    middle: Numbers
    vector_middle: Numbers
    spread: Numbers

    @classmethod
    def fit(cls, forms: Numbers, vectors: Numbers) -> "FeatureScaler":
        return cls(forms.mean(0), vectors.mean(0), forms.std(0) + np.float32(_LEAST_SPREAD))

    def apply(self, forms: Numbers, vectors: Numbers) -> Numbers:
        moved = vectors - self.vector_middle
        lengths = np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-6)
        plain = (forms - self.middle) / self.spread
        return np.hstack([_FORM_WEIGHT * plain, _VECTOR_WEIGHT * moved / lengths]).astype(np.float32)


@dataclass(frozen=True)
class LinearModel:
    labels: tuple[str, ...]
    weights: Numbers
    offset: Numbers
    temperature: float = 1.0

    def shares(self, features: Numbers) -> Numbers:
        """How likely each label is, one row for each text."""
        return _shares((features @ self.weights + self.offset) / np.float32(self.temperature))


def learn(features: Numbers, given: Sequence[str], labels: Sequence[str]) -> LinearModel:
    wanted = np.array([labels.index(label) for label in given])
    held_back = np.arange(len(wanted)) % _HELD_BACK == 0
    trial = LinearModel(tuple(labels), *_fit(features[~held_back], wanted[~held_back], len(labels)))
    temperature = _calibrate(trial, features[held_back], wanted[held_back])
    return LinearModel(tuple(labels), *_fit(features, wanted, len(labels)), temperature)


def vectors_of(embed: Embed, texts: Sequence[str]) -> Numbers:
    return np.asarray(embed(texts), dtype=np.float32)


def _fit(features: Numbers, wanted: NDArray[np.intp], count: int) -> tuple[Numbers, Numbers]:
    target = np.eye(count, dtype=np.float32)[wanted]
    size = np.float32(len(features))
    decay = np.float32(_WEIGHT_DECAY)
    step = np.float32(1 / (_steepness(features) / 2 + _WEIGHT_DECAY))
    weights = np.zeros((features.shape[1], count), np.float32)
    offset = np.zeros(count, np.float32)
    before = weights
    for turn in range(_STEPS):
        ahead = np.asarray(weights + np.float32(turn / (turn + 3)) * (weights - before), dtype=np.float32)
        before = weights
        missed = _shares(features @ ahead + offset) - target
        weights = np.asarray(ahead - step * (features.T @ missed / size + decay * ahead), dtype=np.float32)
        offset = offset - missed.mean(0)
    return weights, offset


def _steepness(features: Numbers) -> float:
    """The largest curve of the hill to go down: a longer step would overshoot."""
    square = features.T @ features / np.float32(len(features))
    direction = np.ones(len(square), np.float32)
    for _ in range(_TURNS):
        direction = square @ direction
        direction /= np.float32(np.linalg.norm(direction) + 1e-9)
    # What is left of the error after so many turns is small, and made good by a little too much.
    return 1.1 * float(direction @ square @ direction)


def _calibrate(model: LinearModel, features: Numbers, wanted: NDArray[np.intp]) -> float:
    scores = features @ model.weights + model.offset
    rows = np.arange(len(wanted))

    def loss(temperature: float) -> float:
        return -float(np.log(_shares(scores / np.float32(temperature))[rows, wanted] + 1e-9).mean())

    return min(_TEMPERATURES, key=loss)


def _shares(scores: Numbers) -> Numbers:
    raised = np.exp(scores - scores.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)
