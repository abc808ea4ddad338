"""Workers as they are started for users: whoever leads the schedules is killed, and another goes on with them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.promise("Q3", "Q6", "X4"),
    pytest.mark.parametrize("database_url", ["postgresql"], indirect=True),
]
_PATIENCE = 90.0


@contextmanager
def worker(url: str, home: Path) -> Generator["subprocess.Popen[bytes]"]:
    environment = {
        **os.environ,
        "GABY_DATABASE_URL": url,
        "GABY_HOME": str(home),
        "GABY_WORKER_MODE": "procrastinate",
        "GABY_LOG_LEVEL": "warning",
    }
    with (home.parent / "workers.log").open("ab") as log:
        command = [sys.executable, "-m", "gaby", "worker"]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=10)


def asked(url: str, question: str) -> Any:
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        row = connection.execute(question.encode()).fetchone()
    return row[0] if row else None


def until(what: Callable[[], Any], log: Path) -> Any:
    deadline = time.monotonic() + _PATIENCE
    while not (found := what()):
        assert time.monotonic() < deadline, log.read_text()[-4000:]
        time.sleep(0.2)
    return found


def test_schedules_go_on_when_their_leader_is_killed(database_url: str, tmp_path: Path) -> None:
    """Once a killed worker's lock stopped a schedule on all machines, for good."""
    home = tmp_path / "home"
    home.mkdir()
    log = tmp_path / "workers.log"

    def leader() -> str:
        return str(asked(database_url, "SELECT holder FROM leaders WHERE role = 'schedules'") or "")

    def last_poll() -> Any:
        return asked(database_url, "SELECT ran_at FROM schedules WHERE name = 'desks'")

    with worker(database_url, home) as one, worker(database_url, home) as other:
        until(last_poll, log)
        first = leader()
        led, follows = (one, other) if f"-{one.pid}-" in first else (other, one)
        assert f"-{led.pid}-" in first
        led.kill()
        led.wait(timeout=10)
        stopped_at = last_poll()
        until(lambda: f"-{follows.pid}-" in leader(), log)
        until(lambda: last_poll() > stopped_at, log)
