"""A second installation beside the first, on either engine."""

import shutil
from collections.abc import Generator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.support.postgres import Postgres


@pytest.fixture
def second_url(database_url: str, request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    """The address of another fresh database, on the same engine as `database_url`."""
    if database_url.startswith("sqlite"):
        path = tmp_path / "second.db"
        shutil.copyfile(request.getfixturevalue("migrated_file"), path)
        yield f"sqlite:///{path}"
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = f"test_{uuid4().hex}"
    server.execute(f"CREATE DATABASE {name} TEMPLATE {request.getfixturevalue('migrated_template')}")
    yield server.url(name)
    server.execute(f"DROP DATABASE {name} WITH (FORCE)")
