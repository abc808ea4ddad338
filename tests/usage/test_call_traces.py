"""Every model call can be looked at afterwards: what was asked, what came back, and what was made of it."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest
from sqlalchemy import update

from gaby.app import Gaby
from gaby.identity import Role
from gaby.kernel.clock import ManualClock
from gaby.kernel.crypto import CannotOpen, SubjectSealer, SubjectShredded, Vault
from gaby.kernel.database import ReadSession
from gaby.kernel.ids import RunId
from gaby.llm.call_trace import CallTrace
from gaby.llm.messages import ChatMessage, ModelRequest, ToolSpec
from gaby.llm.providers.anthropic_request import message_params
from gaby.llm.results import SkillResult
from gaby.llm.trace_format import MOST_BYTES, pack_trace, unpack_trace
from gaby.usage.call_traces import CallTraces, NoSuchCall, TraceNotStored
from gaby.usage.models import LlmCallTrace
from tests.kernel.logs import captured
from tests.llm.skills import TELL, WANT, WEIGH, Complaint
from tests.support.app_client import World
from tests.support.database_dump import everything_stored
from tests.support.models.http_server import Received
from tests.support.models.replies import Reply, Status, call, calls, hang, structured
from tests.support.models.scripted_vendors import ScriptedModels, scripted_models
from tests.usage.trace_scenes import TracedDesk, traced_desk

pytestmark = pytest.mark.promise("G11")
one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

GOOD = structured({"kilos": 3, "why": "it says so"})
CARD, MAIL = "4242 4242 4242 4242", "nora.lindqvist@brightbakery.example"
SECRETIVE = Complaint(complaint=f"I am {MAIL}, my card is {CARD}.", notes=["The scale is off by 3 kg."])


@pytest.fixture
def vendors() -> Generator[ScriptedModels]:
    with scripted_models() as server:
        yield server


@pytest.fixture
async def desk(gaby: Gaby, vendors: ScriptedModels) -> AsyncGenerator[TracedDesk]:
    async with traced_desk(gaby, vendors) as made:
        yield made


def sent_again(request: ModelRequest) -> Any:
    """What goes over the wire for a stored request."""
    return orjson.loads(orjson.dumps(message_params(request)))


def received_body(received: Received) -> Any:
    return {name: value for name, value in received.json.items() if name != "stream"}


async def test_each_call_of_a_run_is_shown_exactly_as_the_vendor_received_it(desk: TracedDesk) -> None:
    desk.vendors.say(GOOD, calls(call("scale.read", {"scale": "s1"}), text="I look."), Reply("It weighs 3 kg."))
    await desk.run(WEIGH, SECRETIVE)
    await desk.run(WANT, SECRETIVE)
    async for step in desk.gaby.models.runner.stream(TELL, SECRETIVE, desk.occasion):
        assert step
    await desk.gaby.usage.traces.flush()

    listed = await desk.calls()
    assert [(each.number, each.call.skill, each.outcome) for each in listed] == [
        (1, "weigh", "answered"),
        (2, "want", "answered"),
        (3, "tell", "answered"),
    ]
    received = desk.vendors.requests
    contents = [await desk.content(number) for number in (1, 2, 3)]
    for content, got in zip(contents, received, strict=True):
        assert sent_again(content.request) == received_body(got)
        assert CARD not in repr(content)
        assert MAIL not in repr(content)
        assert content.problem is None
        assert not content.shortened
    answers = [content.answer for content in contents]
    assert [answer and answer.text for answer in answers] == [GOOD.text, "I look.", "It weighs 3 kg."]
    assert answers[1] is not None
    assert [(use.name, dict(use.arguments)) for use in answers[1].uses] == [("scale.read", {"scale": "s1"})]
    stored = await everything_stored(desk.gaby)
    for canary in (CARD, MAIL, "The scale is off", "it says so"):
        assert canary.encode() not in stored, canary


async def test_an_answer_that_was_corrected_shows_what_was_wrong_and_what_the_model_was_told(desk: TracedDesk) -> None:
    desk.vendors.say(structured({"kilos": 500}), GOOD)
    await desk.run(WEIGH, Complaint())
    assert [each.outcome for each in await desk.calls()] == ["unacceptable", "answered"]
    first, second = await desk.content(1), await desk.content(2)
    assert first.problem is not None
    assert "why: Field required" in first.problem
    assert len(first.request.messages) == 1
    assert first.problem in second.request.messages[-1].text
    assert second.problem is None


@one_engine
async def test_a_call_that_failed_and_its_retry_are_both_there(desk: TracedDesk) -> None:
    desk.vendors.say(Status(503), GOOD)
    await desk.run(WEIGH, Complaint())
    failed, good = await desk.calls()
    assert (failed.call.state, good.outcome) == ("failed", "answered")
    assert failed.outcome == failed.call.error
    content = await desk.content(1)
    assert content.answer is None
    assert content.problem
    assert content.request == (await desk.content(2)).request


@one_engine
async def test_a_call_that_was_cancelled_is_there_too(desk: TracedDesk) -> None:
    desk.vendors.say(hang())
    asking = asyncio.create_task(desk.run(WEIGH, Complaint()))
    await asyncio.to_thread(desk.vendors.wait_for_requests, 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await desk.gaby.usage.traces.flush()
    [found] = await desk.calls()
    assert found.outcome == "cancelled"
    assert "off by 3 kg" in repr((await desk.content(1)).request.messages)


@one_engine
async def test_an_answer_without_a_model_is_listed_and_has_no_prompt(desk: TracedDesk) -> None:
    desk.vendors.respond = lambda _received: Status(400)
    await desk.run(WEIGH, Complaint())
    asked, offline = await desk.calls()
    assert (asked.has_trace, offline.has_trace, offline.call.provider) == (True, False, "offline")
    with pytest.raises(TraceNotStored):
        await desk.content(2)
    for number in (0, 3):
        with pytest.raises(NoSuchCall):
            await desk.content(number)


@one_engine
@pytest.mark.promise("S5")
async def test_what_is_wrong_with_arguments_is_told_without_the_values_behind_placeholders(desk: TracedDesk) -> None:
    placeholder = next(word for word in desk.conceal(f"me {MAIL} me").split() if word != "me")
    desk.vendors.say(calls(call("scale.list", {"who": placeholder})), calls(call("scale.list")))
    schema: dict[str, Any] = {"type": "object", "properties": {"who": {"type": "integer"}}}
    strict = ToolSpec("scale.list", "List the scales.", schema)

    def tools(_given: Complaint) -> tuple[ToolSpec, ...]:
        return (strict,)

    await desk.run(replace(WANT, tools=tools), Complaint())
    first = await desk.content(1)
    assert first.problem is not None
    assert "who: the value is not of type" in first.problem
    assert all(MAIL.encode() not in received.body for received in desk.vendors.requests)


async def test_whoever_forgets_the_ticket_forgets_what_models_were_asked_about_it(desk: TracedDesk) -> None:
    desk.vendors.respond = lambda _received: GOOD
    await desk.run(WEIGH, SECRETIVE)
    assert await desk.content(1)
    assert await desk.forget()
    with pytest.raises(SubjectShredded):
        await desk.content(1)
    assert [each.outcome for each in await desk.calls()] == ["answered"]
    # A run that goes on meanwhile leaves nothing behind.
    assert (await desk.run(WEIGH, SECRETIVE)).value.kilos == 3
    assert [each.has_trace for each in await desk.calls()] == [True, False]


async def test_traces_are_deleted_when_they_are_old(desk: TracedDesk, clock: ManualClock) -> None:
    desk.vendors.respond = lambda _received: GOOD
    await desk.run(WEIGH, Complaint())
    clock.advance(timedelta(days=20))
    await desk.run(WEIGH, Complaint())
    assert await desk.gaby.usage.traces.sweep() == 0
    clock.advance(timedelta(days=11))
    assert await desk.gaby.usage.traces.sweep() == 1
    assert [each.has_trace for each in await desk.calls()] == [False, True]
    with pytest.raises(TraceNotStored):
        await desk.content(1)
    assert "call traces" in {each.name for each in desk.gaby.schedules()}


def use_traces(desk: TracedDesk, traces: CallTraces) -> None:
    object.__setattr__(desk.gaby.models.runner.dependencies, "traces", traces)
    object.__setattr__(desk.gaby.usage, "traces", traces)


@one_engine
async def test_whoever_keeps_none_stores_none(desk: TracedDesk) -> None:
    gaby = desk.gaby
    desk.vendors.respond = lambda _received: GOOD
    await desk.run(WEIGH, Complaint())
    use_traces(desk, CallTraces(gaby.database, gaby.vault, gaby.clock, timedelta(0)))
    await desk.run(WEIGH, Complaint())
    assert [each.has_trace for each in await desk.calls()] == [True, False]
    assert await gaby.usage.traces.sweep() == 1


class _BrokenVault(Vault):
    async def opening(self, session: ReadSession, subject: str, purpose: str) -> SubjectSealer:
        raise OSError("the disk is on fire")


@one_engine
async def test_a_trace_that_cannot_be_stored_costs_a_warning_and_not_the_answer(desk: TracedDesk) -> None:
    gaby = desk.gaby
    desk.vendors.respond = lambda _received: GOOD
    broken = _BrokenVault(gaby.master_keys, gaby.clock, gaby.ids)
    use_traces(desk, CallTraces(gaby.database, broken, gaby.clock, timedelta(days=1)))
    with captured() as log:
        result: SkillResult[Any] = await desk.run(WEIGH, SECRETIVE)
    assert result.value.kilos == 3
    assert "llm.traces_not_stored" in log.getvalue()
    assert "on fire" in log.getvalue()
    assert [each.has_trace for each in await desk.calls()] == [False]


@one_engine
async def test_two_traces_cannot_be_exchanged(desk: TracedDesk) -> None:
    desk.vendors.respond = lambda _received: GOOD
    await desk.run(WEIGH, Complaint())
    await desk.run(WEIGH, Complaint(complaint="Something else."))
    first, second = [each.call.id for each in await desk.calls()]
    async with desk.gaby.database.write(desk.workspace_id) as session:
        row = await session.get_one(LlmCallTrace, (desk.workspace_id, second))
        mine = (LlmCallTrace.workspace_id == desk.workspace_id, LlmCallTrace.id == first)
        await session.execute(update(LlmCallTrace).where(*mine).values(content=row.content))
    with pytest.raises(CannotOpen):
        await desk.content(1)


@one_engine
async def test_a_call_without_a_ticket_is_sealed_with_the_workspaces_key(gaby: Gaby, vendors: ScriptedModels) -> None:
    vendors.respond = lambda _received: GOOD
    async with traced_desk(gaby, vendors, ticket=False) as desk:
        await desk.run(WEIGH, Complaint())
        [found] = await desk.calls()
        assert found.belongs_to_workspace
        assert found.subject == f"workspace:{desk.workspace_id}"
        assert await desk.content(1)


def trace_with(gaby: Gaby, request: ModelRequest) -> CallTrace:
    call_id: Any = gaby.ids.new()
    workspace_id: Any = gaby.ids.new()
    return CallTrace(call_id, workspace_id, None, request, "answered")


@one_engine
async def test_what_is_too_long_is_cut_where_a_mark_says_so(gaby: Gaby) -> None:
    long = "".join(f"line {number}\n" for number in range(60_000))
    content = unpack_trace(
        pack_trace(trace_with(gaby, ModelRequest("m", "Be brief.", (ChatMessage("user", long),), 10)))
    )
    assert content.shortened
    [message] = content.request.messages
    assert "characters cut" in message.text
    assert message.text.startswith("line 0\n")
    assert message.text.endswith("line 59999\n")
    assert content.request.system == "Be brief."
    many = tuple(ChatMessage("user", f"{number} {'x' * 5000}\ud800") for number in range(20_000))
    packed = pack_trace(trace_with(gaby, ModelRequest("m", "s", many, 10)))
    assert len(packed) < MOST_BYTES
    content = unpack_trace(packed)
    assert content.shortened
    assert "messages cut" in content.request.messages[20].text
    assert content.request.messages[-1].text.startswith("19999 ")


@one_engine
async def test_prompts_are_for_those_who_work_on_tickets_and_calls_of_no_ticket_for_those_who_manage_models(
    world: World, vendors: ScriptedModels
) -> None:
    vendors.respond = lambda _received: GOOD
    async with traced_desk(world.gaby, vendors) as desk:
        await desk.run(WEIGH, SECRETIVE)
        other_run = TracedDesk(world.gaby, desk.workspace_id, vendors, RunId(world.gaby.ids.new()), None)
        await other_run.run(WEIGH, Complaint())
    elsewhere = await world.workspace("elsewhere")
    stranger = await world.browser("stranger@elsewhere.example", elsewhere, Role.OWNER)
    people = {role: await world.browser(f"{role}@acme.example", desk.workspace_id, role) for role in Role}

    async def statuses(run: TracedDesk) -> dict[Role, int]:
        [found] = await run.calls()
        path = f"/api/runs/{run.run_id}/calls/{found.call.id}"
        assert (await stranger.get(path)).status_code == 404
        return {role: (await browser.get(path)).status_code for role, browser in people.items()}

    of_ticket, of_workspace = await statuses(desk), await statuses(other_run)
    assert (of_ticket[Role.VIEWER], of_ticket[Role.OPERATOR], of_ticket[Role.ADMIN]) == (403, 200, 200)
    assert (of_workspace[Role.VIEWER], of_workspace[Role.OPERATOR], of_workspace[Role.ADMIN]) == (403, 403, 200)
    assert (await people[Role.VIEWER].get(f"/api/runs/{desk.run_id}/calls")).status_code == 403
    [listed] = (await people[Role.OPERATOR].get(f"/api/runs/{desk.run_id}/calls")).json()
    assert (listed["number"], listed["outcome"], listed["has_trace"]) == (1, "answered", True)
    shown = (await people[Role.OPERATOR].get(f"/api/runs/{desk.run_id}/calls/{listed['id']}")).json()
    assert shown["answer"]["text"] == GOOD.text
    assert "Lanternfish" in shown["prompt"]["system"]
    assert shown["call"]["number"] == 1
    await desk.forget()
    gone = await people[Role.ADMIN].get(f"/api/runs/{desk.run_id}/calls/{listed['id']}")
    assert gone.status_code == 409
