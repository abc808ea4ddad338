"""LiteLLM for those who install it. Its package is not here, so a stand-in with its interface is."""

import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from gaby.llm.errors import (
    AnswerCutOff,
    KeyRefused,
    ModelBusy,
    ModelDown,
    ModelError,
    ModelTimedOut,
    ProviderNotInstalled,
    RequestRefused,
)
from gaby.llm.messages import TokenUsage
from gaby.llm.providers.config import ProviderConfig
from gaby.llm.providers.factory import make_provider
from tests.llm.providers.desk import FIND, VERDICT, Desk
from tests.support.models import AnyReply, Garbage, Reply, ScriptedModels, Status, call, calls, hang, structured

pytestmark = pytest.mark.promise("G1")
STAND_IN = Path(__file__).parents[2] / "support/models/stand_in"


def test_without_the_package_there_is_a_sentence_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(ProviderNotInstalled, match="pip install litellm"):
        make_provider(ProviderConfig(kind="litellm"))


@pytest.fixture
async def lite(models: ScriptedModels, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Desk]:
    monkeypatch.setattr(sys, "path", [str(STAND_IN), *sys.path])
    account = {"kind": "litellm", "base_url": models.address("compatible"), "key": models.key}
    yield Desk(models, "litellm", make_provider(ProviderConfig.model_validate(account)))
    stand_in: Any = sys.modules.pop("litellm")
    await stand_in.close()


async def test_it_answers_streams_calls_tools_and_keeps_shapes(lite: Desk) -> None:
    lite.models.say(Reply("Hello."), Reply("Hello."), calls(call(FIND.name)), structured({"verdict": "resolved"}))
    assert (await lite.chat()).text == "Hello."
    assert (await lite.stream())[0] == "Hello."
    assert [use.name for use in (await lite.stream(tools=(FIND,)))[1].uses] == [FIND.name]
    assert (await lite.chat(shape=VERDICT)).text == '{"verdict": "resolved"}'
    made = await lite.provider.embed(["a text"], model="embed-test", timeout=20)
    assert made.usage == TokenUsage(input=2)
    assert lite.provider.supports("tools")
    assert not lite.provider.supports("cache")


FAILURES: dict[str, tuple[AnyReply, type[ModelError]]] = {
    "busy": (Status(429), ModelBusy),
    "down": (Status(500), ModelDown),
    "key": (Status(401), KeyRefused),
    "refused": (Status(400, "too long"), RequestRefused),
    "silent": (Garbage(b""), ModelDown),
    "hanging": (hang(), ModelTimedOut),
}


@pytest.mark.parametrize("how", ["chat", "stream"])
@pytest.mark.parametrize("what", FAILURES)
async def test_its_errors_become_ours(lite: Desk, how: str, what: str) -> None:
    reply, expected = FAILURES[what]
    lite.models.say(reply)
    with pytest.raises(ModelError) as caught:
        await lite.either(how, timeout=0.2 if what == "hanging" else 20.0)
    assert type(caught.value) is expected
    assert lite.models.key not in caught.value.message


async def test_a_stream_that_breaks_off_is_cut_off(lite: Desk) -> None:
    for events in (1, 3):
        lite.models.say(Reply("A longer text than that.", cut_after=events))
        with pytest.raises(AnswerCutOff):
            await lite.stream()
