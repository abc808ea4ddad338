"""Stopping: a process stands still in the middle of its work until others have finished it, and then wakes up."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agent.chaos.facts import Facts
from tests.agent.chaos.killing import LATER, Trial


@dataclass(frozen=True)
class Late:
    before: Facts
    """When the other had finished."""
    after: Facts
    """When the late one had ended."""
    log: str


def stop_at(trial: Trial, place: str, **more: Any) -> Late:
    """A worker is stopped there, another one takes over and finishes, and the first one wakes up."""
    stage, name = trial.stage, place.partition("@")[0]
    stage.set()
    hit = int(place.partition("@")[2] or 1)
    log = stage.home / "late"
    late = stage.herd.start(stage.working(f"{name}=delay:0@{hit}", stops=True, log=str(log), **more))
    _wait_until_stopped(late, log)
    try:
        other = stage.work(later=LATER, bug=more.get("bug"))
    finally:
        os.kill(late, signal.SIGCONT)
    assert other.code == 0, stage.herd.last_words()
    ended = stage.herd.wait(late)
    assert ended.code == 0, log.read_text()[-3000:]
    return Late(other.result, ended.result, log.read_text())


def _wait_until_stopped(pid: int, log: Path) -> None:
    """It stops itself at the place."""
    while (state := Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]) != "T":
        assert state != "Z", f"the place was not passed: {log.read_text()[-3000:]}"
        time.sleep(0.02)


def what_changed(late: Late) -> list[str]:
    """What the late one has written; nothing is right."""
    before, after = dict(late.before), dict(late.after)
    return [f"{name}: {after[name]} instead of {before[name]}" for name in before if before[name] != after[name]]
