from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import pytest

from gaby.tickets.adapters.github import kind
from gaby.tickets.adapters.github.desk import GitHubDesk
from tests.support.desks.dependencies import Standing, standing
from tests.support.desks.github import REPOSITORY, TOKEN, ScriptedGitHub, scripted_github

Opening = Callable[..., GitHubDesk]


@pytest.fixture
def vendor() -> Generator[ScriptedGitHub]:
    with scripted_github() as github:
        yield github


@pytest.fixture
async def dependencies() -> AsyncGenerator[Standing]:
    async with standing() as held:
        yield held


@pytest.fixture
def opening(vendor: ScriptedGitHub, dependencies: Standing) -> Opening:
    def opened(**more: Any) -> GitHubDesk:
        config = {"repositories": [REPOSITORY], "token": TOKEN, "api_url": vendor.url, **more}
        return GitHubDesk(kind.config.model_validate(config), dependencies.dependencies)

    return opened


@pytest.fixture
def desk(opening: Opening) -> GitHubDesk:
    return opening(since="2030-01-01T00:00:00Z", webhook_secret="a secret of the hook")
