"""A host with little patience, so that tests of failures are quick."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from gaby.kernel.clock import ManualClock
from gaby.kernel.metrics import Metrics
from gaby.mcp import HostLimits, McpHost, SpillFolder
from tests.mcp.ciphers import AesCipher
from tests.mcp.scenes import KEY, QUICK, nasty
from tests.support.seeded_random import Dice


@pytest.fixture
def limits() -> HostLimits:
    """Tests that need others say so with `with_limits`."""
    return QUICK


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def spill(tmp_path: Path, clock: ManualClock) -> SpillFolder:
    return SpillFolder(tmp_path / "spill", AesCipher(), clock, Dice("spill"))


@pytest.fixture
async def host(clock: ManualClock, metrics: Metrics, limits: HostLimits, spill: SpillFolder) -> AsyncGenerator[McpHost]:
    """It knows the nasty server already."""
    built = McpHost(clock, Dice("host"), metrics, limits, spill)
    await built.configure(KEY, nasty())
    yield built
    await built.aclose()
