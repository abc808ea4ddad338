"""Databases that no upgrade has touched yet."""

from collections.abc import Generator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.conftest import ENGINES
from tests.support.postgres import Postgres


@pytest.fixture
def empty_schema(postgres: Postgres) -> Generator[str]:
    """The address of a Postgres database with nothing in it."""
    name = f"empty_{uuid4().hex}"
    postgres.execute(f"CREATE DATABASE {name}")
    yield postgres.url(name)
    postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=ENGINES)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An address where nothing is yet, once on each engine."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'home' / 'gaby.db'}"
    return request.getfixturevalue("empty_schema")
