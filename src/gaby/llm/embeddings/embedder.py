"""What turns texts into vectors on this machine."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
"""One row for each text, each of length 1, so that a dot product is the cosine."""

Embed = Callable[[Sequence[str]], Matrix]


class Embedder(Protocol):
    """A local model. It is loaded at the first use, blocks while it works, and may be used by several threads."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Matrix: ...
