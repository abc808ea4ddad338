"""The models that run on this machine, by name."""

from functools import cache
from pathlib import Path

from gaby.llm.embeddings.combined_embedder import CombinedEmbedder
from gaby.llm.embeddings.embedder import Embedder
from gaby.llm.embeddings.errors import EmbedderUnknown
from gaby.llm.embeddings.files import models_folder
from gaby.llm.embeddings.minilm import MiniLM
from gaby.llm.embeddings.wordllama import Wordllama

PREFIX = "local/"
DEFAULT = Wordllama.name
BOTH = "local/both"
NAMES = (Wordllama.name, MiniLM.name, BOTH)


def is_local(model: str) -> bool:
    return model.startswith(PREFIX)


def find_embedder(name: str, folder: Path | None = None, *, threads: int = 1) -> Embedder:
    """The same one for everybody in the process, so that it is loaded once. Nothing is loaded yet."""
    return _find(name, folder or models_folder(), threads)


@cache
def _find(name: str, folder: Path, threads: int) -> Embedder:
    match name:
        case Wordllama.name:
            return Wordllama(folder)
        case MiniLM.name:
            return MiniLM(folder, threads=threads)
        case "local/both":
            return CombinedEmbedder(_find(Wordllama.name, folder, threads), _find(MiniLM.name, folder, threads))
        case _:
            raise EmbedderUnknown(f"There is no embedding model {name[:80]!r} here. There are {', '.join(NAMES)}.")
