"""The demo as a newcomer sees it: one command, then tickets that are really looked into."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.promise("L4", "L11", "L12", "S7", "G2", "O2")]

ENDS = {
    "Locked out again": "auto_resolved",
    "Charged twice": "waits",
    "How do I export our data?": "auto_resolved",
    "No more webhooks": "needs_tech",
    "Urgent: account recovery": "needs_l2",
    "Console and login very slow": "needs_tech",
    "Login is slow and fails": "needs_tech",
    "Very slow console, login fails": "needs_tech",
    "Slow login and console this morning": "needs_tech",
    "Tills offline": "needs_tech",
    "My phone is gone": "waits",
    "Delete my user": "needs_tech",
    "New till cannot be added": "needs_client",
    "Grow your business with our SEO packages": "skipped",
}
MOST_MEGABYTES = 512


def gaby(home: Path, *arguments: str) -> Any:
    environment = {**os.environ, "GABY_HOME": str(home)}
    command = [sys.executable, "-m", "gaby", *arguments, "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def endings(home: Path) -> dict[str, str]:
    waiting = {run["ticket_id"] for run in gaby(home, "runs", "list", "--state", "waiting_approval")}
    return {
        ticket["title"]: "waits" if ticket["id"] in waiting else ticket["status"]
        for ticket in gaby(home, "ticket", "list")
    }


def resident(pid: int) -> float:
    parent = psutil.Process(pid)
    return sum(each.memory_info().rss for each in (parent, *parent.children(recursive=True))) / 2**20


def has_settled(home: Path) -> bool:
    """Whether every ticket has come in and nobody works on any of them."""
    if not (home / "gaby.db").exists():
        return False
    with closing(sqlite3.connect(f"file:{home / 'gaby.db'}?mode=ro", uri=True)) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'investigations'").fetchone():
            return False
        [tickets] = db.execute("SELECT count(*) FROM tickets").fetchone()
        states = [state for (state,) in db.execute("SELECT state FROM investigations")]
    return tickets == len(states) == len(ENDS) and set(states) <= {"done", "halted", "waiting_approval"}


@pytest.mark.timeout(900)
def test_a_dozen_tickets_end_as_they_should_without_a_key(tmp_path: Path) -> None:
    home = tmp_path / "home"
    environment = {**os.environ, "GABY_HOME": str(home)}
    command = [sys.executable, "-m", "gaby", "serve", "--demo", "--port", "0", "--speed", "20"]
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=log, stderr=log)
    try:
        most = 0.0
        while not has_settled(home):
            time.sleep(0.5)
            assert server.poll() is None, (tmp_path / "log").read_text()
            most = max(most, resident(server.pid))
        assert endings(home) == ENDS
        assert most < MOST_MEGABYTES

        # Nothing of what the stranger ordered was done, and what waits is what a person has to decide.
        asked = {approval["tool"] for approval in gaby(home, "approvals", "list")}
        assert asked == {"company.refund_charge", "company.reset_mfa"}
        [incident] = {ticket["incident_id"] for ticket in gaby(home, "ticket", "list")} - {None}
        together = [ticket["title"] for ticket in gaby(home, "ticket", "list") if ticket["incident_id"] == incident]
        assert len(together) == 4
        assert gaby(home, "audit", "verify")["findings"] == []
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait() == 0
