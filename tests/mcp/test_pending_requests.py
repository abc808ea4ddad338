"""Questions past the SDK: every answer reaches whoever asked, and nobody else is disturbed."""

import asyncio

import pytest
from mcp_types import CONNECTION_CLOSED, ErrorData

from gaby.mcp.pending_requests import PendingRequests, UnreadableAnswer

pytestmark = pytest.mark.promise("M7")


async def test_answers_in_any_order_reach_those_who_asked() -> None:
    questions = PendingRequests()
    (first, one), (second, two) = questions.new(), questions.new()
    assert questions.take(_line(second, '"result":{"is":2}'))
    assert questions.take(_line(first, '"result":{"is":1}'))
    assert (await one, await two) == ({"is": 1}, {"is": 2})


async def test_a_refusal_in_words_is_an_answer() -> None:
    questions = PendingRequests()
    number, answer = questions.new()
    assert questions.take(_line(number, '"error":{"code":-32602,"message":"no such tool"}'))
    refused = await answer
    assert isinstance(refused, ErrorData)
    assert refused.message == "no such tool"


async def test_numbers_of_any_length_come_through_unchanged() -> None:
    questions = PendingRequests()
    number, answer = questions.new()
    assert questions.take(_line(number, f'"result":{{"id":{10**30}}}'))
    assert await answer == {"id": 10**30}


@pytest.mark.parametrize(
    "told",
    [
        '"result":[]',
        '"result":{},"error":{"code":1,"message":"both"}',
        '"error":"in words only"',
        '"error":{"code":"one"}',
        '"method":"tools/call","params":{}',
    ],
)
async def test_what_is_no_answer_is_left_to_others(told: str) -> None:
    questions = PendingRequests()
    number, answer = questions.new()
    assert not questions.take(_line(number, told))
    assert not answer.done()


async def test_whoever_waits_for_an_answer_that_nobody_can_read_is_told_at_once() -> None:
    questions = PendingRequests()
    (first, one), (_, two) = questions.new(), questions.new()
    deep = "[" * 5000 + "]" * 5000
    assert questions.take(_line(first, f'"result":{{"structuredContent":{deep}}}'))
    with pytest.raises(UnreadableAnswer):
        await one
    assert not two.done()


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b"7", b'{"jsonrpc":"2.0","id":1,"result":{}}', b"\xff\xfe", b'{"id":[]}']
)
async def test_lines_of_others_are_left_to_others(line: bytes) -> None:
    questions = PendingRequests()
    _, answer = questions.new()
    assert not questions.take(line)
    assert not answer.done()


async def test_the_late_answer_to_one_who_gave_up_is_known_once() -> None:
    questions = PendingRequests()
    number, _ = questions.new()
    questions.give_up(number)
    assert not questions.take(_line(number, '"result":{}'))
    assert questions.was_asked(number)
    assert questions.answer(number, {})
    assert not questions.answer(number, {})


async def test_one_who_is_cancelled_does_not_hinder_the_answer() -> None:
    questions = PendingRequests()
    number, answer = questions.new()
    answer.cancel()
    assert questions.take(_line(number, '"result":{}'))
    with pytest.raises(asyncio.CancelledError):
        await answer


async def test_at_the_end_nobody_is_left_waiting() -> None:
    questions = PendingRequests()
    waiting = [questions.new()[1] for _ in range(3)]
    questions.close()
    ends = [await answer for answer in waiting]
    assert [end.code for end in ends if isinstance(end, ErrorData)] == [CONNECTION_CLOSED] * 3


async def test_a_number_that_was_never_given_out_was_not_asked() -> None:
    questions = PendingRequests()
    number, _ = questions.new()
    assert not questions.was_asked(number + 1)
    assert not questions.was_asked(1)
    assert not questions.was_asked(str(number))


def _line(number: int, rest: str) -> bytes:
    return f'{{"jsonrpc":"2.0","id":{number},{rest}}}'.encode()
