"""Vectors from OpenAI, compatible servers, Azure and Voyage."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.llm.errors import (
    AnswerCutOff,
    AnswerUnreadable,
    ModelBusy,
    ModelDown,
    ModelError,
    ModelTimedOut,
    ModelUnknown,
    RequestRefused,
)
from gaby.llm.messages import EmbeddingResponse, TokenUsage
from gaby.llm.providers.config import Kind
from gaby.llm.providers.vectors import read_vectors
from tests.llm.providers.desk import Desk, opened
from tests.support.models import (
    AnyReply,
    Body,
    Garbage,
    Reply,
    ScriptedModels,
    Status,
    hang,
    html,
    redirect,
    scripted_models,
)

pytestmark = pytest.mark.promise("G1", "G9")
KINDS: tuple[Kind, ...] = ("openai", "compatible", "azure", "voyage")
BY = pytest.mark.parametrize("kind", KINDS)


async def embedded(desk: Desk, *texts: str, seconds: float = 20.0) -> EmbeddingResponse:
    try:
        return await desk.provider.embed(texts, model="embed-test", timeout=seconds)
    finally:
        await desk.provider.close()


@BY
async def test_each_text_has_its_vector_and_is_recorded(models: ScriptedModels, kind: Kind) -> None:
    embedding_response = await embedded(opened(models, kind), "the first text", "another one", "the first text")
    assert len(embedding_response.rows) == 3
    assert embedding_response.rows[0] == embedding_response.rows[2] != embedding_response.rows[1]
    assert embedding_response.usage == TokenUsage(input=8)
    assert [bill.input for bill in models.billed] == [8]


@BY
async def test_no_texts_are_not_asked_for(models: ScriptedModels, kind: Kind) -> None:
    assert await embedded(opened(models, kind)) == EmbeddingResponse(())
    assert not models.requests


FAILURES: dict[str, tuple[AnyReply, type[ModelError]]] = {
    "busy": (Status(429, headers={"Retry-After": "3"}), ModelBusy),
    "down": (Status(500), ModelDown),
    "refused": (Status(422, "too many texts"), RequestRefused),
    "elsewhere": (redirect("http://127.0.0.1:1/"), RequestRefused),
    "garbage": (Garbage(), AnswerUnreadable),
    "silent": (Garbage(b""), ModelDown),
    "a page": (html(), AnswerUnreadable),
    "cut": (Reply(cut_after=0), AnswerCutOff),
    "hanging": (hang(), ModelTimedOut),
    "half": (Body(b'{"data": [{"index": 0, "embedding": [0.1'), AnswerUnreadable),
    "too few": (Body(b'{"data": []}'), AnswerUnreadable),
}


@BY
@pytest.mark.parametrize("what", FAILURES)
async def test_failures_are_the_same_for_vectors(models: ScriptedModels, kind: Kind, what: str) -> None:
    reply, expected = FAILURES[what]
    models.say(reply)
    with pytest.raises(ModelError) as caught:
        await embedded(opened(models, kind), "a text", seconds=0.2 if what == "hanging" else 20.0)
    assert type(caught.value) is expected
    assert models.key not in str(caught.value)


async def test_a_server_that_is_not_there_is_down() -> None:
    with scripted_models() as gone:
        desk = opened(gone, "voyage")
    with pytest.raises(ModelDown):
        await embedded(desk, "a text")


async def test_an_unknown_model_is_unknown(models: ScriptedModels) -> None:
    for kind in ("openai", "voyage"):
        desk = opened(models, kind)
        with pytest.raises(ModelUnknown):
            await desk.provider.embed(["x"], model="voyage-9", timeout=20)
        await desk.provider.close()


async def test_who_has_no_vectors_says_so_and_who_has_only_vectors_too(models: ScriptedModels) -> None:
    claude, voyage = opened(models, "anthropic"), opened(models, "voyage")
    with pytest.raises(RequestRefused):
        await claude.provider.embed(["x"], model="claude-test", timeout=20)
    with pytest.raises(RequestRefused):
        await voyage.chat()
    with pytest.raises(RequestRefused):
        await voyage.stream()
    for desk in (claude, voyage):
        await desk.provider.close()
    assert not models.requests


def answer(rows: Any, **more: Any) -> bytes:
    return orjson.dumps({"data": rows, **more})


BAD_ROWS: dict[str, Any] = {
    "of different length": [{"index": 0, "embedding": [0.1, 0.2]}, {"index": 1, "embedding": [0.1]}],
    "the same twice": [{"index": 0, "embedding": [0.1]}, {"index": 0, "embedding": [0.2]}],
    "for other texts": [{"index": 7, "embedding": [0.1]}, {"index": 8, "embedding": [0.2]}],
    "too many": [{"index": each, "embedding": [0.1]} for each in range(3)],
    "empty": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}],
    "no numbers": [{"index": 0, "embedding": ["x"]}, {"index": 1, "embedding": [None]}],
    "true and false": [{"index": 0, "embedding": [True]}, {"index": 1, "embedding": [False]}],
    "packed": [{"index": 0, "embedding": "AACAPw=="}, {"index": 1, "embedding": "AACAPw=="}],
}


@pytest.mark.parametrize("what", BAD_ROWS)
def test_rows_that_do_not_fit_are_no_vectors(what: str) -> None:
    with pytest.raises(AnswerUnreadable) as caught:
        read_vectors(answer(BAD_ROWS[what], usage={"total_tokens": 5}), 2)
    assert caught.value.usage == TokenUsage(input=5)


def test_rows_are_put_into_the_order_of_the_texts() -> None:
    rows = [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}]
    assert read_vectors(answer(rows), 2).rows == ((1.0,), (2.0,))


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.integers(-9, 9) | st.text(max_size=5), st.lists, max_leaves=8).map(answer)
)
def test_no_body_is_too_hostile_to_be_refused(body: bytes) -> None:
    with pytest.raises(AnswerUnreadable):
        read_vectors(body, 1)
