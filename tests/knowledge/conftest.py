"""A workspace with documents in it, on each engine."""

from pathlib import Path

import pytest

from gaby.app import Gaby
from tests.knowledge.scenes import KnowledgeScene, knowledge_scene


@pytest.fixture
async def docs(gaby: Gaby, tmp_path: Path) -> KnowledgeScene:
    return await knowledge_scene(gaby, tmp_path / "docs")
