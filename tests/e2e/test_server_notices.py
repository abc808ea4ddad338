"""A running server works with what other processes have set up since it was started."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.server import Server, serving

pytestmark = [pytest.mark.promise("L15"), pytest.mark.slow]

ENERGY = Path("evals/companies/energy").resolve()
TICKET = {
    "title": "Topped up this morning, nothing on the meter",
    "body": "Put £20 on at the paypoint this morning, got the receipt, meter still says 3.12. Please sort it",
    "requester_email": "m.oyelaran@mailbox.example",
    "requester_verified": True,
}


def gaby(home: Path, *words: str) -> str:
    environment = {**os.environ, "GABY_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-m", "gaby", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def test_a_connector_and_runbooks_that_a_command_adds_are_used_for_the_next_ticket(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serving(home) as server:
        gaby(home, "workspace", "create", "desk")
        scopes = [word for scope in ("tickets:read", "tickets:work") for word in ("--scope", scope)]
        key = gaby(home, "key", "create", "driver", *scopes).strip().split()[-1]
        before = _played(server, key, "first")
        assert before["verdict"] in {"needs_tech", "needs_l2"}, "nothing is connected yet"

        state = tmp_path / "state.json"
        words = ["--manifest", str(ENERGY / "manifest.yaml"), "--yes", "--set", f"ENERGY_STATE={state}"]
        gaby(home, "connector", "add", "tarnbeck", *words, "--", sys.executable, str(ENERGY / "server.py"))
        gaby(home, "connector", "set", "tarnbeck", "--autonomy", "act", "--allow-write", "**")
        gaby(home, "knowledge", "add", "runbooks", "folder", str(ENERGY / "runbooks"))
        after = _played(server, key, "second")
        assert after["verdict"] == "auto_resolved", after
        journal = [json.loads(line) for line in Path(f"{state}.calls.jsonl").read_text().splitlines()]
        assert [call["tool"] for call in journal if call["write"]] == ["resend_topup"]

        gaby(home, "connector", "remove", "tarnbeck", "--yes")
        gone = _played(server, key, "third")
        assert gone["verdict"] in {"needs_tech", "needs_l2"}, gone


def _played(server: Server, key: str, name: str) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {key}"}
    with httpx2.Client(base_url=server.url) as client:
        ticket = client.post("/api/tickets", json={**TICKET, "external_id": name}, headers=headers).json()
        until = time.monotonic() + 60
        while time.monotonic() < until:
            runs = client.get("/api/runs?limit=20", headers=headers).json()
            mine = [run for run in runs if run["ticket_id"] == ticket["id"]]
            if mine and mine[0]["state"] == "done":
                return mine[0]
            time.sleep(0.2)
    raise AssertionError(f"{name} did not end")
