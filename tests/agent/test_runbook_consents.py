"""A consent that a page of the company asks for: found wherever it stands, and shown to whoever is asked."""

from pathlib import Path

import pytest
from evals.chat_server import ChatServer

from gaby.app import Gaby
from gaby.knowledge.source_service import NewSource
from tests.agent.scenes import LOCKED_OUT, Office, open_office
from tests.agent.test_message_gate import Model, use_model
from tests.agent.test_what_was_read import OWN

one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
pytestmark = [one_engine, pytest.mark.promise("S7", "A2")]

CONSENT = "The fraud team has to agree first."


@pytest.fixture
async def office(gaby: Gaby, tmp_path: Path) -> Office:
    return await open_office(gaby, tmp_path)


async def read_pages(office: Office, folder: Path) -> None:
    components = office.gaby.knowledge.components
    async with office.gaby.database.write(office.workspace_id) as session:
        source = await components.sources.add(session, office.actor, NewSource("desk", "folder", str(folder)))
    await components.syncer.sync(office.actor, source.id)


async def test_many_pages_that_name_the_tool_do_not_hide_the_consent(office: Office, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()
    for number in range(12):
        text = f"# Locked out, password, unlock_user {number}\n\n" + "unlock_user when somebody is locked out. " * 5
        (folder / f"page-{number}.md").write_text(text)
    far = "Words about something else entirely.\n\n" * 1500
    (folder / "zz-fraud.md").write_text(f"# Seasons\n\n{far}\n\n# Rules\n\nBefore you use `unlock_user`: {CONSENT}\n")
    await read_pages(office, folder)
    model = Model([[OWN], [("company.unlock_user", {"user_id": "usr_002"})]], "Done. [s1]")
    with ChatServer(model.answer) as server:
        await use_model(office, server.url, "plan", "review")
        await office.receive(LOCKED_OUT)
        await office.work()
    [asked] = await office.waiting()
    assert asked.tool == "unlock_user"
    told = {each["rule"]: each["reason"] for each in asked.concerns}
    assert CONSENT in told["consent.wanted"]
    # Whatever else the person is asked about stands beside it.
    assert len(told) > 1
