"""wordllama: a table with one vector for each token. It knows no order of words, and is fast for that."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaby.llm.embeddings.embedder import Matrix
from gaby.llm.embeddings.files import LazyValue, read
from gaby.llm.embeddings.texts import clean
from gaby.llm.embeddings.vectors import unit_rows

_DIMENSIONS = 256
_MOST_CHARACTERS = 250_000
"""A hundred pages. Reading on would not change what a text is about, but others would wait."""
_SPACE = "▁"
_LONGEST = 2_000
_LETTERS = r"[^\W\d_²]"
_SIGNS = rf"(?:[^\w\n\t{_SPACE}]|[_²])"
_WORD = re.compile(
    rf"{_SPACE}{{0,{_LONGEST}}}(?:{_LETTERS}{{1,{_LONGEST}}}|{_SIGNS}{{1,{_LONGEST}}})|{_SPACE}{{1,{_LONGEST}}}|[\d\n\t]"
)
"""No token of the vocabulary goes across these borders, so words give the same tokens as the whole text, and most
words have been seen before. Only what has no border in 2,000 characters is cut, since a tokenizer needs much memory
for a megabyte in one piece."""
_WORDS_KEPT = 20_000
_LONGEST_KEPT = 40
_SUMMED_AT_ONCE = 1024
"""Always the same tokens together, so that a sum does not depend on what else is embedded; and few, for memory."""


class _WordTokens(dict[str, Sequence[int]]):
    """The tokens of each word. A dictionary, because looking up most words is what makes it fast."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def __missing__(self, word: str) -> Sequence[int]:
        tokens: Sequence[int] = self._tokenizer.encode(word, add_special_tokens=False).ids
        if len(word) <= _LONGEST_KEPT:
            if len(self) >= _WORDS_KEPT:
                self.clear()
            self[word] = tokens
        return tokens


@dataclass(frozen=True)
class _WordllamaTable:
    table: NDArray[np.float16]
    words: _WordTokens


class Wordllama:
    """The mean of a text's tokens."""

    name = "local/wordllama"
    dimensions = _DIMENSIONS
    worth_caching = False
    batch_characters = 100_000

    def __init__(self, folder: Path) -> None:
        self._loaded = LazyValue(lambda: _load(folder / "wordllama"))

    def embed(self, texts: Sequence[str]) -> Matrix:
        sums = np.zeros((len(texts), _DIMENSIONS))
        loaded = self._loaded()
        for row, text in zip(sums, texts, strict=True):
            _add(row, loaded.table, _tokens_of(clean(text[:_MOST_CHARACTERS]), loaded.words))
        return unit_rows(sums)


def _tokens_of(text: str, words: _WordTokens) -> list[int]:
    if not text or text.isspace():
        return []
    return list(chain.from_iterable(map(words.__getitem__, _WORD.findall(_SPACE + text.replace(" ", _SPACE)))))


def _add(row: NDArray[np.float64], table: NDArray[np.float16], tokens: list[int]) -> None:
    for start in range(0, len(tokens), _SUMMED_AT_ONCE):
        row += table.take(tokens[start : start + _SUMMED_AT_ONCE], axis=0).astype(np.float32).sum(axis=0)


def _load(folder: Path) -> _WordllamaTable:
    tokenizer = read(folder / "tokenizer.json", _read_tokenizer)
    table = read(folder / "weights.safetensors", lambda path: _read_table(path, tokenizer.get_vocab_size()))
    return _WordllamaTable(table, _WordTokens(tokenizer))


def _read_table(path: Path, rows: int) -> NDArray[np.float16]:
    import safetensors  # Only for those who use this model.

    open_file: Any = safetensors.safe_open
    with open_file(path, "np") as file:
        table = file.get_tensor("embedding.weight")
    if table.dtype != np.float16 or table.shape != (rows, _DIMENSIONS) or not np.isfinite(table).all():
        raise ValueError("not the table that belongs to the tokenizer")
    return table


def _read_tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer  # Only for those who use this model.

    tokenizer: Any = Tokenizer.from_file(str(path))
    tokenizer.normalizer = None  # `_tokens_of` has done what it does.
    return tokenizer
