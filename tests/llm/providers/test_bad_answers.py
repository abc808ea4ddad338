"""Whatever a provider answers in place of an answer, it becomes the right error, and never an answer."""

import json
import traceback

import pytest

from gaby.llm.errors import (
    AnswerCutOff,
    AnswerUnreadable,
    KeyRefused,
    ModelBusy,
    ModelDown,
    ModelError,
    ModelTimedOut,
    ModelUnknown,
    RequestRefused,
)
from gaby.llm.messages import ChatMessage, TokenUsage
from gaby.llm.providers.config import ProviderConfig
from gaby.llm.providers.factory import make_provider
from tests.llm.providers.desk import FIND, Desk, opened
from tests.support.models import (
    AnyReply,
    Body,
    Call,
    Garbage,
    Reply,
    ScriptedModels,
    Status,
    calls,
    hang,
    html,
    redirect,
    scripted_models,
)

pytestmark = pytest.mark.promise("G1", "G8")
HOW = pytest.mark.parametrize("how", ["chat", "stream"])

STATUSES: dict[int, type[ModelError]] = {
    400: RequestRefused,
    401: KeyRefused,
    402: ModelBusy,
    403: KeyRefused,
    404: ModelUnknown,
    405: RequestRefused,
    408: ModelTimedOut,
    409: ModelDown,
    413: RequestRefused,
    418: RequestRefused,
    422: RequestRefused,
    429: ModelBusy,
    500: ModelDown,
    502: ModelDown,
    503: ModelBusy,
    504: ModelTimedOut,
    529: ModelBusy,
    599: ModelDown,
}


async def failure(desk: Desk, how: str, reply: AnyReply, seconds: float = 20.0) -> ModelError:
    desk.models.say(reply)
    with pytest.raises(ModelError) as caught:
        await desk.either(how, tools=(FIND,), timeout=seconds, max_output_tokens=2_000_000)
    assert desk.models.key not in "".join(traceback.format_exception(caught.value))
    return caught.value


@HOW
async def test_each_status_has_its_error_and_is_asked_once(desk: Desk, how: str) -> None:
    for count, (status, expected) in enumerate(STATUSES.items(), start=1):
        error = await failure(desk, how, Status(status))
        assert type(error) is expected
        assert len(desk.models.requests) == count
        assert error.retry_after is None
        assert error.usage is None
    assert not desk.models.billed


@HOW
async def test_a_busy_provider_says_how_long_to_wait(desk: Desk, how: str) -> None:
    for status in (429, 503, 529, 500):
        assert (await failure(desk, how, Status(status, headers={"Retry-After": "7"}))).retry_after == 7.0
    told = {"Retry-After": "Wed, 02 Jan 2030 03:04:35 GMT", "Date": "Wed, 02 Jan 2030 03:04:05 GMT"}
    assert (await failure(desk, how, Status(429, headers=told))).retry_after == 30.0
    for absurd in ("-1", "1e300", "nan", "tomorrow", "9" * 400, "Mon, 01 Jan 1990 00:00:00 GMT"):
        assert (await failure(desk, how, Status(429, headers={"Retry-After": absurd}))).retry_after is None


@HOW
async def test_the_vendors_words_come_along_short_printable_and_without_the_key(desk: Desk, how: str) -> None:
    key = desk.models.key
    message = f"max_tokens: too large \x1b[31m for key {key} and for {key[3:-3]}\nreally. " + "x" * 5000
    error = await failure(desk, how, Status(400, message))
    assert "max_tokens: too large \\x1b[31m for key [key] and for [key] really." in error.message
    assert len(error.message) < 500


async def test_a_wrong_key_is_not_repeated_by_our_error(models: ScriptedModels) -> None:
    """OpenAI's error shows the beginning and the end of it."""
    for kind in ("anthropic", "openai", "compatible", "azure", "voyage"):
        config = ProviderConfig.model_validate({**models.config(kind).model_dump(), "key": "sk-wrong-1234567890"})
        wrong = Desk(models, kind, make_provider(config))
        asking = wrong.chat() if kind != "voyage" else wrong.provider.embed(["x"], model="embed-test", timeout=20)
        with pytest.raises(KeyRefused) as caught:
            await asking
        assert "sk-wrong" not in caught.value.message
        assert "7890" not in caught.value.message
        await wrong.provider.close()


