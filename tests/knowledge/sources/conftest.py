"""A small website, and the ground of sources that may call this machine and never wait."""

from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gaby.knowledge.sources.config import SourceConfig, SourceDependencies
from gaby.knowledge.sources.factory import make_source
from gaby.knowledge.sources.limits import SourceLimits
from gaby.knowledge.sources.source import DocumentSource
from tests.support.knowledge.website import SmallSite, small_site

LOOPBACK = ("127.0.0.0/8",)


@dataclass
class Sleeper:
    """Notes how long would have been waited."""

    waits: list[float] = field(default_factory=list[float])

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


Opening = Callable[..., DocumentSource]


@pytest.fixture
async def opening(dependencies: SourceDependencies) -> AsyncGenerator[Opening]:
    """Makes sources, and closes them at the end."""
    document_sources: list[DocumentSource] = []

    def make(config: SourceConfig, other: SourceDependencies | None = None) -> DocumentSource:
        document_sources.append(make_source(config, other or dependencies))
        return document_sources[-1]

    yield make
    for source in document_sources:
        await source.close()


@pytest.fixture
def website() -> Generator[SmallSite]:
    with small_site() as site:
        yield site


@pytest.fixture
def sleeper() -> Sleeper:
    return Sleeper()


@pytest.fixture
def dependencies(tmp_path: Path, sleeper: Sleeper) -> SourceDependencies:
    return SourceDependencies(
        cache=tmp_path / "cache",
        allowed_networks=LOOPBACK,
        limits=SourceLimits(request_seconds=5.0, document_seconds=10.0, pause_seconds=0.0),
        now=lambda: datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC),
        sleep=sleeper,
    )
