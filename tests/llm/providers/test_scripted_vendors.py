"""The scripted vendors refuse what the real ones refuse, so that a wrong translation fails a test."""

from typing import Any

import httpx2
import pytest

from tests.support.models import KEY, Reply, ScriptedModels, Status, scripted_models

pytestmark = pytest.mark.promise("G1")

HEADERS = {"Authorization": f"Bearer {KEY}", "anthropic-version": "2026-10-21"}
HELLO = {"role": "user", "content": "Hello."}
ASKED = {"model": "claude-test", "max_tokens": 50, "messages": [HELLO]}
COMPLETED = {"model": "gpt-test", "max_completion_tokens": 50, "messages": [HELLO]}
CACHED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
USE: dict[str, Any] = {"type": "tool_use", "id": "a", "name": "find", "input": {}}
CALL = {"id": "a", "type": "function", "function": {"name": "find", "arguments": "{}"}}


def post(models: ScriptedModels, path: str, body: Any, headers: dict[str, str] | None = None) -> httpx2.Response:
    return httpx2.post(models.url + path, json=body, headers=headers or HEADERS, trust_env=False)


def said(messages: list[Any]) -> dict[str, Any]:
    return {**ASKED, "messages": messages}


def completed(messages: list[Any]) -> dict[str, Any]:
    return {**COMPLETED, "messages": messages}


ANTHROPIC_REFUSES: dict[str, tuple[Any, str]] = {
    "a temperature": ({**ASKED, "temperature": 1.0}, "temperature: Extra inputs are not permitted"),
    "no limit": ({"model": "claude-test", "messages": [HELLO]}, "max_tokens: Field required"),
    "no messages": (said([]), "at least one message"),
    "a system message": (said([{"role": "system", "content": "x"}, HELLO]), "user role"),
    "an unknown role": (said([HELLO, {"role": "robot", "content": "x"}, HELLO]), "'user' or 'assistant'"),
    "a beginning of the answer": (said([HELLO, {"role": "assistant", "content": "Sure"}]), "prefill"),
    "an empty text": (said([{"role": "user", "content": " "}]), "non-whitespace"),
    "five breakpoints": (said([{"role": "user", "content": [CACHED] * 5}]), "Found 5"),
    "a call without its result": (
        said([HELLO, {"role": "assistant", "content": [USE]}, HELLO]),
        "without `tool_result`",
    ),
    "a result without its call": (
        said([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "zz", "content": "x"}]}]),
        "unexpected `tool_use_id`",
    ),
    "a name with a dot": (
        {**ASKED, "tools": [{"name": "a.b", "input_schema": {"type": "object"}}]},
        "should match pattern",
    ),
    "a choice without tools": ({**ASKED, "tool_choice": {"type": "any"}}, "while providing tools"),
    "an open shape": (
        {**ASKED, "output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "properties": {}}}}},
        "additionalProperties",
    ),
    "no JSON": ("x", "not valid JSON"),
}


@pytest.mark.parametrize("what", ANTHROPIC_REFUSES)
def test_anthropic_refuses(models: ScriptedModels, what: str) -> None:
    body, words = ANTHROPIC_REFUSES[what]
    answer = post(models, "/v1/messages", body)
    assert answer.status_code == 400
    assert answer.json()["type"] == "error"
    assert words in answer.json()["error"]["message"]
    assert not models.billed


OPENAI_REFUSES: dict[str, tuple[Any, str]] = {
    "the old limit": ({**COMPLETED, "max_tokens": 5}, "'max_tokens' is not supported"),
    "an unknown argument": (
        {**COMPLETED, "cache_control": {}},
        "Unrecognized request argument supplied: cache_control",
    ),
    "no messages": (completed([]), "empty array"),
    "an unknown role": (completed([{"role": "robot", "content": "x"}]), "Invalid value: 'robot'"),
    "a call without its result": (
        completed([HELLO, {"role": "assistant", "tool_calls": [CALL]}, HELLO]),
        "followed by tool",
    ),
    "a result without its call": (
        completed([HELLO, {"role": "tool", "tool_call_id": "z", "content": "x"}]),
        "'tool' must be",
    ),
    "usage without a stream": ({**COMPLETED, "stream_options": {"include_usage": True}}, "only allowed when streaming"),
    "a name with a dot": (
        {**COMPLETED, "tools": [{"type": "function", "function": {"name": "a.b", "parameters": {"type": "object"}}}]},
        "does not match pattern",
    ),
    "an open shape": (
        {
            **COMPLETED,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "x", "strict": True, "schema": {"type": "object", "properties": {}}},
            },
        },
        "additionalProperties",
    ),
}


@pytest.mark.parametrize("what", OPENAI_REFUSES)
def test_openai_refuses(models: ScriptedModels, what: str) -> None:
    body, words = OPENAI_REFUSES[what]
    answer = post(models, "/v1/chat/completions", body)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]
    assert not models.billed


def test_wrong_keys_and_unknown_models_are_refused_as_the_vendors_do(models: ScriptedModels) -> None:
    wrong = {**HEADERS, "Authorization": "Bearer sk-wrong-one-123"}
    assert post(models, "/v1/messages", ASKED, wrong).json()["error"]["type"] == "authentication_error"
    assert post(models, "/v1/chat/completions", COMPLETED, wrong).json()["error"]["code"] == "invalid_api_key"
    assert "Incorrect" in post(models, "/voyage/v1/embeddings", {}, wrong).json()["detail"]
    assert post(models, "/v1/messages", {**ASKED, "model": "claude-9"}).status_code == 404
    missing = post(models, "/v1/chat/completions", {**COMPLETED, "model": "gpt-9"})
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "model_not_found")
    old = post(models, "/v1/messages", ASKED, {"Authorization": f"Bearer {KEY}"})
    assert "anthropic-version" in old.json()["error"]["message"]


def test_a_prompt_has_a_largest_size() -> None:
    with scripted_models(most_context=20) as models:
        answer = post(models, "/v1/messages", said([{"role": "user", "content": "word " * 50}]))
    assert answer.status_code == 400
    assert "prompt is too long" in answer.text


def test_small_prefixes_are_not_kept() -> None:
    with scripted_models(smallest_kept=1000) as models:
        for _ in range(2):
            usage = post(models, "/v1/messages", said([{"role": "user", "content": [CACHED]}])).json()["usage"]
            assert usage["cache_read_input_tokens"] == usage["cache_creation_input_tokens"] == 0
            assert usage["input_tokens"] > 0


def test_models_are_listed(models: ScriptedModels) -> None:
    listed = httpx2.get(models.url + "/v1/models", headers=HEADERS, trust_env=False).json()
    assert "gpt-test" in [each["id"] for each in listed["data"]]


def test_replies_come_in_their_order_and_then_by_rule(models: ScriptedModels) -> None:
    models.respond = lambda received: Reply(received.json["messages"][0]["content"])
    models.say(Reply("first"), Status(500))
    texts = [post(models, "/v1/messages", ASKED) for _ in range(3)]
    assert [each.status_code for each in texts] == [200, 500, 200]
    assert [each.json()["content"][0]["text"] for each in (texts[0], texts[2])] == ["first", "Hello."]
    assert [bill.output for bill in models.billed] == [1, 2]
    assert len(models.requests) == 3
