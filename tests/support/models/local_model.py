"""A real language model on this machine: SmolLM2 behind llama.cpp, in a process of its own."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

NAME = "smollm2"
KEY = "sk-local-8d21f6a0"
FILE = Path(sys.prefix, "share", "gaby", "models", "smollm2", "model.gguf")
_PROGRAM = Path(__file__).with_name("local_server.py")


@dataclass
class LocalModel:
    url: str
    process: subprocess.Popen[str]

    def remove(self) -> None:
        """It ends when its input does. Whoever does not, is ended."""
        try:
            self.process.communicate("", timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()


def start_local_model() -> LocalModel:
    process = subprocess.Popen(
        [sys.executable, str(_PROGRAM), str(FILE), NAME, KEY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    # Its own messages come on the other stream, so that the first line here is the address.
    address = process.stdout.readline().strip()
    if not address.startswith("http://127.0.0.1:"):
        process.kill()
        process.communicate()
        raise RuntimeError(f"The local model did not start. Is its file there: {FILE.name}?")
    return LocalModel(f"{address}/v1", process)
