"""Events out of bytes, however the bytes are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.llm.errors import AnswerUnreadable
from gaby.llm.providers.sse import ALIVE, ServerSentEvent, SseDecoder

lines = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20)
written = st.lists(st.tuples(lines, lines.filter(bool), st.sampled_from(["\n", "\r\n"])), max_size=5)


def fed(data: bytes, cuts: list[int]) -> list[ServerSentEvent]:
    decoder = SseDecoder()
    events: list[ServerSentEvent] = []
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    for start, end in pairwise(places):
        events += decoder.feed(data[start:end])
    return events


@given(written, st.lists(st.integers(0, 10_000)))
def test_events_are_the_same_however_they_arrive(several: list[tuple[str, str, str]], cuts: list[int]) -> None:
    """Also with characters in them that Unicode regards as ends of lines."""
    data = "".join(f"event: {name}{end}data: {text}{end}{end}" for name, text, end in several)
    assert fed(data.encode(), cuts) == [ServerSentEvent(name, text) for name, text, _ in several]


@given(st.binary(max_size=300), st.lists(st.integers(0, 300)))
def test_no_bytes_are_too_hostile(data: bytes, cuts: list[int]) -> None:
    try:
        whole, parts = fed(data, []), fed(data, cuts)
    except AnswerUnreadable:
        return
    assert whole == parts


def test_comments_say_only_that_somebody_is_there() -> None:
    assert fed(b": ping\n\n: ping\n\ndata:x\n\n", []) == [ALIVE, ALIVE, ServerSentEvent("", "x")]


def test_data_of_several_lines_is_one_text() -> None:
    assert fed(b"id: 7\ndata: {\ndata: }\nretry: 5\n\n", []) == [ServerSentEvent("", "{\n}")]


def test_an_event_without_its_empty_line_is_none() -> None:
    assert fed(b"data: [DONE]\n", []) == []


def test_an_event_has_a_largest_size() -> None:
    line = b"data: " + b"x" * 100_000 + b"\n"
    with pytest.raises(AnswerUnreadable):
        fed(line * 100, [])
    with pytest.raises(AnswerUnreadable):
        fed(b"x" * 10_000_000, [5_000_000])
