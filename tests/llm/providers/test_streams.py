"""Streams that break, stall, or only take their time."""

import pytest

from gaby.llm.errors import AnswerCutOff, AnswerUnreadable, ModelBusy, ModelDown, ModelError, ModelTimedOut
from gaby.llm.messages import ModelResponse, TextDelta, TokenUsage
from tests.llm.providers.desk import FIND, Desk
from tests.support.models import Body, Gate, Reply, call, calls

pytestmark = pytest.mark.promise("G8")

LONG = Reply("Here is what I found, step by step, in a text of some length.")


async def broken(desk: Desk, reply: Reply, seconds: float = 20.0) -> tuple[list[TextDelta], ModelError]:
    desk.models.say(reply)
    pieces: list[TextDelta] = []
    try:
        async for each in desk.provider.stream(desk.question(timeout=seconds, tools=(FIND,))):
            assert isinstance(each, TextDelta)
            pieces.append(each)
    except ModelError as error:
        return pieces, error
    raise AssertionError("the stream came to an end")


def charged_usage(desk: Desk) -> TokenUsage | None:
    """What the vendor had said that it charges."""
    told = [bill for bill in desk.models.billed[-1:] if bill.told]
    return TokenUsage(told[0].input, told[0].output, told[0].cache_read, told[0].cache_write) if told else None


@pytest.mark.parametrize("abrupt", [False, True])
@pytest.mark.parametrize("events", [0, 1, 2, 3, -3, -2, -1])
async def test_a_stream_that_breaks_off_is_never_taken_for_an_answer(desk: Desk, events: int, abrupt: bool) -> None:
    """Wherever it breaks, and even if its connection ends as if all were well."""
    _, error = await broken(desk, Reply("Here is what I found.", cut_after=events, abrupt=abrupt))
    assert type(error) is AnswerCutOff
    desk.models.wait_for_requests(1)
    assert error.usage == (charged_usage(desk) if desk.models.billed else None)


@pytest.mark.parametrize("events", [1, 2, 3, 4, -3, -2, -1])
async def test_tool_calls_of_a_broken_stream_are_thrown_away(desk: Desk, events: int) -> None:
    reply = calls(call(FIND.name, {"email": "kevin@hartwell.example"}))
    _, error = await broken(desk, Reply(calls=reply.calls, cut_after=events))
    assert type(error) is AnswerCutOff


async def test_a_stream_that_stops_in_its_middle_times_out(desk: Desk) -> None:
    for events in (0, 1, 4):
        # Long enough for a busy machine to send the question and to read what came before it stopped.
        _, error = await broken(desk, Reply(LONG.text, hang_after=events), seconds=1.0)
        assert type(error) is ModelTimedOut
        assert error.usage == (charged_usage(desk) if events else None)
    desk.models.wait_for_hang_ups(3)


@pytest.mark.promise("G1")
async def test_a_provider_that_is_slow_but_alive_is_waited_for(desk: Desk) -> None:
    """The time counts for each piece. Between two of them other questions are answered, one after the other."""
    gate = Gate()
    gate.release(3)
    desk.models.say(Reply(LONG.text, paced=gate))
    said = ""
    answer: ModelResponse | None = None
    async for each in desk.provider.stream(desk.question()):
        match each:
            case TextDelta():
                said += each.text
                assert (await desk.chat()).text == "Fine."
                gate.release(3)
            case ModelResponse():
                answer = each
    assert answer is not None
    assert said == answer.text == LONG.text


async def test_signs_of_life_are_no_pieces(desk: Desk) -> None:
    desk.models.say(Reply(LONG.text, pings=50))
    pieces, answer = await desk.stream()
    assert pieces == answer.text == LONG.text


async def test_a_stream_of_nothing_but_signs_of_life_does_not_go_on_for_ever(desk: Desk) -> None:
    _, error = await broken(desk, Reply(LONG.text, hang_after=3, endless=True), seconds=0.05)
    assert type(error) is ModelTimedOut


async def test_an_error_inside_a_stream_is_an_error(desk: Desk) -> None:
    _, error = await broken(desk, Reply(failure="overloaded_error"))
    assert type(error) is ModelBusy
    _, error = await broken(desk, Reply(failure="server_error"))
    assert type(error) is ModelDown
    _, error = await broken(desk, Reply(LONG.text, failure="overloaded_error", cut_after=4))
    assert type(error) is AnswerCutOff
    assert error.usage == charged_usage(desk)


async def test_what_had_been_said_when_the_limit_was_passed_is_booked(claude: Desk) -> None:
    claude.models.say(Reply("word " * 200_000, limited=False))
    with pytest.raises(AnswerUnreadable) as caught:
        await claude.stream()
    assert caught.value.usage is not None
    assert caught.value.usage.cache_write == claude.models.billed[0].cache_write > 0


NO_STREAMS = {
    "no JSON": b"event: message_start\ndata: {broken\n\n",
    "no UTF-8": b"data: \xff\xfe\n\n",
    "an endless event": b"data: " + b"x" * 9_000_000,
    "an endless line": b"x" * 9_000_000,
    "text without a beginning": (
        b'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 0, '
        b'"delta": {"type": "text_delta", "text": "Sure."}}\n\nevent: message_stop\ndata: {"type": "message_stop"}\n\n'
    ),
    "only an end": b'event: message_stop\ndata: {"type": "message_stop"}\n\ndata: [DONE]\n\n',
}


@pytest.mark.parametrize("what", NO_STREAMS)
async def test_a_stream_that_is_none_is_unreadable(desk: Desk, what: str) -> None:
    desk.models.say(Body(NO_STREAMS[what], "text/event-stream"))
    with pytest.raises((AnswerUnreadable, AnswerCutOff)):
        await desk.stream()


async def test_an_unfinished_event_at_the_end_is_no_event(desk: Desk) -> None:
    """The last line of a broken stream could say anything."""
    desk.models.say(Body(b'data: {"type": "message_stop"}\n\ndata: [DONE]', "text/event-stream"))
    with pytest.raises(ModelError):
        await desk.stream()
