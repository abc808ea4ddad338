"""The models that run on this machine."""

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from gaby.kernel.errors import GabyError
from gaby.llm.embeddings.combined_embedder import CombinedEmbedder
from gaby.llm.embeddings.embedder import Embedder
from gaby.llm.embeddings.errors import EmbedderUnknown, LocalModelDamaged, LocalModelMissing
from gaby.llm.embeddings.files import LazyValue, models_folder
from gaby.llm.embeddings.local import DEFAULT, NAMES, find_embedder
from gaby.llm.embeddings.minilm import MiniLM
from gaby.llm.embeddings.vectors import nowhere
from gaby.llm.embeddings.wordllama import (
    _WORD,  # pyright: ignore[reportPrivateUsage]
    Wordllama,
)

pytestmark = pytest.mark.promise("G9")

TEXTS = [
    "The customer cannot sign in since this morning.",
    "Nobody is able to log in today.",
    "The invoice of March was paid twice.",
    "x",
    "Wie setze ich mein Passwort zurück?",
    "パスワードを忘れました",
    "line one\nline two\n\n\tindented   and    spaced ▁ out",
    "[CLS] <s> [SEP] </s> <unk> [PAD]",
    "word " * 700,
]
every_model = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def embedder(name: str) -> Embedder:
    return find_embedder(name)


@every_model
def test_every_vector_has_length_one_and_the_promised_number_of_dimensions(embedder: Embedder) -> None:
    rows = embedder.embed(TEXTS)
    assert rows.dtype == np.float32
    assert rows.shape == (len(TEXTS), embedder.dimensions)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


