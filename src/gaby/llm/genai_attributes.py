"""Attributes of spans of model calls, by OpenTelemetry's semantic conventions for generative AI. No texts."""

from gaby.llm.messages import ModelRequest, ModelResponse, Stop
from gaby.llm.setups import RoutedModel

OPERATION = "chat"

_PROVIDERS = {
    "anthropic": "anthropic",
    "openai": "openai",
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "vertex": "gcp.vertex_ai",
}
_FINISH_REASONS: dict[Stop, str] = {
    "end": "stop",
    "tools": "tool_call",
    "length": "length",
    "refusal": "content_filter",
}


def request_attributes(link: RoutedModel, request: ModelRequest, skill: str) -> dict[str, object]:
    # A server of the operator's own has no name in the conventions, so it goes by that of its account.
    provider = _PROVIDERS.get(link.kind or "", link.ref.provider)
    return {
        "gen_ai.operation.name": OPERATION,
        "gen_ai.provider.name": provider,
        # Its name until version 1.36 of the conventions, which many collectors look for.
        "gen_ai.system": provider,
        "gen_ai.request.model": request.model,
        "gen_ai.request.max_tokens": request.max_output_tokens,
        "gen_ai.request.temperature": request.temperature,
        "gaby.skill": skill,
    }


def response_attributes(answer: ModelResponse) -> dict[str, object]:
    usage = answer.usage
    return {
        "gen_ai.response.model": answer.model,
        "gen_ai.response.finish_reasons": [_FINISH_REASONS[answer.stop]],
        # The conventions count what goes through a cache as input too.
        "gen_ai.usage.input_tokens": usage.input + usage.cache_read + usage.cache_write,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
    }
