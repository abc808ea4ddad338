"""MiniLM: a small transformer. It reads words in their order, and takes a thousand times longer for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaby.llm.embeddings.embedder import Matrix
from gaby.llm.embeddings.files import LazyValue, read
from gaby.llm.embeddings.texts import clean
from gaby.llm.embeddings.vectors import nowhere, unit_rows

_DIMENSIONS = 384
_MOST_TOKENS = 256
_MOST_CHARACTERS = 8_000
"""More than 256 tokens of any language; a megabyte is not tokenized for the sake of its beginning."""
_TOKENS_AT_ONCE = 512
"""Together, padding included. More is no faster and takes much memory."""

Tokens = list[int]


@dataclass(frozen=True)
class _MiniLMSession:
    tokenizer: Any
    session: Any
    ignored: frozenset[int]
    """Tokens that say nothing: the marks around a text, and unknown words."""


class MiniLM:
    """The mean of what the last layer makes of a text's first 256 tokens."""

    name = "local/minilm"
    dimensions = _DIMENSIONS
    worth_caching = True
    batch_characters = 1_000

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        self._loaded = LazyValue(lambda: _load(folder / "minilm", threads))

    def embed(self, texts: Sequence[str]) -> Matrix:
        loaded = self._loaded()
        tokens = [_tokens_of(loaded, clean(text[:_MOST_CHARACTERS])) for text in texts]
        rows = np.tile(nowhere(_DIMENSIONS), (len(texts), 1))
        for batch in _batches(tokens):
            rows[batch] = _run(loaded.session, [tokens[each] for each in batch])
        return rows


def _tokens_of(loaded: _MiniLMSession, text: str) -> Tokens:
    tokens: Tokens = loaded.tokenizer.encode(text).ids
    return [] if loaded.ignored.issuperset(tokens) else tokens


def _batches(tokens: Sequence[Tokens]) -> Iterator[list[int]]:
    """Texts of about the same length together, since all are padded to the longest."""
    batch: list[int] = []
    for each in sorted((each for each, ids in enumerate(tokens) if ids), key=lambda each: len(tokens[each])):
        if batch and (len(batch) + 1) * len(tokens[each]) > _TOKENS_AT_ONCE:
            yield batch
            batch = []
        batch.append(each)
    if batch:
        yield batch


def _run(session: Any, tokens: Sequence[Tokens]) -> Matrix:
    ids = np.zeros((len(tokens), max(map(len, tokens))), np.int64)
    mask = np.zeros_like(ids)
    for row, (each, present) in enumerate(zip(tokens, map(len, tokens), strict=True)):
        ids[row, :present] = each
        mask[row, :present] = 1
    given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    (hidden,) = session.run(None, given)
    weights: NDArray[np.float32] = mask.astype(np.float32)
    return unit_rows(np.einsum("btd,bt->bd", hidden, weights))


def _load(folder: Path, threads: int) -> _MiniLMSession:
    tokenizer = read(folder / "tokenizer.json", _read_tokenizer)
    session = read(folder / "model.onnx", lambda path: _read_session(path, threads))
    said_nothing = [tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]", "[PAD]", "[UNK]")]
    return _MiniLMSession(tokenizer, session, frozenset(said_nothing))


def _read_tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer  # Only for those who use this model.

    tokenizer: Any = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MOST_TOKENS)
    tokenizer.encode_special_tokens = True  # `[SEP]` in somebody's text is five characters and not the end of it.
    return tokenizer


def _read_session(path: Path, threads: int) -> Any:
    import onnxruntime  # Only for those who use this model.

    runtime: Any = onnxruntime
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # It would keep the memory of the largest batch.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # Idle threads shall be idle.
    options.log_severity_level = 4
    # Folding would keep all weights as floats from the start: 120 MB more, for a sixth less time.
    session = runtime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"], disabled_optimizers=["ConstantFolding"]
    )
    if session.get_outputs()[0].shape[-1] != _DIMENSIONS:
        raise ValueError("another model than expected")
    return session
