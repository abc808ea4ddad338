"""Scripted vendors, fresh for each test."""

from collections.abc import AsyncGenerator, Generator

import pytest

from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from tests.llm.scenes import Bench, bench
from tests.support.models.scripted_vendors import ScriptedModels, scripted_models


@pytest.fixture
def vendors() -> Generator[ScriptedModels]:
    with scripted_models() as server:
        yield server


@pytest.fixture
async def runtime(vendors: ScriptedModels, db: Database, clock: ManualClock) -> AsyncGenerator[Bench]:
    async with bench(vendors, db, clock) as made:
        yield made
