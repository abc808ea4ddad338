"""`kill -9` in the middle of a re-indexing: the next start goes on, and nothing is missing or made of two models."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gaby.kernel.database import Database
from gaby.llm.embeddings.reindex import Reindexer
from tests.kernel.database.stories import A, on_sqlite
from tests.llm.embeddings.reindex_scenes import NEW, NOTES, OLD, expected, progress, start
from tests.llm.embeddings.scenes import searched_model, stored_vectors, write_notes

pytestmark = [pytest.mark.slow, pytest.mark.promise("G9")]

PLACES = ("reindex.before_store", "reindex.before_commit", "reindex.after_commit", "reindex.before_swap_commit")


def reindex(database_url: str, failpoints: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tests.llm.embeddings.reindexing"],
        env={**os.environ, "GABY_DATABASE_URL": database_url, "GABY_FAILPOINTS": failpoints},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
async def begun(workspaces: Database, reindexer: Reindexer) -> Database:
    """Eight notes that the old model is searched for, on their way to the new one."""
    await write_notes(workspaces, A, NOTES)
    await start(workspaces, reindexer, OLD)
    await reindexer.run()
    await start(workspaces, reindexer, NEW)
    return workspaces


@on_sqlite
async def test_the_places_below_are_all_there_are(begun: Database, database_url: str, tmp_path: Path) -> None:
    seen = tmp_path / "failpoints"
    told = reindex(database_url, f"record:{seen}")
    assert told.stdout == "finished\n", told.stderr
    assert sorted(set(seen.read_text().split())) == sorted(PLACES)


@pytest.mark.parametrize("place", PLACES)
async def test_a_kill_at_any_place_loses_nothing(
    begun: Database, reindexer: Reindexer, database_url: str, place: str
) -> None:
    hit = "@1" if "swap" in place else "@2"
    killed = reindex(database_url, f"{place}=kill{hit}")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    row = await progress(begun, reindexer)
    assert row.state == "running"
    assert len(await stored_vectors(begun, A, NEW)) == row.done > 0
    assert await searched_model(begun, A) == OLD
    assert await stored_vectors(begun, A, OLD) == expected(OLD)
    await reindexer.run()
    assert await searched_model(begun, A) == NEW
    assert await stored_vectors(begun, A, NEW) == expected(NEW)
