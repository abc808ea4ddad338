"""A real model behind the compatible provider: it answers, streams, keeps to a shape, and is refused like others."""

import json
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest

from gaby.llm.errors import KeyRefused, ModelTimedOut, RequestRefused
from gaby.llm.messages import ChatMessage, ModelRequest, OutputSchema
from gaby.llm.provider import Provider
from gaby.llm.providers.config import ProviderConfig
from gaby.llm.providers.factory import make_provider
from tests.support.models.local_model import KEY, NAME, LocalModel, start_local_model

pytestmark = [pytest.mark.slow, pytest.mark.promise("G1"), pytest.mark.xdist_group("local model")]

QUESTION = ModelRequest(NAME, "You are brief.", (ChatMessage("user", "Say hello."),), 24, temperature=0.0, timeout=60.0)
ANIMAL = OutputSchema(
    "animal",
    {
        "type": "object",
        "properties": {"name": {"enum": ["cat", "dog"]}, "legs": {"type": "integer"}, "wild": {"type": "boolean"}},
        "required": ["name"],
    },
)


@pytest.fixture(scope="module")
def local() -> Generator[LocalModel]:
    server = start_local_model()
    yield server
    server.remove()


def provider_of(local: LocalModel, key: str = KEY) -> Provider:
    return make_provider(ProviderConfig.model_validate({"kind": "compatible", "base_url": local.url, "key": key}))


@pytest.fixture
async def provider(local: LocalModel) -> AsyncGenerator[Provider]:
    made = provider_of(local)
    yield made
    await made.close()


def question(**changes: Any) -> ModelRequest:
    return ModelRequest(**{**QUESTION.__dict__, **changes})


@pytest.mark.promise("G7")
async def test_it_answers_and_counts(provider: Provider) -> None:
    answer = await provider.chat(QUESTION)
    assert answer.text.strip()
    assert answer.model == NAME
    assert 0 < answer.usage.output <= 24
    assert answer.usage.input + answer.usage.cache_read > 10


async def test_it_streams_what_it_would_have_answered(provider: Provider) -> None:
    coming = [each async for each in provider.stream(QUESTION)]
    whole = await provider.chat(QUESTION)
    assert len(coming) > 3
    assert "".join(each.text for each in coming[:-1]) == coming[-1].text == whole.text


@pytest.mark.promise("G7")
async def test_a_prompt_that_it_knows_comes_from_its_cache(provider: Provider) -> None:
    asked = question(messages=(ChatMessage("user", "Tell me in one sentence what a locked account is."),))
    first, second = await provider.chat(asked), await provider.chat(asked)
    assert second.usage.cache_read > 0
    total = first.usage.input + first.usage.cache_read
    assert second.usage.input + second.usage.cache_read == total


@pytest.mark.parametrize("how", ["chat", "stream"])
async def test_it_keeps_to_a_shape(provider: Provider, how: str) -> None:
    asked = question(shape=ANIMAL, max_output_tokens=80, messages=(ChatMessage("user", "Describe a cat as JSON."),))
    coming = [await provider.chat(asked)] if how == "chat" else [each async for each in provider.stream(asked)]
    found = json.loads(coming[-1].text)
    assert set(found) == {"name", "legs", "wild"}
    assert found["name"] in ("cat", "dog")
    assert type(found["legs"]) is int


async def test_it_stops_where_it_must(provider: Provider) -> None:
    answer = await provider.chat(question(max_output_tokens=3))
    assert (answer.stop, answer.usage.output) == ("length", 3)


async def test_a_wrong_key_is_refused(local: LocalModel) -> None:
    wrong = provider_of(local, "sk-wrong-key")
    with pytest.raises(KeyRefused):
        await wrong.chat(QUESTION)
    await wrong.close()


async def test_a_prompt_that_is_too_long_is_refused_in_its_words(provider: Provider) -> None:
    with pytest.raises(RequestRefused, match="context"):
        await provider.chat(question(messages=(ChatMessage("user", "word " * 3000),)))


async def test_who_waits_no_longer_does_not_stop_it_from_answering_others(provider: Provider) -> None:
    with pytest.raises(ModelTimedOut):
        await provider.chat(question(max_output_tokens=500, timeout=0.05))
    assert (await provider.chat(QUESTION)).text.strip()
