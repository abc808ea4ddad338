"""A workspace with the built-in desk and nothing else."""

from pathlib import Path

import pytest

from gaby.app import Gaby
from tests.agent.scenes import Office, open_office


@pytest.fixture
async def place(gaby: Gaby, tmp_path: Path) -> Office:
    return await open_office(gaby, tmp_path / "company", sample=False)
