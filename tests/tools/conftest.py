"""A workspace whose back office really runs."""

from pathlib import Path

import pytest

from gaby.app import Gaby
from tests.tools.scenes import Scene, open_scene


@pytest.fixture
async def scene(gaby: Gaby, tmp_path: Path) -> Scene:
    """Nothing is connected yet."""
    folder = tmp_path / "effects"
    folder.mkdir()
    return await open_scene(gaby, folder)


@pytest.fixture
async def desk(scene: Scene) -> Scene:
    """With the desk connected and set to act."""
    await scene.connect()
    return scene
