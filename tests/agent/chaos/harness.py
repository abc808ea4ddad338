"""The other side of the zygote: starts processes that will be killed, and hears how they ended."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.support.postgres import Postgres

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0


@dataclass(frozen=True)
class Ended:
    code: int
    result: Any

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


class Herd:
    """A zygote and everything that it has forked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.door = str(folder / "door")
        self.log = folder / "log"
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "0"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.agent.chaos.zygote", self.door],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._heard = b""
        self._ended: dict[int, Ended] = {}
        self._next()

    def start(self, errand: Mapping[str, Any]) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"log": str(self.log), **errand}).encode() + b"\n")
        self._process.stdin.flush()
        while "started" not in (told := self._next()):
            self._keep(told)
        return int(told["started"])

    def wait(self, pid: int) -> Ended:
        while pid not in self._ended:
            self._keep(self._next())
        return self._ended.pop(pid)

    def run(self, errand: Mapping[str, Any]) -> Ended:
        return self.wait(self.start(errand))

    def last_words(self) -> str:
        return self.log.read_text()[-3000:] if self.log.exists() else ""

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _keep(self, told: dict[str, Any]) -> None:
        self._ended[told["ended"]] = Ended(told["code"], told["result"])

    def _next(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        until = time.monotonic() + PATIENCE
        while b"\n" not in self._heard:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, until - time.monotonic()))
            read = os.read(self._process.stdout.fileno(), 1 << 20) if ready else b""
            if not read:
                raise TimeoutError(f"nothing was heard any more; {self.log} may say why")
            self._heard += read
        line, _, self._heard = self._heard.partition(b"\n")
        return json.loads(line)


@dataclass
class Stage:
    """A place that was set up once. Every case begins with a copy of it, at the same path."""

    herd: Herd
    place: str
    scenarios: tuple[str, ...]
    server: Postgres | None = None
    """Without it the database is a file."""
    template: Path = field(init=False)
    home: Path = field(init=False)

    def prepare(self, migrated: Path | str) -> None:
        """Out of a migrated database: a file, or the name of one on the server."""
        self.home = self.herd.folder / f"stage-{uuid4().hex[:8]}"
        self.template = self.home.with_name(f"{self.home.name}-template")
        (self.home / "place" / "state").mkdir(parents=True)
        if self.server is None:
            shutil.copyfile(migrated, self.home / "gaby.db")
        else:
            self._copy_database(str(migrated), self._live)
        done = self.herd.run({**self._errand("prepare"), "door": self.herd.door, "scenarios": self.scenarios})
        assert done.code == 0, self.herd.last_words()
        self.home.rename(self.template)
        if self.server is not None:
            self._copy_database(self._live, self._kept)

    def set(self) -> None:
        """As it was in the beginning."""
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(self.template, self.home)
        if self.server is not None:
            self.server.execute(f"DROP DATABASE IF EXISTS {self._live} WITH (FORCE)")
            self._copy_database(self._kept, self._live)

    def work(self, failpoints: str = "", **more: Any) -> Ended:
        return self.herd.run(self.working(failpoints, **more))

    def working(self, failpoints: str = "", **more: Any) -> dict[str, Any]:
        return {**self._errand("work"), "failpoints": failpoints, **more}

    @property
    def url(self) -> str:
        return f"sqlite:///{self.home / 'gaby.db'}" if self.server is None else self.server.url(self._live)

    def remove(self) -> None:
        """The databases; files are the folder's."""
        for name in (self._live, self._kept):
            if self.server is not None:
                self.server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    @property
    def _live(self) -> str:
        return self.home.name.replace("-", "_")

    @property
    def _kept(self) -> str:
        return f"{self._live}_kept"

    def _copy_database(self, given: str, name: str) -> None:
        assert self.server is not None
        self.server.execute(f"CREATE DATABASE {name} TEMPLATE {given}")

    def _errand(self, what: str) -> dict[str, Any]:
        return {
            "do": what,
            "place": self.place,
            "url": self.url,
            "home": str(self.home / "gaby"),
            "folder": str(self.home / "place"),
        }
