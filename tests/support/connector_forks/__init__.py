"""Connectors of tests whose subject is not the start of a process: forked from one that has imported the SDK already.

A connector is a process of its own all the same, with its own pipes and its own environment, gone when it is killed.
Tests of the process itself, in `tests/mcp` and `tests/connectors`, start real ones.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gaby.mcp.child import ChildProcess

ROOT = Path(__file__).parents[3]
_LAUNCH = str(Path(__file__).parent / "launch.py")


class ConnectorForks:
    """The process to fork from is started when the first connector is."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "socket"
        self._process: subprocess.Popen[bytes] | None = None

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Until the test ends, programs in Python are forked."""
        start_process = ChildProcess.start

        async def start(
            command: list[str], env: dict[str, str], cwd: Path | None, make: Callable[[], ChildProcess]
        ) -> ChildProcess:
            program, *words = command
            if program == sys.executable and (words[0] == "-m" or words[0].endswith(".py")):
                command = [program, "-I", "-S", _LAUNCH, self._address(), *words]
            return await start_process(command, env, cwd, make)

        monkeypatch.setattr(ChildProcess, "start", start)

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()

    def _address(self) -> str:
        if self._process is None:
            command = [sys.executable, "-m", "tests.support.connector_forks.server", str(self._socket)]
            self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert self._process.stdout is not None
            assert self._process.stdout.readline() == b"ready\n"
        return str(self._socket)
