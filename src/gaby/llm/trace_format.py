"""The stored form of a call's trace: JSON, compressed, and bounded in size."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from pydantic import TypeAdapter

from gaby.kernel.text import has_lone_surrogate
from gaby.llm.call_trace import CallTrace
from gaby.llm.messages import ChatMessage, ModelRequest, ModelResponse

MOST_BYTES = 1_000_000
"""Of one trace before it is compressed."""
_TEXT_LIMITS = (200_000, 50_000, 10_000, 1_000)
"""Characters that a text may have, each tried when the one before it left too much."""
_MOST_MESSAGES = 40
_COMPRESSION = 6


@dataclass(frozen=True)
class TraceContent:
    """What is sealed of a trace."""

    call_id: str
    """So that nobody can exchange two traces."""
    request: ModelRequest
    answer: ModelResponse | None
    problem: str | None
    shortened: bool = False
    """Whether something was cut out, which a mark in the text shows."""


def pack_trace(trace: CallTrace) -> bytes:
    whole = TraceContent(trace.call_id.hex, trace.request, trace.answer, trace.problem)
    for limit in _TEXT_LIMITS:
        plain = _json(_cut(whole, limit))
        if len(plain) <= MOST_BYTES:
            break
    else:
        plain = _json(_outline(whole))
    return zlib.compress(plain, _COMPRESSION)


def unpack_trace(data: bytes) -> TraceContent:
    return _adapter().validate_json(zlib.decompress(data))


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[TraceContent]:
    return TypeAdapter(TraceContent)


def _json(content: TraceContent) -> bytes:
    return _adapter().dump_json(content)


def _cut(whole: TraceContent, limit: int) -> TraceContent:
    def shorter(text: str) -> str:
        return shortened_text(text, limit)

    request = whole.request
    request = replace(
        request,
        system=shorter(request.system),
        envelope=shorter(request.envelope),
        messages=tuple(_cut_message(message, shorter) for message in request.messages),
        tools=tuple(replace(tool, description=shorter(tool.description)) for tool in request.tools),
    )
    answer = None if whole.answer is None else replace(whole.answer, text=shorter(whole.answer.text))
    problem = None if whole.problem is None else shorter(whole.problem)
    is_cut = (request, answer, problem) != (whole.request, whole.answer, whole.problem)
    return TraceContent(whole.call_id, request, answer, problem, is_cut)


def _cut_message(message: ChatMessage, shorter: Callable[[str], str]) -> ChatMessage:
    replies = tuple(replace(reply, text=shorter(reply.text)) for reply in message.replies)
    return replace(message, text=shorter(message.text), replies=replies)


def _outline(whole: TraceContent) -> TraceContent:
    """For what has so many parts that shorter texts do not help: the beginning and the end, and the names of tools."""
    cut = _cut(whole, _TEXT_LIMITS[-1])
    half = _MOST_MESSAGES // 2
    messages = cut.request.messages
    if len(messages) > _MOST_MESSAGES:
        mark = ChatMessage("user", f"[... {len(messages) - 2 * half} messages cut ...]")
        messages = (*messages[:half], mark, *messages[-half:])
    messages = tuple(replace(message, uses=message.uses[:half], replies=message.replies[:half]) for message in messages)
    tools = tuple(replace(tool, description="", schema={}) for tool in cut.request.tools[:1000])
    return replace(cut, request=replace(cut.request, messages=messages, tools=tools, shape=None), shortened=True)


def shortened_text(text: str, limit: int) -> str:
    """Its beginning and its end with a mark between them, if it is longer than the limit."""
    if has_lone_surrogate(text):
        text = text.encode(errors="replace").decode()
    if len(text) <= limit:
        return text
    tail = limit // 4
    head = limit - tail
    return f"{text[:head]}\n[... {len(text) - limit:,} characters cut ...]\n{text[-tail:]}"
