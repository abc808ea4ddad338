"""How one account at a model provider is described, and checked before anything is sent there."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_core import PydanticCustomError

Kind = Literal["anthropic", "openai", "compatible", "azure", "bedrock", "vertex", "voyage", "litellm"]

# Plain ASCII without what headers and parsers of addresses read in different ways.
_ADDRESS = re.compile(r"https?://[A-Za-z0-9._~:/\[\]@!$&'()*+,;=%-]{1,500}")
_KEY = re.compile(r"[\x21-\x7e]{1,10000}")
_PLAIN = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}"


@dataclass(frozen=True)
class AccountOption:
    means: str
    choices: tuple[str, ...] = ()
    pattern: str = _PLAIN
    default: str = ""
    required: bool = False


_STRUCTURED = AccountOption(
    "How the server is asked for JSON of a certain shape.",
    ("json_schema", "json_object", "prompt"),
    default="json_schema",
)
_TOOLS = AccountOption("Whether its models can call tools.", ("yes", "no"), default="yes")
_THINKING = AccountOption("Switches the model's thinking off, where the model allows that.", ("disabled",))
_EFFORT = AccountOption("How much the model thinks about an answer.", ("low", "medium", "high", "xhigh", "max"))
_REGION = AccountOption("Where the model runs, such as eu-central-1.", pattern=r"[a-z][a-z0-9-]{0,39}", required=True)


@dataclass(frozen=True)
class AccountTerms:
    """What an account of one kind needs, and what else it may say."""

    address: str | None
    """Where it is unless said otherwise. None means that it must be said."""
    needs_key: bool = True
    options: Mapping[str, AccountOption] = field(default_factory=dict[str, AccountOption])


TERMS: Mapping[Kind, AccountTerms] = {
    "anthropic": AccountTerms("https://api.anthropic.com", options={"thinking": _THINKING, "effort": _EFFORT}),
    "openai": AccountTerms(
        "https://api.openai.com/v1",
        options={
            "organization": AccountOption("Which organization pays, such as org-1234."),
            "project": AccountOption("Which project pays, such as proj_1234."),
        },
    ),
    "compatible": AccountTerms(None, needs_key=False, options={"structured": _STRUCTURED, "tools": _TOOLS}),
    "azure": AccountTerms(
        None,
        options={
            "api_version": AccountOption("The version of Azure's interface.", default="2024-10-21"),
            "deployment": AccountOption("The deployment to ask; otherwise it has the model's name."),
        },
    ),
    "bedrock": AccountTerms(
        "https://bedrock-mantle.{region}.api.aws/anthropic",
        needs_key=False,
        options={"region": _REGION, "thinking": _THINKING, "effort": _EFFORT},
    ),
    "vertex": AccountTerms(
        "https://{region}-aiplatform.googleapis.com/v1",
        needs_key=False,
        options={
            "region": _REGION,
            "project": AccountOption("The project at Google Cloud that pays.", required=True),
            "thinking": _THINKING,
            "effort": _EFFORT,
        },
    ),
    "voyage": AccountTerms("https://api.voyageai.com/v1"),
    "litellm": AccountTerms("", needs_key=False, options={"structured": _STRUCTURED, "tools": _TOOLS}),
}

_VERTEX_REGIONS = {
    "global": "https://aiplatform.googleapis.com/v1",
    "us": "https://aiplatform.us.rep.googleapis.com/v1",
    "eu": "https://aiplatform.eu.rep.googleapis.com/v1",
}


class ProviderConfig(BaseModel):
    """One account at one vendor, or one server. The key is shown nowhere, not even when something is wrong with it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kind: Kind
    base_url: str | None = None
    key: Annotated[SecretStr | None, Field(repr=False)] = None
    options: dict[str, str] = Field(default_factory=dict[str, str])

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        return None if value is None else _checked_address(value)

    @field_validator("key", mode="before")
    @classmethod
    def _can_be_sent(cls, value: Any) -> Any:
        """Also takes away the line end that comes along when a key is pasted."""
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if not isinstance(text, str):
            return value
        if not _KEY.fullmatch(text.strip()):
            raise _wrong("key", "must be one line of plain characters without spaces; paste it again")
        return SecretStr(text.strip())

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "ProviderConfig":
        terms = TERMS[self.kind]
        if terms.address is None and self.base_url is None:
            raise _wrong("base_url", f"an account of kind {self.kind} needs the address of its server")
        if terms.needs_key and self.key is None:
            raise _wrong("key", f"an account of kind {self.kind} needs a key")
        for name, value in self.options.items():
            _check_option(self.kind, name, value)
        missing = [name for name, option in terms.options.items() if option.required and not self.options.get(name)]
        if missing:
            raise _wrong("options", f"an account of kind {self.kind} needs the option {missing[0]}")
        return self

    @property
    def address(self) -> str:
        if self.base_url is not None:
            return self.base_url
        region = self.options.get("region", "")
        if self.kind == "vertex" and region in _VERTEX_REGIONS:
            return _VERTEX_REGIONS[region]
        return (TERMS[self.kind].address or "").format(region=region)

    @property
    def secret(self) -> str | None:
        return None if self.key is None else self.key.get_secret_value()

    def option(self, name: str) -> str:
        return self.options.get(name, TERMS[self.kind].options[name].default)


def _checked_address(value: str) -> str:
    if not _ADDRESS.fullmatch(value):
        raise _wrong("base_url", "must be an address such as https://models.example/v1, without ? and #")
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if not host:
        raise _wrong("base_url", "has no host or no valid port; write an address such as https://models.example/v1")
    if "@" in parts.netloc:
        raise _wrong("base_url", "must hold no user and no password; a key is given as the key")
    return value.rstrip("/")


def _check_option(kind: Kind, name: str, value: str) -> None:
    allowed = TERMS[kind].options
    if name not in allowed:
        known = ", ".join(sorted(allowed)) or "none"
        raise _wrong("options", f"an account of kind {kind} has no option {name[:50]!r}; it has: {known}")
    option = allowed[name]
    if option.choices and value not in option.choices:
        raise _wrong("options", f"the option {name} must be one of: {', '.join(option.choices)}")
    if not option.choices and not re.fullmatch(option.pattern, value):
        raise _wrong("options", f"the option {name} has characters that do not belong there")


def _wrong(what: str, why: str) -> PydanticCustomError:
    # As a value, so that braces in the text stay braces.
    return PydanticCustomError("provider", "{what}: {why}", {"what": what, "why": why})
