"""Variables of the environment change nothing: what is asked, where and with which key is in the configuration."""

import subprocess
import sys

import pytest

from gaby.llm.errors import ProviderNotInstalled
from gaby.llm.providers.config import Kind, ProviderConfig
from gaby.llm.providers.factory import make_provider
from tests.llm.providers.desk import MODEL, Desk, opened
from tests.support.models import ScriptedModels, scripted_models

pytestmark = pytest.mark.promise("G1")

KINDS: tuple[Kind, ...] = ("anthropic", "openai", "compatible", "azure", "bedrock", "vertex", "voyage")
SURPRISES = {
    "ANTHROPIC_API_KEY": "sk-other-key",
    "ANTHROPIC_AUTH_TOKEN": "other-token",
    "ANTHROPIC_CUSTOM_HEADERS": "X-Spy: yes\nAuthorization: Bearer other\nanthropic-version: 2023-06-01",
    "ANTHROPIC_WORKSPACE_ID": "wrkspc_other",
    "OPENAI_API_KEY": "sk-other-key",
    "OPENAI_ADMIN_KEY": "sk-other-key",
    "OPENAI_ORG_ID": "org-other",
    "OPENAI_PROJECT_ID": "proj-other",
    "OPENAI_CUSTOM_HEADERS": "X-Spy: yes\nAuthorization: Bearer other",
    "AZURE_OPENAI_API_KEY": "sk-other-key",
    "AZURE_OPENAI_AD_TOKEN": "other-token",
    "OPENAI_API_VERSION": "1999-01-01",
    "AWS_BEARER_TOKEN_BEDROCK": "other-token",
    "AWS_REGION": "us-other-1",
    "CLOUD_ML_REGION": "us-other1",
    "VOYAGE_API_KEY": "sk-other-key",
}
ADDRESSES = (
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_BEDROCK_MANTLE_BASE_URL",
    "ANTHROPIC_BEDROCK_BASE_URL",
    "ANTHROPIC_VERTEX_BASE_URL",
    "OPENAI_BASE_URL",
    "AZURE_OPENAI_ENDPOINT",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
)


async def ask(desk: Desk) -> None:
    if desk.kind == "voyage":
        await desk.provider.embed(["a text"], model=MODEL[desk.kind], timeout=20)
    else:
        await desk.chat()
        await desk.stream()


@pytest.mark.parametrize("kind", KINDS)
async def test_the_environment_changes_nothing(
    models: ScriptedModels, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted_models() as elsewhere:
        for name, value in SURPRISES.items():
            monkeypatch.setenv(name, value)
        for name in ADDRESSES:
            monkeypatch.setenv(name, elsewhere.url)
        desk = opened(models, kind)
        await ask(desk)
        await desk.provider.close()
        assert not elsewhere.requests
    for request in models.requests:
        said = str(request.headers) + str(request.query)
        assert models.key in said
        assert "other" not in said
        assert "spy" not in said.lower()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_provider_shows_its_key_to_nobody(models: ScriptedModels, kind: Kind) -> None:
    desk = opened(models, kind)
    assert models.key not in repr(desk) + repr(vars(desk.provider))
    await desk.provider.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_about_this_machine_is_told(models: ScriptedModels, kind: Kind) -> None:
    desk = opened(models, kind)
    await ask(desk)
    await desk.provider.close()
    usual = {"host", "accept", "accept-encoding", "connection", "content-length", "content-type", "user-agent"}
    meant = {"authorization", "api-key", "anthropic-version"}
    assert {name for request in models.requests for name in request.headers} <= usual | meant


async def test_a_server_without_a_key_gets_none(models: ScriptedModels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", models.key)
    config = ProviderConfig(kind="compatible", base_url=models.address("compatible"))
    provider = make_provider(config)
    with pytest.raises(Exception, match="key"):
        await provider.chat(opened(models, "compatible").question())
    await provider.close()
    assert "authorization" not in models.requests[-1].headers


async def test_who_pays_at_openai_can_be_chosen(models: ScriptedModels) -> None:
    desk = opened(models, "openai", organization="org-mine", project="proj_mine")
    await desk.chat()
    await desk.provider.close()
    sent = models.requests[-1].headers
    assert (sent["openai-organization"], sent["openai-project"]) == ("org-mine", "proj_mine")


@pytest.mark.parametrize("kind", ["bedrock", "vertex"])
def test_credentials_of_a_cloud_need_its_package(models: ScriptedModels, kind: Kind) -> None:
    config = models.config(kind)
    keyless = ProviderConfig(kind=kind, options=config.options)
    with pytest.raises(ProviderNotInstalled, match=r"boto3|google\.auth"):
        make_provider(keyless)


def test_the_vendors_packages_are_loaded_only_when_they_are_used() -> None:
    look = "import gaby.llm.providers.factory, sys; print([m for m in ('anthropic', 'openai') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
