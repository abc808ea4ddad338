"""Postgres is restarted again and again under two workers: nothing is lost, stranded, or done twice."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gaby.kernel.database import open_database
from gaby.migrations import upgrade
from tests.agent.chaos.harness import ROOT, Herd, Stage
from tests.support.postgres import Postgres, start_postgres

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.promise("Q1", "Q2", "Q6", "X4"),
]

REAL = ("label", "held", "lost")
ADVERTISING = 17
RESTARTS = 2


@pytest.fixture
def server() -> Generator[Postgres]:
    postgres = start_postgres()
    yield postgres
    postgres.remove()


@contextmanager
def _worker(stage: Stage, log: Path) -> Generator["subprocess.Popen[bytes]"]:
    environment = {
        **os.environ,
        "GABY_DATABASE_URL": stage.url,
        "GABY_HOME": str(stage.home / "gaby"),
        "GABY_WORKER_MODE": "procrastinate",
        "GABY_WORKER_LEASE": "8s",
        "GABY_WORKER_SLOTS": "4",
        "GABY_LOG_LEVEL": "warning",
    }
    with log.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "gaby", "worker"], cwd=ROOT, env=environment, stdout=file, stderr=file
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=10)


@pytest.mark.xdist_group("chaos-3")
def test_workers_survive_a_database_that_comes_and_goes(herd: Herd, server: Postgres, tmp_path: Path) -> None:
    server.execute("CREATE DATABASE migrated")
    upgrade(open_database(server.url("migrated")))
    stage = Stage(herd, "shop", REAL, server)
    stage.prepare("migrated")
    stage.set()
    log = tmp_path / "workers"
    with _worker(stage, log) as one, _worker(stage, log) as two:
        _wait_until_both_work(log)
        advertised = herd.run({**stage.working(), "do": "look", "advertising": ADVERTISING})
        assert advertised.code == 0, herd.last_words()
        for _ in range(RESTARTS):
            time.sleep(2.5)
            server.stop()
            time.sleep(0.3)
            server.start()
        _wait_until_all_have_ended(stage, herd)
        for process in (one, two):
            process.send_signal(signal.SIGTERM)
        codes = [process.wait(timeout=30) for process in (one, two)]
    facts = herd.run({**stage.working(), "do": "look"}).result
    assert codes == [0, 0], log.read_text()[-3000:]
    assert facts["tickets"] == len(REAL) + ADVERTISING == len(facts["runs"])
    assert {run["state"] for run in facts["runs"]} == {"done"}
    assert len(facts["effects"]) == len(set(facts["effects"])) == len(REAL)
    assert facts["findings"] == []


def _wait_until_both_work(log: Path) -> None:
    while log.read_text().count("A worker with") < 2:
        time.sleep(0.1)


def _wait_until_all_have_ended(stage: Stage, herd: Herd) -> None:
    """An operator agrees to whatever waits meanwhile."""
    while open_runs := _open_runs(stage):
        if any(state == "waiting_approval" for state, _ in open_runs):
            herd.run({**stage.working(), "do": "look", "answers_first": True})
        time.sleep(0.5)


def _open_runs(stage: Stage) -> list[tuple[Any, ...]]:
    with psycopg.connect(stage.url) as connection:
        return connection.execute("SELECT state, lease_until FROM investigations WHERE wake_at IS NOT NULL").fetchall()
