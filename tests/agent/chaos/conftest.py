"""One process for each worker of the suite that has read everything and forks; one stage for each scenario."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.agent.chaos.harness import Herd, Stage
from tests.agent.chaos.killing import Trial, undisturbed
from tests.agent.chaos.scenarios import SCENARIOS
from tests.support.postgres import Postgres


@pytest.fixture(scope="session")
def herd(tmp_path_factory: pytest.TempPathFactory) -> Generator[Herd]:
    made = Herd(tmp_path_factory.mktemp("herd"))
    yield made
    made.close()


class Staged:
    """A scenario's stage with the run that nobody disturbed, made when it is first asked for."""

    def __init__(self, herd: Herd, migrated: Path | str, server: Postgres | None = None) -> None:
        self._herd = herd
        self._migrated = migrated
        self._server = server
        self._stages: dict[str, Stage] = {}
        self._trials: dict[tuple[str, ...], Trial] = {}

    def __call__(self, name: str, **more: str) -> Trial:
        if name not in self._stages:
            stage = Stage(self._herd, SCENARIOS[name].place, (name,), self._server)
            stage.prepare(self._migrated)
            self._stages[name] = stage
        key = (name, *more.values())
        if key not in self._trials:
            self._trials[key] = undisturbed(self._stages[name], **more)
        return self._trials[key]

    def remove(self) -> None:
        for stage in self._stages.values():
            stage.remove()


@pytest.fixture(scope="session")
def staged(herd: Herd, migrated_file: Path) -> Staged:
    return Staged(herd, migrated_file)


@pytest.fixture(scope="session")
def staged_on_postgres(herd: Herd, postgres: Postgres, migrated_template: str) -> Generator[Staged]:
    staged = Staged(herd, migrated_template, postgres)
    yield staged
    staged.remove()
