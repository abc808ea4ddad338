"""Every skill answers with no model and no network, and the same each time."""

import socket
from typing import Any, NoReturn

import pytest

from gaby.app import Gaby
from gaby.kernel.actors import system_actor
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.llm.skill import Skill
from gaby.skills import SKILLS

pytestmark = [
    pytest.mark.promise("G2"),
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a socket that leads anywhere fails. The event loop's own pair is not one."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("somebody wanted to reach the network")

    for name in ("connect", "connect_ex", "sendto", "bind"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


async def a_workspace(gaby: Gaby) -> WorkspaceId:
    async with gaby.database.write(SYSTEM) as session:
        row = await gaby.identity.workspaces.create(session, system_actor("test"), slug="acme", name="Acme")
        return WorkspaceId(row.id)


@pytest.mark.parametrize("skill", list(SKILLS), ids=lambda skill: skill.name)
async def test_it_answers_its_example_without_a_model(gaby: Gaby, no_network: None, skill: Skill[Any, Any]) -> None:
    workspace_id = await a_workspace(gaby)
    occasion = gaby.models.occasion(workspace_id)
    assert skill.example is not None
    first = await gaby.models.runner.run(skill, skill.example, occasion)
    again = await gaby.models.runner.run(skill, skill.example, occasion)
    assert isinstance(first.value, skill.gives)
    assert first.value == again.value
    assert first.value.model_dump(exclude_defaults=True) != {}
    assert (first.offline, first.degraded, first.usage.total, first.nano_usd) == (True, False, 0, 0)


def test_the_block_itself_works(no_network: None, database_url: str) -> None:
    with pytest.raises(AssertionError, match="network"):
        socket.create_connection(("127.0.0.1", 9))


async def test_every_skill_with_prose_can_be_streamed_without_a_model(gaby: Gaby, no_network: None) -> None:
    occasion = gaby.models.occasion(await a_workspace(gaby))
    prose = [skill for skill in SKILLS if skill.form == "text"]
    assert prose
    for skill in prose:
        steps = [step async for step in gaby.models.runner.stream(skill, skill.example, occasion)]
        assert len(steps) == 1