@HOW
async def test_an_unknown_model_is_unknown(desk: Desk, how: str) -> None:
    with pytest.raises(ModelUnknown, match="gpt-9"):
        await desk.either(how, model="gpt-9")


@HOW
async def test_an_address_where_something_else_is_says_so(desk: Desk, how: str) -> None:
    error = await failure(desk, how, Status(404, body=b"<html>not found"))
    assert type(error) is ModelUnknown
    assert "address" in error.message


@HOW
async def test_a_text_that_is_no_text_is_not_sent(desk: Desk, how: str) -> None:
    with pytest.raises(RequestRefused):
        await desk.either(how, messages=(ChatMessage("user", "half a character: \ud800"),))
    assert not desk.models.requests


async def test_an_error_with_a_good_status_is_still_an_error(models: ScriptedModels) -> None:
    """As some servers do that pass questions on to others."""
    desk = opened(models, "compatible")
    errors = {429: ModelBusy, 404: ModelUnknown, "rate_limit_exceeded": ModelBusy, None: ModelDown}
    for code, expected in errors.items():
        body = {"error": {"message": "from upstream", "code": code}}
        error = await failure(desk, "chat", Body(json.dumps(body).encode()))
        assert type(error) is expected
        assert "from upstream" in error.message
    await desk.provider.close()


UNREADABLE: dict[str, AnyReply] = {
    "no HTTP": Garbage(),
    "a page of a hotel's network": html(),
    "no JSON": Body(b"\xff\xfe\x00"),
    "wrong JSON": Body(b'{"type": "message", "content": [}'),
    "nothing": Body(b""),
    "another interface": Body(b'{"jsonrpc": "2.0", "result": {}}'),
    "a list": Body(b"[1, 2, 3]"),
    "very deep JSON": Body(b"[" * 200_000),
    "a number": Body(b"1e999"),
    "compressed": Body(b"\x1f\x8b\x08\x00", headers={"Content-Encoding": "gzip"}),
}


@HOW
@pytest.mark.parametrize("what", UNREADABLE)
async def test_what_is_no_answer_is_unreadable(desk: Desk, how: str, what: str) -> None:
    assert type(await failure(desk, how, UNREADABLE[what])) is AnswerUnreadable


@HOW
async def test_a_connection_that_closes_without_a_word_is_a_provider_that_is_down(desk: Desk, how: str) -> None:
    assert type(await failure(desk, how, Garbage(b""))) is ModelDown


async def test_an_address_where_nobody_is_is_a_provider_that_is_down() -> None:
    with scripted_models() as gone:
        desks = [opened(gone, "anthropic"), opened(gone, "openai")]
    for desk in desks:
        with pytest.raises(ModelDown):
            await desk.chat()
        with pytest.raises(ModelDown):
            await desk.stream()
        await desk.provider.close()


@HOW
async def test_a_provider_that_says_nothing_times_out(desk: Desk, how: str) -> None:
    error = await failure(desk, how, hang(), seconds=1.0)
    assert type(error) is ModelTimedOut
    desk.models.wait_for_hang_ups(1)
    assert not desk.models.billed


async def test_an_answer_that_comes_byte_by_byte_must_still_come_in_time(desk: Desk) -> None:
    assert type(await failure(desk, "chat", Reply(endless=True), seconds=0.2)) is ModelTimedOut
    desk.models.wait_for_connections(0)


@HOW
async def test_redirects_are_not_followed_with_the_key(desk: Desk, how: str) -> None:
    with scripted_models() as elsewhere:
        for status in (301, 302, 307, 308):
            error = await failure(desk, how, redirect(elsewhere.url + "/v1/messages", status))
            assert type(error) is RequestRefused
            assert "address" in error.message
        assert not elsewhere.requests


BROKEN_CALLS = {
    "half JSON": (Call("directory__find_user", '{"email": "kevin@hart'),),
    "no object": (Call("directory__find_user", '["kevin"]'),),
    "a text": (Call("directory__find_user", '"kevin"'),),
    "no JSON": (Call("directory__find_user", "email=kevin"),),
    "two objects": (Call("directory__find_user", '{"email": "a"}{"email": "b"}'),),
    "no number of JSON": (Call("directory__find_user", '{"email": NaN}'),),
    "the same id twice": (Call("directory__find_user", "{}", "call_x"), Call("directory__find_user", "{}", "call_x")),
    "no name": (Call("", "{}"),),
    "an endless name": (Call("x" * 10_000, "{}"),),
    "a thousand names": tuple(Call("x") for _ in range(1000)),
}


