"""Processes as a supervisor keeps them: started, killed, stood still, and started again whenever they have ended."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_SHIM = Path(__file__).parent / "shim"
_PORTS = range(20_000, 32_000)
"""Below those that the system gives to whoever connects, so that a killed server's port is free when it comes back."""


@dataclass
class Supervised:
    """One command that has to run. It knows nothing of Gaby but the command line."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    starts: int = 0
    _process: "subprocess.Popen[bytes] | None" = None
    _stopped: bool = False

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    @property
    def clock(self) -> Path:
        """Holds by how many seconds the wall clock of the process is wrong."""
        return self.folder / f"{self.name}.clock"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                env={**self.environment, "CHAOS_CLOCK": str(self.clock)},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.starts += 1
        self._stopped = False

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=30)

    def stand_still(self) -> None:
        if self._process is not None and self.runs:
            self._process.send_signal(signal.SIGSTOP)
            self._stopped = True

    def go_on(self) -> None:
        if self._process is not None and self._stopped and self.runs:
            self._process.send_signal(signal.SIGCONT)
        self._stopped = False

    def last_words(self) -> str:
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""


@dataclass
class Supervisor:
    """Whoever has ended is started again after a moment, as systemd or Kubernetes would."""

    processes: list[Supervised] = field(default_factory=list[Supervised])
    _down_since: dict[str, float] = field(default_factory=dict[str, float])

    def tend(self, pause: float = 0.2) -> None:
        now = time.monotonic()
        for each in self.processes:
            if each.runs:
                self._down_since.pop(each.name, None)
            elif now - self._down_since.setdefault(each.name, now) >= pause:
                each.start()

    def stop(self) -> None:
        for each in self.processes:
            each.go_on()
            each.kill()


def environment(settings: Mapping[str, str], *, bug: str | None = None) -> dict[str, str]:
    """Only what a shell would give, the settings, and the shim that lets tests step clocks and plant bugs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GABY_", "PYTEST_", "CHAOS_"))}
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    planted = {} if bug is None else {"CHAOS_BUG": bug}
    return {**kept, **threads, **settings, **planted, "PYTHONPATH": f"{_SHIM}{os.pathsep}{_ROOT}"}


def free_port() -> int:
    while True:
        port = random.SystemRandom().choice(_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def running_with(word: str) -> list[int]:
    """Processes whose command line holds this word, which nobody else's does."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if word.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
    return found


def kill_if_there(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
