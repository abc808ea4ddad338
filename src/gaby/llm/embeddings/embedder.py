"""What turns texts into vectors on this machine."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
"""One row for each text, each of length 1, so that a dot product is the cosine."""

Vector = NDArray[np.float32]
"""One row of a matrix."""


class Embedder(Protocol):
    """A local model. It is loaded at the first use, blocks while it works, and may be used by several threads.

    The same text has the same vector, to a millionth, whatever else is embedded with it. A text without any word it
    knows has the vector `nowhere`, which is close to nothing.
    """

    @property
    def name(self) -> str:
        """Vectors are kept under it forever, so whatever gives others needs another name."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def worth_caching(self) -> bool:
        """Whether reading a vector from the database costs less than making it again."""
        ...

    @property
    def batch_characters(self) -> int:
        """How much it reads in a moment, so that whoever comes next need not wait longer."""
        ...

    def embed(self, texts: Sequence[str]) -> Matrix: ...
