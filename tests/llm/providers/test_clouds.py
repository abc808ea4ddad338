"""The same models at other vendors' clouds: their addresses, their headers, their errors."""

from typing import Any

import pytest

from gaby.llm.errors import ModelUnknown, RequestRefused
from gaby.llm.providers.config import Kind
from tests.llm.providers.desk import FIND, VERDICT, Desk, opened
from tests.support.models import Reply, ScriptedModels, call, calls, structured

pytestmark = pytest.mark.promise("G1")


async def exercised(models: ScriptedModels, kind: Kind, **options: str) -> Desk:
    """A text, a stream, tools and a shape."""
    desk = opened(models, kind, **options)
    models.say(Reply("Hello."), Reply("Hello."), calls(call(FIND.name)), structured({"verdict": "resolved"}))
    assert (await desk.chat()).text == "Hello."
    assert (await desk.stream())[0] == "Hello."
    assert [use.name for use in (await desk.stream(tools=(FIND,)))[1].uses] == [FIND.name]
    assert (await desk.chat(shape=VERDICT)).text == '{"verdict": "resolved"}'
    await desk.provider.close()
    models.wait_for_connections(0)
    return desk


async def test_claude_at_bedrock(models: ScriptedModels) -> None:
    await exercised(models, "bedrock")
    assert {request.path for request in models.requests} == {"/anthropic/v1/messages"}
    assert models.requests[0].headers["authorization"] == f"Bearer {models.key}"


async def test_claude_at_vertex(models: ScriptedModels) -> None:
    await exercised(models, "vertex")
    place = "/v1/projects/desk-test/locations/eu-test-1/publishers/anthropic/models/claude-test"
    assert {request.path for request in models.requests} == {f"{place}:rawPredict", f"{place}:streamRawPredict"}


async def test_openai_at_azure(models: ScriptedModels) -> None:
    await exercised(models, "azure")
    assert {request.path for request in models.requests} == {"/openai/deployments/gpt-test/chat/completions"}
    assert {request.query["api-version"] for request in models.requests} == {"2024-10-21"}
    assert models.requests[0].headers["api-key"] == models.key
    assert "authorization" not in models.requests[0].headers


async def test_a_deployment_at_azure_can_have_a_name_of_its_own(models: ScriptedModels) -> None:
    desk = opened(models, "azure", deployment="gpt-small-test", api_version="2025-04-01-preview")
    await desk.chat(model="whatever")
    assert models.requests[-1].path == "/openai/deployments/gpt-small-test/chat/completions"
    assert models.requests[-1].query == {"api-version": "2025-04-01-preview"}
    await desk.provider.close()


@pytest.mark.parametrize("kind", ["bedrock", "vertex", "azure"])
@pytest.mark.parametrize("model", ["..", "", "a/../../b", "x" * 500, "日本", "a b?c#d;e"])
async def test_no_name_of_a_model_leads_anywhere_else(models: ScriptedModels, kind: Kind, model: str) -> None:
    desk = opened(models, kind)
    with pytest.raises((ModelUnknown, RequestRefused)):
        await desk.chat(model=model)
    await desk.provider.close()
    starts: Any = {"bedrock": "/anthropic/v1/", "vertex": "/v1/projects/desk-test/", "azure": "/openai/"}
    assert all(request.path.startswith(starts[kind]) for request in models.requests)


CAN: dict[Kind, set[str]] = {
    "anthropic": {"tools", "streaming", "cache", "json_schema"},
    "bedrock": {"tools", "streaming", "cache", "json_schema"},
    "vertex": {"tools", "streaming", "cache", "json_schema"},
    "openai": {"tools", "streaming", "cache", "json_schema", "embeddings"},
    "azure": {"tools", "streaming", "cache", "json_schema", "embeddings"},
    "compatible": {"tools", "streaming", "json_schema", "embeddings"},
    "voyage": {"embeddings"},
}


@pytest.mark.parametrize("kind", CAN)
async def test_each_provider_says_what_it_can_do(models: ScriptedModels, kind: Kind) -> None:
    provider = opened(models, kind).provider
    capabilities: Any = ("tools", "streaming", "cache", "json_schema", "embeddings")
    assert {each for each in capabilities if provider.supports(each)} == CAN[kind]
    await provider.close()


async def test_options_change_what_a_compatible_server_can_do(models: ScriptedModels) -> None:
    provider = opened(models, "compatible", structured="prompt", tools="no").provider
    assert not provider.supports("json_schema")
    assert not provider.supports("tools")
    await provider.close()
