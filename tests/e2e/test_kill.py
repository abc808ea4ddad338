"""`kill -9` in the middle of a group commit: every acknowledged row is there, and the log verifies."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gaby.app import build
from gaby.audit import snapshot, verify_live
from gaby.kernel.actors import system_actor
from gaby.kernel.ids import SYSTEM
from gaby.settings import load

HITS = ("@1", "@2")


def _append(environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tests.e2e.appending"],
        env={**os.environ, **environment},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


async def _check(environment: dict[str, str], acknowledged: set[str]) -> None:
    """What was acknowledged is stored, the next start goes on where the log ends, and all of it verifies."""
    gaby = build(load(environment, env_file=None).settings)
    async with gaby.running():
        next_row = await gaby.audit.append(SYSTEM, system_actor("next start"), "test.row", {})
        with snapshot(gaby.database) as source:
            stored = {str(row.id) for row in source.rows(SYSTEM)}
        report = await verify_live(gaby.database, gaby.clock, anchors=gaby.settings.anchor_path)
    assert acknowledged | {str(next_row.id)} <= stored
    assert report.ok, report.findings


@pytest.fixture
def environment(database_url: str, tmp_path: Path) -> dict[str, str]:
    return {
        "GABY_DATABASE_URL": database_url,
        "GABY_HOME": str(tmp_path / "home"),
        "GABY_AUDIT_CHECKPOINT_ROWS": "20",
        "GABY_LOG_LEVEL": "error",
    }


def failpoints_passed(tmp_path: Path) -> list[str]:
    """Every failpoint that a quiet run passes, found out by running it."""
    seen = tmp_path / "failpoints"
    home = {"GABY_HOME": str(tmp_path / "recorded"), "GABY_AUDIT_CHECKPOINT_ROWS": "20"}
    subprocess.run(
        [sys.executable, "-m", "gaby", "db", "upgrade"],
        env={**os.environ, **home},
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    done = _append({**home, "GABY_FAILPOINTS": f"record:{seen}"})
    assert done.stdout.endswith("finished\n"), done.stderr
    return sorted(set(seen.read_text().split()))


KNOWN = (
    "audit.before_insert",
    "audit.before_commit",
    "audit.after_commit",
    "audit.before_checkpoint_commit",
)


WITH_EVERY_COMMIT = {("audit.after_commit", "@1"), ("audit.before_checkpoint_commit", "@2")}


@pytest.mark.slow
@pytest.mark.promise("A2", "X4")
def test_the_failpoints_below_are_all_there_are(tmp_path: Path) -> None:
    assert failpoints_passed(tmp_path) == sorted(KNOWN)


@pytest.mark.slow
@pytest.mark.promise("A2", "A3")
@pytest.mark.parametrize(
    ("name", "hit"),
    [
        pytest.param(name, hit, marks=() if (name, hit) in WITH_EVERY_COMMIT else pytest.mark.exhaustive)
        for name in KNOWN
        for hit in HITS
    ],
)
async def test_every_acknowledged_row_survives_a_kill(environment: dict[str, str], name: str, hit: str) -> None:
    killed = _append({**environment, "GABY_FAILPOINTS": f"{name}=kill{hit}"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    await _check(environment, set(killed.stdout.split()))
