"""A sync that dies or is interrupted: the next one ends with exactly what an undisturbed one finds."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from gaby.app import Gaby, build
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import Clock, ManualClock, SystemClock
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.knowledge.models import KnowledgeDocument, KnowledgePassage, KnowledgeVector
from gaby.knowledge.sync import AlreadySyncing
from gaby.settings import load
from tests.knowledge.scenes import KnowledgeScene, knowledge_scene

pytestmark = pytest.mark.promise("K1")

FILES = 300
"""More than two batches."""
QUESTIONS = ("error E-1017 of the pump", "how is pump 250 restarted?", "valve 7")
TIMEOUT = 60


@dataclass(frozen=True)
class Installation:
    """A database with one source that was not read yet."""

    url: str
    home: Path
    docs: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"GABY_DATABASE_URL": self.url, "GABY_HOME": str(self.home), "GABY_LOG_LEVEL": "error"}

    @asynccontextmanager
    async def opened(self, clock: Clock) -> AsyncGenerator[Gaby]:
        gaby = build(load(self.environment, env_file=None).settings, clock=clock)
        async with gaby.running(background=False):
            yield gaby

    def start(self, failpoints: str = "") -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "gaby", "knowledge", "sync", "--json"],
            env={**os.environ, **self.environment, "GABY_FAILPOINTS": failpoints},
            cwd=self.docs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    for number in range(FILES):
        text = f"# Pump {number}\n\nError E-{1000 + number} stops pump {number}. Restart it with valve {number % 9}.\n"
        (folder / f"{number:03}.md").write_text(text)
    return folder


@pytest.fixture
async def installed(migrated_file: Path, tmp_path: Path, docs: Path) -> Installation:
    return await install(migrated_file, tmp_path, docs, "gaby")


@pytest.fixture(scope="module")
def undisturbed(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory, docs: Path) -> "Held":
    """What a sync holds that nobody disturbs."""

    async def synced() -> Held:
        installation = await install(migrated_file, tmp_path_factory.mktemp("undisturbed"), docs, "gaby")
        async with installation.opened(SystemClock()) as gaby:
            place = await only_scene(gaby, docs)
            async with gaby.database.read(place.workspace_id) as session:
                row = await place.components.sources.named(session, "docs")
            await place.sync(row)
            return await held(place)

    return asyncio.run(synced())


async def install(migrated_file: Path, folder: Path, docs: Path, name: str) -> Installation:
    shutil.copyfile(migrated_file, folder / f"{name}.db")
    installation = Installation(f"sqlite:///{folder / name}.db", folder / name, docs)
    async with installation.opened(SystemClock()) as gaby:
        await (await knowledge_scene(gaby, docs)).add()
    return installation


async def only_scene(gaby: Gaby, docs: Path) -> KnowledgeScene:
    async with gaby.database.read(SYSTEM) as session:
        [place] = await gaby.identity.workspaces.all(session)
    return KnowledgeScene(gaby, system_actor("test", WorkspaceId(place.id)), docs)


Held = tuple[list[tuple[str, str, int]], int, int, list[str]]


async def held(place: KnowledgeScene) -> Held:
    """Documents, passages, vectors and what searches say, without ids, which are made by chance."""
    document = KnowledgeDocument
    async with place.gaby.database.read(place.workspace_id) as session:
        query = select(document.uri, document.content_hash, document.passages).order_by(document.uri)
        rows = [
            (uri, content, passages)
            for uri, content, passages in await session.execute(
                query.where(document.workspace_id == place.workspace_id)
            )
        ]
        counts = [
            (await session.scalars(select(func.count()).where(table.workspace_id == place.workspace_id))).one()
            for table in (KnowledgePassage, KnowledgeVector)
        ]
    found = [await place.search(question, everything=True) for question in QUESTIONS]
    told = [json.dumps([(hit.citation, hit.text, round(hit.score, 9)) for hit in each.hits]) for each in found]
    return rows, counts[0], counts[1], told


@pytest.mark.parametrize(
    ("failpoint", "written"), [("knowledge.before_write=kill", 0), ("knowledge.after_write=kill@2", 2)]
)
async def test_a_killed_sync_goes_on_and_ends_as_if_nothing_had_happened(
    installed: Installation, docs: Path, undisturbed: Held, failpoint: str, written: int
) -> None:
    killed = installed.start(failpoint)
    killed.communicate(timeout=TIMEOUT)
    assert killed.returncode == -signal.SIGKILL
    clock = ManualClock(datetime.now(UTC))
    async with installed.opened(clock) as gaby:
        place = await only_scene(gaby, docs)
        before = await held(place)
        assert len(before[0]) < FILES
        assert (len(before[0]) > 0) == (written > 0)
        assert before[1] == before[2] == sum(passages for _, _, passages in before[0]), "no batch is written by halves"
        async with gaby.database.read(place.workspace_id) as session:
            row = await place.components.sources.named(session, "docs")
        with pytest.raises(AlreadySyncing):
            await place.sync(row)  # Whether the other one is dead, only its lease can tell.
        clock.advance(timedelta(minutes=3))
        await gaby.knowledge.run_due()  # The schedule picks it up by itself.
        after = await held(place)
        overview = await overview_of(place)
    assert overview == ("done", FILES, 0)
    assert after == undisturbed


async def overview_of(place: KnowledgeScene) -> tuple[str, int, int]:
    async with place.gaby.database.read(place.workspace_id) as session:
        [overview] = await place.components.sources.list(session)
    return overview.row.state, overview.documents, overview.failed


def interrupted_at(failpoint: str, installed: Installation, pipe: Path) -> tuple[int, str]:
    """Ctrl-C while a sync waits at this place: its exit code, and what it said. It writes the names of the places that
    it passes into a pipe, so that nobody has to guess when it is there."""
    os.mkfifo(pipe)
    with (
        os.fdopen(os.open(pipe, os.O_RDWR), encoding="utf-8") as names,
        installed.start(f"{failpoint}=delay:{TIMEOUT}@1,record:{pipe}") as process,
    ):
        while names.readline().strip() != failpoint:
            pass
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT)
    return process.returncode, err


async def test_an_interrupted_sync_may_be_started_again_at_once(
    installed: Installation, tmp_path: Path, docs: Path, undisturbed: Held
) -> None:
    code, err = interrupted_at("knowledge.after_write", installed, tmp_path / "passed")
    assert code == 130
    assert "Traceback" not in err
    async with installed.opened(SystemClock()) as gaby:
        state, documents, _ = await overview_of(await only_scene(gaby, docs))
        assert state == "failed"
        assert 0 < documents < FILES, "what was written stays"
    again = installed.start()
    out, err = again.communicate(timeout=TIMEOUT)
    assert again.returncode == 0, err
    assert [(each["state"], each["documents"]) for each in json.loads(out)] == [("done", FILES)]
    async with installed.opened(SystemClock()) as gaby:
        after = await held(await only_scene(gaby, docs))
    assert after == undisturbed
