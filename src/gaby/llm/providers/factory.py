"""Makes the provider that an account describes. Only then is the vendor's package loaded, which takes a while."""

from importlib import import_module
from typing import cast

from gaby.kernel.clock import Clock, SystemClock
from gaby.llm.provider import Provider
from gaby.llm.providers.config import Kind, ProviderConfig

_WHERE: dict[Kind, tuple[str, str]] = {
    "anthropic": ("anthropic", "AnthropicProvider"),
    "bedrock": ("anthropic", "AnthropicProvider"),
    "vertex": ("anthropic", "AnthropicProvider"),
    "openai": ("openai", "OpenAIProvider"),
    "compatible": ("openai", "OpenAIProvider"),
    "azure": ("openai", "OpenAIProvider"),
    "voyage": ("voyage", "VoyageProvider"),
    "litellm": ("litellm", "LiteLLMProvider"),
}


def make_provider(config: ProviderConfig, clock: Clock | None = None) -> Provider:
    """The first call for a kind takes as long as its package takes to load: up to seconds, so not on an event loop
    that others wait for."""
    module, name = _WHERE[config.kind]
    provider_class = getattr(import_module(f"gaby.llm.providers.{module}"), name)
    return cast("Provider", provider_class(config, clock or SystemClock()))
