"""A shell with Gaby's settings for a fresh database, on each engine."""

from pathlib import Path

import pytest

from tests.support.command import Shell
from tests.support.connector_forks import ConnectorForks


@pytest.fixture
def shell(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    database_url: str,
    tmp_path: Path,
    connector_forks: ConnectorForks,
) -> Shell:
    monkeypatch.chdir(tmp_path)
    connector_forks.use(monkeypatch)
    return Shell(monkeypatch, capsys, GABY_DATABASE_URL=database_url, GABY_HOME=str(tmp_path / "home"), COLUMNS="200")


@pytest.fixture
def bare_shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Shell:
    """Nothing is set up yet."""
    monkeypatch.chdir(tmp_path)
    return Shell(monkeypatch, capsys, GABY_HOME=str(tmp_path / "home"), COLUMNS="200")