@every_model
def test_a_text_has_the_same_vector_alone_and_in_any_company(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    backwards = embedder.embed(TEXTS[::-1])[::-1]
    alone = np.vstack([embedder.embed([text]) for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-6
    assert np.abs(together - backwards).max() < 1e-6


@every_model
def test_what_means_the_same_is_closer_than_what_does_not(embedder: Embedder) -> None:
    sign_in, log_in, invoice = embedder.embed(TEXTS[:3])
    assert sign_in @ log_in > sign_in @ invoice


@every_model
@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\0\0", "\ud800"])
def test_a_text_that_says_nothing_points_nowhere_and_is_close_to_nothing(embedder: Embedder, text: str) -> None:
    empty, *others = embedder.embed([text, *TEXTS[:6]])
    assert np.isclose(np.linalg.norm(empty), 1)
    assert max(abs(float(empty @ other)) for other in others) < 0.25
    assert np.array_equal(empty, embedder.embed([""])[0])


def test_marks_of_minilm_in_a_text_are_read_as_text() -> None:
    assert not np.allclose(find_embedder("local/minilm").embed(["[SEP] [CLS]"])[0], nowhere(384))


def test_words_that_minilm_does_not_know_point_nowhere() -> None:
    assert np.array_equal(find_embedder("local/minilm").embed(["\U000130b8 \U000130b9"])[0], nowhere(384))


@every_model
def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=80), min_size=1, max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@every_model
def test_no_text_breaks_a_model_or_makes_a_vector_that_is_not_a_number(embedder: Embedder, texts: list[str]) -> None:
    rows = embedder.embed(texts)
    assert np.isfinite(rows @ rows.T).all()
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


@every_model
@pytest.mark.parametrize("text", ["a", "word ", " ", "中文字", "😀", "\0", "\ud800", "́", "a\n"])
def test_a_megabyte_of_anything_is_embedded(embedder: Embedder, text: str) -> None:
    rows = embedder.embed([text * (2**20 // len(text)), "short"])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=200) | st.text("ab é▁\n\t <s>", max_size=60)
)
@example("<s> </s> <unk> <0x0A>")
@example("10² m², 5².")
def test_wordllama_reads_word_by_word_what_its_tokenizer_reads_as_a_whole(text: str) -> None:
    if not text.strip():
        return
    tokenizer, table = _wordllama()
    tokens = tokenizer.encode(text, add_special_tokens=False).ids
    expected = table[tokens].astype(np.float64).sum(axis=0)
    assert np.allclose(
        find_embedder("local/wordllama").embed([text])[0], expected / np.linalg.norm(expected), atol=1e-6
    )


@cache
def _wordllama() -> tuple[Any, Any]:
    folder = models_folder() / "wordllama"
    tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.encode_special_tokens = True
    files: Any = safetensors.numpy
    return tokenizer, files.load_file(folder / "weights.safetensors")["embedding.weight"]


def test_no_token_of_wordllama_goes_across_the_borders_of_words() -> None:
    vocabulary: dict[str, int] = _wordllama()[0].get_vocab()
    across = [token for token in vocabulary if len(_WORD.findall(token)) != 1]
    assert sorted(each for each in across if not re.fullmatch(r"<0x[0-9A-F]{2}>|<unk>|</?s>", each)) == []


def test_wordllama_keeps_the_words_it_knows_within_bounds() -> None:
    embedder = Wordllama(models_folder())
    embedder.embed(["".join(letters) for letters in product("abcdefghijklmnopqrstuvwxyz", repeat=3)])
    embedder.embed(["".join(letters).upper() for letters in product("abcdefghijklmnopqrstuvwxyz", repeat=3)])
    embedder.embed(["x" * 100_000])
    words = embedder._loaded().words  # pyright: ignore[reportPrivateUsage]
    assert len(words) <= 20_000
    assert max(map(len, words)) <= 40


def test_the_cosine_of_both_is_the_mix_of_the_two() -> None:
    first, second = find_embedder("local/wordllama"), find_embedder("local/minilm")
    rows = CombinedEmbedder(first, second, weight=0.3).embed(TEXTS)
    one, other = first.embed(TEXTS), second.embed(TEXTS)
    assert np.allclose(rows @ rows.T, 0.3 * one @ one.T + 0.7 * other @ other.T, atol=1e-5)


def test_two_threads_give_the_vectors_of_one() -> None:
    one, two = MiniLM(models_folder(), threads=1), MiniLM(models_folder(), threads=2)
    assert np.abs(one.embed(TEXTS[:4]) - two.embed(TEXTS[:4])).max() < 1e-6


@every_model
def test_several_threads_may_use_a_model_from_its_first_use_on(name: str) -> None:
    fresh = find_embedder(name, Path(f"{models_folder()}/."))
    expected = find_embedder(name).embed(TEXTS[:3])
    with ThreadPoolExecutor(4) as threads:
        for rows in threads.map(fresh.embed, [TEXTS[:3]] * 8):
            assert np.allclose(rows, expected, atol=1e-6)


def test_a_model_is_loaded_once_also_when_many_ask_at_the_same_moment() -> None:
    made: list[object] = []
    two_inside = Barrier(2, timeout=0.2)

    def make() -> object:
        made.append(object())
        with suppress(BrokenBarrierError):
            two_inside.wait()
        return made[-1]

    lazy = LazyValue(make)
    with ThreadPoolExecutor(8) as threads:
        assert len({id(asked.result()) for asked in [threads.submit(lazy) for _ in range(8)]}) == 1
    assert len(made) == 1


@every_model
def test_a_missing_model_says_what_to_run_and_works_once_it_is_there(name: str, tmp_path: Path) -> None:
    embedder = find_embedder(name, tmp_path)
    with pytest.raises(LocalModelMissing, match="gaby model download"):
        embedder.embed(["x"])
    shutil.copytree(models_folder(), tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.gguf"))
    assert np.array_equal(embedder.embed(["x"]), find_embedder(name).embed(["x"]))


@pytest.mark.parametrize(
    "file", ["wordllama/weights.safetensors", "wordllama/tokenizer.json", "minilm/model.onnx", "minilm/tokenizer.json"]
)
@pytest.mark.parametrize("damage", ["empty", "cut", "noise", "another"])
def test_a_damaged_file_is_named_and_no_vector_is_made(file: str, damage: str, tmp_path: Path) -> None:
    shutil.copytree(models_folder(), tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.gguf"))
    whole = (tmp_path / file).read_bytes()
    model = file.partition("/")[0]
    other = {"wordllama": "minilm/tokenizer.json", "minilm": "wordllama/weights.safetensors"}[model]
    damaged = {
        "empty": b"",
        "cut": whole[: len(whole) // 2],
        "noise": b"\xff" * 1000,
        "another": (models_folder() / other).read_bytes(),
    }
    (tmp_path / file).write_bytes(damaged[damage])
    with pytest.raises(LocalModelDamaged, match=f"/{model}/.* is damaged"):
        find_embedder(f"local/{model}", tmp_path).embed(["x"])


def test_a_folder_in_place_of_a_file_is_an_error_of_the_family(tmp_path: Path) -> None:
    (tmp_path / "wordllama" / "tokenizer.json").mkdir(parents=True)
    with pytest.raises(GabyError):
        find_embedder("local/wordllama", tmp_path).embed(["x"])


@pytest.mark.parametrize("name", ["local/", "local/other", "wordllama", "", "local/wordllama "])
def test_an_unknown_name_is_refused_with_the_names_there_are(name: str) -> None:
    with pytest.raises(EmbedderUnknown, match="local/wordllama"):
        find_embedder(name)


def test_everybody_gets_the_same_model_so_that_it_is_loaded_once() -> None:
    assert find_embedder(DEFAULT) is find_embedder(DEFAULT)
    assert DEFAULT in NAMES


def test_nothing_heavy_is_loaded_before_the_first_text() -> None:
    heavy = ("tokenizers", "safetensors", "onnxruntime")
    code = (
        "import sys; from gaby.llm.embeddings.service import Embeddings; "
        "from gaby.llm.embeddings.local import find_embedder; find_embedder('local/both'); "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"
