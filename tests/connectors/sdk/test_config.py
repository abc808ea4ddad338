"""Settings come from the environment, describe themselves, and never repeat a secret."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal

import pytest
from pydantic import Field, SecretStr

from gaby_connectors.sdk.config import ConnectorConfig, ConnectorSetting, load, secrets_of, settings_of
from gaby_connectors.sdk.errors import NotConfigured

pytestmark = pytest.mark.promise("M9")


class Config(ConnectorConfig):
    prefix: ClassVar[str] = "SHOP_"

    url: Annotated[str, Field(min_length=5, description="Where the shop is.")]
    token: Annotated[SecretStr, Field(description="The key.", min_length=10)]
    mode: Annotated[Literal["fast", "safe"], Field(description="How.")] = "safe"
    tags: Annotated[tuple[str, ...], Field(description="Which.")] = ("a", "b")
    folder: Annotated[Path | None, Field(description="Where to.")] = None
    loud: Annotated[bool, Field(description="Whether.")] = False


def test_settings_are_read_by_name() -> None:
    config = load(
        Config, {"SHOP_URL": " https://x ", "SHOP_TOKEN": "0123456789", "SHOP_TAGS": "x, y,", "SHOP_LOUD": "true"}
    )
    assert (config.url, config.mode, config.tags, config.folder, config.loud) == (
        "https://x",
        "safe",
        ("x", "y"),
        None,
        True,
    )
    assert list(secrets_of(config)) == ["0123456789"]


def test_settings_tell_what_to_ask_for_and_what_to_hide() -> None:
    url, token, mode, tags, folder, loud = settings_of(Config)
    assert url == ConnectorSetting(
        variable="SHOP_URL", field="url", description="Where the shop is.", required=True, secret=False
    )
    assert (token.secret, token.required, token.default) == (True, True, None)
    assert (mode.choices, mode.default) == (("fast", "safe"), "safe")
    assert (tags.default, folder.default, loud.default) == ("a,b", None, "false")


def test_every_problem_is_named_and_no_value_is() -> None:
    with pytest.raises(NotConfigured) as caught:
        load(Config, {"SHOP_TOKEN": "hush-7", "SHOP_MODE": "quick"})
    told = str(caught.value)
    assert "SHOP_URL is not set: Where the shop is." in told
    assert "SHOP_TOKEN:" in told
    assert "SHOP_MODE:" in told
    assert "hush-7" not in told