@HOW
@pytest.mark.parametrize("what", BROKEN_CALLS)
async def test_a_broken_tool_call_never_leaves_as_one(desk: Desk, how: str, what: str) -> None:
    error = await failure(desk, how, calls(*BROKEN_CALLS[what], text="I look."))
    # What broke off may come whole another time. Some vendors send arguments as JSON inside JSON, others not.
    assert type(error) in ({AnswerCutOff, AnswerUnreadable} if what == "half JSON" else {AnswerUnreadable})
    if "name" not in what:
        assert error.usage is not None
        assert [error.usage.output] == [bill.output for bill in desk.models.billed]


@HOW
async def test_one_broken_call_spoils_all_of_them(desk: Desk, how: str) -> None:
    broken = calls(Call("directory__find_user", '{"email": "a"}'), Call("directory__find_user", '{"em'))
    assert type(await failure(desk, how, broken)) in {AnswerCutOff, AnswerUnreadable}
    broken = calls(Call("directory__find_user", '{"email": "a"}'), Call("directory__find_user", "email=a"))
    assert type(await failure(desk, how, broken)) is AnswerUnreadable


@HOW
async def test_a_megabyte_is_no_answer(desk: Desk, how: str) -> None:
    error = await failure(desk, how, Reply("word " * 200_000, limited=False))
    assert type(error) is AnswerUnreadable
    assert "too long" in error.message


@HOW
async def test_a_megabyte_of_arguments_is_no_call(desk: Desk, how: str) -> None:
    long = Call("directory__find_user", json.dumps({"email": "x" * 1_000_000}))
    error = await failure(desk, how, Reply(calls=(long,), limited=False))
    assert type(error) is AnswerUnreadable


async def test_no_body_is_too_large_for_us(desk: Desk) -> None:
    """Neither in an answer nor in an error: nothing of that size is kept."""
    error = await failure(desk, "chat", Body(b"[" + b" " * 9_000_000 + b"]"))
    assert type(error) is AnswerUnreadable
    error = await failure(desk, "chat", Status(400, body=b'{"error": {"message": "' + b"x" * 9_000_000))
    assert type(error) is RequestRefused
    assert len(error.message) < 500


async def test_an_answer_that_is_cut_in_its_middle_is_cut_off(desk: Desk) -> None:
    for abrupt in (False, True):
        error = await failure(desk, "chat", Reply("A longer text.", cut_after=0, abrupt=abrupt))
        assert type(error) is AnswerCutOff


async def test_a_document_that_ends_too_early_is_cut_off_though_its_connection_says_nothing(desk: Desk) -> None:
    """As behind a proxy that does not tell lengths. Another try may bring the whole."""
    assert type(await failure(desk, "chat", Body(b'{"id": "1", "content": [{"type": "te'))) is AnswerCutOff
    assert type(await failure(desk, "chat", Body(b'{"id": "1", "content": [}'))) is AnswerUnreadable


STRANGE: dict[str, dict[str, object]] = {
    "a reason that nobody knows": {"stop_reason": "aliens", "finish_reason": "aliens"},
    "no reason": {"stop_reason": None, "finish_reason": None},
    "a reason that is no word": {"stop_reason": ["tool_use"], "finish_reason": {"x": 1}},
    "calls that are none": {"stop_reason": "tool_use", "finish_reason": "tool_calls"},
}


@pytest.mark.parametrize("what", STRANGE)
async def test_an_end_that_is_not_understood_is_no_end(desk: Desk, what: str) -> None:
    usage = {"input_tokens": 3, "output_tokens": 2, "prompt_tokens": 3, "completion_tokens": 2}
    message = {"role": "assistant", "content": "Sure."}
    body = {
        "type": "message",
        "content": [{"type": "text", "text": "Sure."}],
        "model": "m",
        "usage": usage,
        "choices": [{"index": 0, "message": message, **STRANGE[what]}],
        **STRANGE[what],
    }
    error = await failure(desk, "chat", Body(json.dumps(body).encode()))
    assert type(error) is AnswerUnreadable
    assert error.usage == TokenUsage(input=3, output=2)
