"""Secrets stay inside: those of the configuration, and those that come in as arguments."""

import base64
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from gaby_connectors.sdk.manifest import ErrorKind
from gaby_connectors.sdk.scrub import MASK, Scrubber, secrets_in
from tests.connectors.sdk.toy import ToyConfig, connector
from tests.connectors.talk import talking

pytestmark = pytest.mark.promise("M5")
SECRET = "pä55 word/with+signs"


@pytest.fixture
def config(tmp_path: Path) -> ToyConfig:
    return ToyConfig(effects=tmp_path / "effects", secret=SecretStr(SECRET))


async def test_a_configured_secret_is_taken_out_of_results_and_even_keys(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        result = await talk.call("leak", how="result")
        assert SECRET not in str(result)
        assert result.structured_content == {"value": {"deep": [f"it is {MASK}!"], MASK: 1}}


async def test_a_configured_secret_is_taken_out_of_errors(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        result = await talk.call("leak", how="error")
        assert SECRET not in str(result)
        assert f"no {MASK} here" in str(result)


async def test_the_text_of_an_unforeseen_error_is_not_told(
    config: ToyConfig, capsys: pytest.CaptureFixture[str]
) -> None:
    async with talking(connector, config) as talk:
        error = await talk.fails("leak", how="crash")
        assert (error.kind, error.message) == (ErrorKind.PERMANENT, "leak failed: ValueError.")
    logged = capsys.readouterr().err
    assert "ValueError" in logged
    assert SECRET not in logged


@pytest.mark.parametrize(
    "value",
    ["sk_live_0123456789abcdef", "ghp_0123456789abcdefghij", "AKIA0123456789ABCDEF", "xoxb-1234567890-abc"],
)
async def test_an_argument_that_looks_like_a_secret_is_not_said_back(config: ToyConfig, value: str) -> None:
    async with talking(connector, config) as talk:
        assert await talk.ask("echo", value=[{"a": f"key={value}."}]) == {"value": [{"a": f"key={MASK}."}]}


async def test_an_argument_that_is_called_a_secret_is_not_said_back(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        said = await talk.ask("echo", value={"new_password": "tulips and roses", "name": "tulips and roses"})
        assert said == {"value": {"new_password": MASK, "name": MASK}}


def test_secrets_are_known_in_addresses_and_in_basic_authentication() -> None:
    scrubber = Scrubber([SECRET, "postgresql://gaby:s3cret-pass@db.example/x"])
    basic = base64.b64encode(SECRET.encode()).decode()
    text = f"{SECRET} {quote(SECRET, safe='')} {basic} s3cret-pass"
    assert scrubber.text(text) == f"{MASK} {MASK} {MASK} {MASK}"


def test_a_secret_too_short_to_be_one_does_not_hollow_out_every_text() -> None:
    assert Scrubber(["a", ""]).text("banana") == "banana"


@given(st.text(min_size=6, max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_no_secret_is_left_wherever_it_stands(secret: str, before: str, after: str) -> None:
    scrubber = Scrubber([secret])
    whole = secret.encode("utf-8", "replace").decode()
    assert whole not in scrubber.text(before + secret + after) or whole in MASK


def test_numbers_that_json_does_not_know_become_text() -> None:
    assert Scrubber().value({"a": [float("nan"), float("-inf"), 1.5]}) == {"a": ["nan", "-inf", 1.5]}


def test_only_texts_can_be_secrets() -> None:
    assert list(secrets_in({"password": 7, "list": [None, True]})) == []
