"""Stands in for LiteLLM, which Gaby does not bring along: its calls, their arguments, and errors of OpenAI's family."""

from typing import Any

import httpx2
import openai

_opened: list[openai.AsyncOpenAI] = []


async def acompletion(*, api_key: str | None, api_base: str | None, num_retries: int, **asked: Any) -> Any:
    create: Any = _client(api_key, api_base).chat.completions.create
    return await create(**_without_client_options(asked))


async def aembedding(*, api_key: str | None, api_base: str | None, num_retries: int, **asked: Any) -> Any:
    create: Any = _client(api_key, api_base).embeddings.create
    return await create(**_without_client_options(asked))


async def close() -> None:
    while _opened:
        await _opened.pop().close()


def _client(api_key: str | None, api_base: str | None) -> openai.AsyncOpenAI:
    http = httpx2.AsyncClient(trust_env=False)
    _opened.append(openai.AsyncOpenAI(api_key=api_key or "none", base_url=api_base, max_retries=0, http_client=http))
    return _opened[-1]


def _without_client_options(asked: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if name != "max_retries"}
