"""Fixtures that all tests share: a migrated database on each engine, a held clock, steady ids."""

import shutil
from collections import defaultdict
from collections.abc import AsyncGenerator, Generator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis

from gaby.app import Gaby, build
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database, open_database
from gaby.kernel.ids import IdFactory
from gaby.migrations import upgrade
from gaby.settings import Settings, load
from tests.support.app_client import World
from tests.support.connector_forks import ConnectorForks
from tests.support.postgres import Postgres, start_postgres
from tests.support.shared_costs import share_costs

ENGINES = ("sqlite", "postgresql")
SAMPLED = ("agent", "api", "app", "audit/test_witness.py", "cli", "identity", "llm", "skills", "tickets", "tools")
"""Tests that are not about statements. On Postgres every fourth of a module runs with every commit, all in
`make test-exhaustive`; on SQLite all run with every commit."""

share_costs()
# No test may depend on how fast this machine is.
hypothesis.register_profile("commit", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis.register_profile("exhaustive", parent=hypothesis.get_profile("commit"), max_examples=500)
hypothesis.load_profile("commit")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = Path(__file__).parent
    on_both: dict[tuple[Path, str], set[str]] = defaultdict(set)
    found: list[tuple[pytest.Function, str]] = []
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and item.path.is_relative_to(tests):
            engine = item.callspec.params.get("database_url")
            if engine in ENGINES and item.path.relative_to(tests).as_posix().startswith(SAMPLED):
                on_both[item.path, item.originalname].add(engine)
                found.append((item, engine))
    twins: dict[Path, int] = defaultdict(int)
    for item, engine in found:
        if engine == "postgresql" and len(on_both[item.path, item.originalname]) == len(ENGINES):
            if twins[item.path] % 4:
                item.add_marker(pytest.mark.exhaustive)
            twins[item.path] += 1


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC))


@pytest.fixture
def ids(clock: ManualClock) -> IdFactory:
    return IdFactory(clock)


@pytest.fixture(scope="session")
def postgres() -> Generator[Postgres]:
    """A real server, one for each worker of the suite, started when a test first asks for it."""
    server = start_postgres()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "gaby.db"
    upgrade(open_database(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def migrated_template(postgres: Postgres) -> str:
    postgres.execute("CREATE DATABASE migrated")
    upgrade(open_database(postgres.url("migrated")))
    return "migrated"


@pytest.fixture(params=ENGINES)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    """The address of a fresh, migrated database, once on each engine."""
    yield from fresh_database(request, request.param, tmp_path / "gaby.db")


@pytest.fixture
def second_url(database_url: str, request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    """The address of another fresh database, on the same engine as `database_url`."""
    engine = "sqlite" if database_url.startswith("sqlite") else "postgresql"
    yield from fresh_database(request, engine, tmp_path / "second.db")


def fresh_database(request: pytest.FixtureRequest, engine: str, path: Path) -> Generator[str]:
    if engine == "sqlite":
        shutil.copyfile(request.getfixturevalue("migrated_file"), path)
        yield f"sqlite:///{path}"
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = f"test_{uuid4().hex}"
    server.execute(f"CREATE DATABASE {name} TEMPLATE {request.getfixturevalue('migrated_template')}")
    yield server.url(name)
    server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def db(database_url: str) -> AsyncGenerator[Database]:
    database = open_database(database_url)
    yield database
    await database.close()


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """Nobody investigates by themselves: tests that want it say when."""
    given = {"GABY_DATABASE_URL": database_url, "GABY_HOME": str(tmp_path / "home"), "GABY_WORKER_MODE": "off"}
    return load(given, env_file=None).settings


@pytest.fixture(scope="session")
def connector_forks(tmp_path_factory: pytest.TempPathFactory) -> Generator[ConnectorForks]:
    forks = ConnectorForks(tmp_path_factory.mktemp("forks"))
    yield forks
    forks.close()


@pytest.fixture
async def gaby(
    settings: Settings, clock: ManualClock, connector_forks: ConnectorForks, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Gaby]:
    """All of Gaby on a fresh database, with time held still."""
    connector_forks.use(monkeypatch)
    built = build(settings, clock=clock, public_url="http://gaby.example")
    async with built.running():
        yield built


@pytest.fixture
def world(gaby: Gaby) -> World:
    return World(gaby)
