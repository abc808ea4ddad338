"""Scripted vendors, and providers that ask them."""

import asyncio
from collections.abc import AsyncGenerator, Generator

import pytest

from tests.llm.providers.desk import Desk, opened
from tests.support.models import ScriptedModels, scripted_models


@pytest.fixture
def models() -> Generator[ScriptedModels]:
    with scripted_models() as server:
        yield server


@pytest.fixture(params=["anthropic", "openai", "compatible"])
async def desk(request: pytest.FixtureRequest, models: ScriptedModels) -> AsyncGenerator[Desk]:
    """One provider of each kind in turn. After every test, nothing of it may be left."""
    desk = opened(models, request.param)
    yield desk
    await desk.provider.close()
    models.wait_for_connections(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.fixture
async def claude(models: ScriptedModels) -> AsyncGenerator[Desk]:
    desk = opened(models, "anthropic")
    yield desk
    await desk.provider.close()
    models.wait_for_connections(0)
