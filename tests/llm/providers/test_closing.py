"""Nothing is left behind: not by a cancelled question, not by a stream that nobody follows to its end."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from gaby.llm.messages import TextDelta
from tests.llm.providers.desk import Desk, opened
from tests.support.models import Reply, ScriptedModels, hang

pytestmark = pytest.mark.promise("G1")


async def cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_question_can_be_cancelled_before_the_answer(desk: Desk) -> None:
    for ask in (desk.chat, desk.stream):
        before = len(desk.models.requests)
        desk.models.say(hang())
        asking = asyncio.create_task(ask())
        await asyncio.to_thread(desk.models.wait_for_requests, before + 1)
        await cancelled(asking)
    desk.models.wait_for_hang_ups(2)
    desk.models.wait_for_connections(0)


async def test_a_stream_can_be_cancelled_in_its_middle(desk: Desk) -> None:
    desk.models.say(Reply("A text of some length, of which only a part is read.", hang_after=5))
    begun = asyncio.Event()

    async def follow() -> None:
        async for _ in desk.provider.stream(desk.question()):
            begun.set()

    following = asyncio.create_task(follow())
    await begun.wait()
    await cancelled(following)
    desk.models.wait_for_hang_ups(1)
    desk.models.wait_for_connections(0)


async def test_who_stops_reading_a_stream_hangs_up(desk: Desk) -> None:
    desk.models.say(Reply("A text of some length, of which only a part is read.", hang_after=5))
    stream: Any = desk.provider.stream(desk.question())
    async with aclosing(stream) as coming:
        async for each in coming:
            assert isinstance(each, TextDelta)
            break
    desk.models.wait_for_connections(0)


async def test_one_connection_serves_many_questions(claude: Desk) -> None:
    for _ in range(3):
        await claude.chat()
        await claude.stream()
    assert claude.models.connections == 1


async def test_a_local_server_gets_a_new_connection_for_each_question(models: ScriptedModels) -> None:
    """Such servers promise to keep a connection, and close it."""
    desk = opened(models, "compatible")
    for _ in range(3):
        await desk.chat()
        await desk.stream()
    models.wait_for_connections(0)
    await desk.provider.close()


async def test_a_provider_may_be_made_in_another_thread(models: ScriptedModels) -> None:
    """Loading the vendors' packages takes too long for the event loop."""
    for kind in ("anthropic", "openai", "voyage"):
        desk = await asyncio.to_thread(opened, models, kind)
        await desk.provider.embed(["x"], model="embed-test", timeout=20) if kind == "voyage" else await desk.chat()
        await desk.provider.close()
    models.wait_for_connections(0)


async def test_questions_at_the_same_time_do_not_disturb_each_other(desk: Desk) -> None:
    desk.models.respond = lambda received: Reply(str(received.json["messages"])[-40:])
    answers = await asyncio.gather(*(desk.chat(system=f"number {each}") for each in range(20)))
    assert len(answers) == 20


async def test_closing_ends_what_is_under_way(desk: Desk) -> None:
    desk.models.say(hang())
    asking = asyncio.create_task(desk.chat(timeout=30.0))
    await asyncio.to_thread(desk.models.wait_for_requests, 1)
    await cancelled(asking)
    await desk.provider.close()
    await desk.provider.close()
    desk.models.wait_for_connections(0)
