"""The model calls of a whole investigation, looked at afterwards."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from evals.chat_server import ChatAnswer, ChatServer

from gaby.kernel.crypto import SubjectShredded
from gaby.llm.providers.openai_request import OpenAIDialect, completion_params
from tests.agent.scenes import Office
from tests.agent.test_canaries import CANARIES, TICKET
from tests.agent.test_message_gate import Model, use_model

pytestmark = [pytest.mark.promise("G11"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]

STEPS = [
    [("company.search_users", {"query": "nora.lindqvist@brightbakery.example"})],
    [("company.list_logins", {"user_id": "usr_001", "only_failed": True})],
]


async def test_a_whole_run_shows_every_call_as_the_model_received_it_and_is_forgotten_with_its_ticket(
    office: Office,
) -> None:
    gaby, model, received = office.gaby, Model(STEPS, "Your account is fine. [s1]"), list[Mapping[str, Any]]()

    def answer(asked: Mapping[str, Any]) -> ChatAnswer:
        received.append(asked)
        return model.answer(asked)

    with ChatServer(answer) as server:
        await use_model(office, server.url, "plan", "triage", "review", "summarise")
        ticket_id = await office.receive(TICKET)
        await office.work()
    run = await office.run_of(ticket_id)
    await gaby.usage.traces.flush()

    async with gaby.database.read(office.workspace_id) as session:
        calls = [each for each in await gaby.usage.traces.of_run(session, run.id) if each.call.provider != "offline"]
        contents = [await gaby.usage.traces.content(session, each) for each in calls]
    assert len(received) >= 3
    assert {each.subject for each in calls} == {f"ticket:{ticket_id}"}
    for content, asked in zip(contents, received, strict=True):
        sent = json.loads(json.dumps(completion_params(content.request, OpenAIDialect(own=False))))
        assert {name: asked[name] for name in sent} == sent
        assert asked.keys() - sent.keys() <= {"stream", "stream_options"}
        assert "nora.lindqvist@" not in repr(content.request)
        for canary in CANARIES:
            assert canary not in repr(content)

    async with gaby.database.write(office.workspace_id) as session:
        assert await gaby.vault.shred(session, f"ticket:{ticket_id}")
    async with gaby.database.read(office.workspace_id) as session:
        for each in calls:
            with pytest.raises(SubjectShredded):
                await gaby.usage.traces.content(session, each)
