from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import pytest

from gaby.tickets.adapters.github import kind
from gaby.tickets.adapters.github.desk import GitHub
from tests.support.desks.github import REPOSITORY, TOKEN, ScriptedGitHub, scripted_github
from tests.support.desks.ground import Standing, standing

Opening = Callable[..., GitHub]


@pytest.fixture
def vendor() -> Generator[ScriptedGitHub]:
    with scripted_github() as github:
        yield github


@pytest.fixture
async def ground() -> AsyncGenerator[Standing]:
    async with standing() as held:
        yield held


@pytest.fixture
def opening(vendor: ScriptedGitHub, ground: Standing) -> Opening:
    def opened(**more: Any) -> GitHub:
        config = {"repositories": [REPOSITORY], "token": TOKEN, "api_url": vendor.url, **more}
        return GitHub(kind.config.model_validate(config), ground.ground)

    return opened


@pytest.fixture
def desk(opening: Opening) -> GitHub:
    return opening(since="2030-01-01T00:00:00Z", webhook_secret="a secret of the hook")
