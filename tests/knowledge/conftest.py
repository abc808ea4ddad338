"""A room with documents in it, on each engine."""

from pathlib import Path

import pytest

from gaby.app import Gaby
from tests.knowledge.scenes import Room, room


@pytest.fixture
async def docs(gaby: Gaby, tmp_path: Path) -> Room:
    return await room(gaby, tmp_path / "docs")
