"""Reading a local model's files, once, when it is first used."""

import sys
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from gaby.llm.embeddings.errors import LocalModelDamaged, LocalModelMissing

T = TypeVar("T")

_DOWNLOAD = "Run `gaby model download`"


def models_folder() -> Path:
    return Path(sys.prefix) / "share" / "gaby" / "models"


def read(path: Path, reader: Callable[[Path], T]) -> T:
    try:
        path.open("rb").close()
    except FileNotFoundError:
        message = f"{path} is missing. {_DOWNLOAD}, or say where it lies with GABY_MODELS_FOLDER."
        raise LocalModelMissing(message) from None
    except OSError as error:
        raise LocalModelMissing(f"{path} cannot be read: {error.strerror}. Mend its rights.") from error
    try:
        return reader(path)
    except Exception as error:  # The readers of these formats raise whatever they like.
        raise LocalModelDamaged(f"{path} is damaged. {_DOWNLOAD}.") from error


class LazyValue(Generic[T]):
    """Made at the first use, by whichever thread comes first. After a failure the next use tries again."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._value: list[T] = []

    def __call__(self) -> T:
        with self._lock:
            if not self._value:
                self._value.append(self._make())
            return self._value[0]
