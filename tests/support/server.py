"""A real `gaby serve` in a process of its own."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2


@dataclass
class Server:
    process: subprocess.Popen[str]
    log: Path
    url: str

    def text(self) -> str:
        return self.log.read_text()

    def admin_link(self) -> str | None:
        match = re.search(r"http://\S+/setup\?token=\S+", self.text())
        return match[0] if match else None

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(timeout=30)


SERVE = (sys.executable, "-m", "gaby", "serve", "--port", "0")


@contextmanager
def serving(
    home: Path, *, command: Sequence[str] = SERVE, patience: float = 60, **environment: str
) -> Generator[Server]:
    """Started, ready, and gone at the end whatever happens."""
    log = home.parent / f"{home.name}-{time.monotonic_ns()}.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            command,
            stdout=file,
            stderr=file,
            text=True,
            cwd=home.parent,
            env={**os.environ, "GABY_HOME": str(home), **environment},
        )
    try:
        yield Server(process, log, _wait_until_ready(process, log, patience))
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=30)


def _wait_until_ready(process: subprocess.Popen[str], log: Path, patience: float) -> str:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        match = re.search(r"Gaby listens on (\S+)", log.read_text())
        if match is not None and _is_ready(match[1]):
            return match[1]
        if process.poll() is not None:
            raise RuntimeError(log.read_text())
        time.sleep(0.05)
    raise TimeoutError(log.read_text())


def _is_ready(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/livez", timeout=2).status_code == 200
    except httpx2.HTTPError:
        return False
