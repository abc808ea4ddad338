"""The stage: one Gaby in a folder of its own, with time held still, and a company founded once to be copied."""

import asyncio
import shutil
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock

from gaby.app import Gaby, build
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.migrations import upgrade
from gaby.settings import Settings
from gaby_connectors.sample_company.company import create_company

START = datetime(2030, 3, 4, 9, tzinfo=UTC)
DATABASE = "lanternfish.db"


class FixedWallClock:
    """The wall clock moves only when told to. Spans are real, so that what is measured is true."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return time.monotonic()

    def advance(self, by: timedelta) -> None:
        self._now += by


class FrozenClock(FixedWallClock):
    """Spans stand still too, so that however long an answer takes, nothing runs out and every run is the same."""

    def monotonic(self) -> float:
        return self._now.timestamp()


@dataclass
class EvalEnvironment:
    gaby: Gaby
    clock: FixedWallClock
    home: Path
    _creating: Lock = field(default_factory=Lock)

    def copy_company(self, folder: Path) -> Path:
        """The company as it is now, copied into the folder. Every moment gives the same company."""
        template = self.home / f"company-{self.clock.now():%Y%m%dT%H%M%S}.db"
        with self._creating:
            if not template.exists():
                create_company(template, self.clock.now())
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(template, folder / DATABASE))

    async def workspace(self, name: str) -> Actor:
        """A new one, for one case alone."""
        slug = f"case-{self.gaby.ids.new().hex[-12:]}"
        async with self.gaby.database.write(SYSTEM) as session:
            workspace = await self.gaby.identity.workspaces.create(
                session, system_actor("eval"), slug=slug, name=name[:80]
            )
        return system_actor("operator of the evaluation", WorkspaceId(workspace.id))


@asynccontextmanager
async def open_stage(settings: Settings, clock: FixedWallClock | None = None) -> AsyncGenerator[EvalEnvironment]:
    """The models and budgets of the settings, and nothing else of the installation: not its data, not its keys."""
    with tempfile.TemporaryDirectory(prefix="gaby-eval-") as folder:
        home = Path(folder)
        own = Settings(
            home=home / "gaby",
            models=settings.models,
            budget=settings.budget,
            agent=settings.agent,
            safety=settings.safety,
            connectors=settings.connectors,
        )
        clock = clock or FixedWallClock(START)
        gaby = build(own, clock=clock, public_url="http://gaby.example")
        await asyncio.to_thread(upgrade, gaby.database)
        async with gaby.running(background=False):
            yield EvalEnvironment(gaby, clock, home)
