"""Runs `gaby` commands inside the test process, as the shell would: arguments in, exit code and output out."""

import json
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from gaby import cli
from gaby.kernel import failpoints


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], **environment: str) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        for name, value in environment.items():
            monkeypatch.setenv(name, value)

    def __call__(self, *arguments: str, stdin: str | None = None) -> Finished:
        self._capsys.readouterr()
        with self._monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["gaby", *arguments])
            if stdin is not None:
                patch.setattr(sys, "stdin", _Typed(stdin))
            try:
                cli.main()
                code = 0
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 0
            finally:
                failpoints.configure(None)
        captured = self._capsys.readouterr()
        return Finished(code, captured.out, captured.err)


class _Typed:
    """A keyboard that is not a terminal."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)

    def readline(self) -> str:
        return self._lines.pop(0) if self._lines else ""

    def isatty(self) -> bool:
        return False
