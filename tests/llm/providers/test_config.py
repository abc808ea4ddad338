"""Accounts are checked before anything is sent, and their keys are shown nowhere."""

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gaby.llm.providers.config import TERMS, Kind, ProviderConfig

pytestmark = pytest.mark.promise("G1")

KEY = "sk-very-secret-1234567890"


def config(**fields: Any) -> ProviderConfig:
    return ProviderConfig.model_validate({"kind": "anthropic", "key": KEY, **fields})


def refused(**fields: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        config(**fields)
    said = str(caught.value) + repr(caught.value.errors(include_url=False, include_input=False))
    assert KEY not in said
    return said


def test_a_key_is_shown_nowhere() -> None:
    account = config()
    for shown in (str(account), repr(account), account.model_dump_json(), str(account.model_dump())):
        assert KEY not in shown
    assert account.secret == KEY
    assert pickle.loads(pickle.dumps(account)).secret == KEY  # noqa: S301


def test_a_key_may_be_pasted_with_its_line_end() -> None:
    assert config(key=f" {KEY}\r\n").secret == KEY


@pytest.mark.parametrize("key", ["", "  ", f"{KEY} x", f"{KEY}\n{KEY}", f"{KEY}ü", f"{KEY}\0", "x" * 20_000])
def test_a_key_that_cannot_be_sent_is_refused(key: str) -> None:
    assert "paste it again" in refused(key=key)


@pytest.mark.parametrize("kind", ["anthropic", "openai", "azure", "voyage"])
def test_a_missing_key_is_missed(kind: Kind) -> None:
    assert f"kind {kind} needs a key" in refused(kind=kind, key=None, base_url="https://models.example")


@pytest.mark.parametrize(
    "address",
    [
        "",
        "models.example",
        "ftp://models.example",
        "https://",
        "https:///v1",
        "https://models.example/v1?key=x",
        "https://models.example/v1#x",
        "https://models.example:port/v1",
        "https://models.example:99999",
        "https://[::1",
        "https://models.example/\nHost: evil.example",
        "https://modéls.example",
        "https://models.example/ v1",
        "https://" + "x" * 1000,
    ],
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    assert "base_url" in refused(base_url=address)


def test_an_address_holds_no_secrets() -> None:
    said = refused(base_url="https://user:hunter2@models.example")
    assert "no password" in said
    assert "hunter2" not in said


def test_addresses_are_those_of_the_vendors_unless_said_otherwise() -> None:
    assert config().address == "https://api.anthropic.com"
    assert config(kind="openai").address == "https://api.openai.com/v1"
    assert config(kind="voyage").address == "https://api.voyageai.com/v1"
    assert config(base_url="http://127.0.0.1:8080/v1/").address == "http://127.0.0.1:8080/v1"
    bedrock = config(kind="bedrock", options={"region": "eu-central-1"})
    assert bedrock.address == "https://bedrock-mantle.eu-central-1.api.aws/anthropic"
    for region, host in (
        ("europe-west4", "europe-west4-aiplatform.googleapis.com"),
        ("global", "aiplatform.googleapis.com"),
    ):
        vertex = config(kind="vertex", options={"region": region, "project": "desk"})
        assert vertex.address == f"https://{host}/v1"


@pytest.mark.parametrize("kind", ["compatible", "azure"])
def test_a_server_of_ones_own_needs_an_address(kind: Kind) -> None:
    assert "needs the address" in refused(kind=kind)


def test_an_unknown_option_is_refused_with_what_there_is() -> None:
    said = refused(kind="vertex", options={"region": "eu", "project": "desk", "regoin": "x"})
    assert "no option 'regoin'; it has: effort, project, region, thinking" in said
    assert "it has: none" in refused(kind="voyage", options={"region": "eu"})


def test_a_missing_option_is_missed() -> None:
    assert "needs the option project" in refused(kind="vertex", options={"region": "eu"})
    assert "needs the option region" in refused(kind="bedrock")


@pytest.mark.parametrize("region", ["", "eu.evil.example", "eu/../x", "EU", "eu@x", "x" * 100, "{0}", "é"])
def test_a_region_cannot_lead_to_another_host(region: str) -> None:
    refused(kind="bedrock", options={"region": region})


def test_an_option_with_choices_takes_only_these() -> None:
    address = "http://127.0.0.1:8080/v1"
    assert "json_schema, json_object, prompt" in refused(
        kind="compatible", base_url=address, options={"structured": "yes"}
    )
    assert config(kind="compatible", base_url=address).option("structured") == "json_schema"


def test_unknown_kinds_and_fields_are_refused() -> None:
    refused(kind="skynet")
    refused(api_key=KEY)


def test_an_account_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        config().kind = "openai"


@given(
    kind=st.sampled_from(sorted(TERMS)), address=st.text(), key=st.text(), options=st.dictionaries(st.text(), st.text())
)
def test_nothing_is_too_hostile_to_be_refused(kind: str, address: str, key: str, options: dict[str, str]) -> None:
    try:
        account = config(kind=kind, base_url=address, key=key, options=options)
    except ValidationError:
        return
    assert account.address.isascii()
