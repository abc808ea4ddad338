"""Settings of the HTTP connector."""

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, SecretStr

from gaby_connectors.sdk.config import ConnectorConfig
from gaby_connectors.sdk.web import web_address


def _is_network(text: str) -> str:
    try:
        return str(ip_network(text, strict=False))
    except ValueError:
        raise ValueError("must be networks such as 10.1.0.0/16,127.0.0.1/32") from None


_ARGUMENT = Field(pattern=r"^[A-Za-z0-9_]{1,64}\.[A-Za-z_][A-Za-z0-9_.-]{0,63}$")


class OpenApiConfig(ConnectorConfig):
    prefix: ClassVar[str] = "HTTP_OPENAPI_"

    file: Annotated[Path, Field(description="The OpenAPI 3.0 or 3.1 description of the API, as JSON or YAML.")]
    base_url: Annotated[
        str,
        AfterValidator(web_address),
        Field(description="Where the API is, such as https://api.acme.example/v1. No other server is ever called."),
    ]
    name: Annotated[
        str, Field(pattern=r"^[a-z][a-z0-9_]{0,40}$", description="What to call the API, in small letters.")
    ] = "http_openapi"
    auth_header: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9-]{1,60}$", description="The header that holds the secret.")
    ] = "Authorization"
    auth_value: Annotated[SecretStr | None, Field(description="What that header says, such as Bearer abc123.")] = None
    reads: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,64}$")], ...],
        Field(
            description="Operations that only read although nothing in the file says so, such as runReport. A GET "
            "whose name or path names a change is a write unless it stands here."
        ),
    ] = ()
    content: Annotated[
        tuple[Annotated[str, _ARGUMENT], ...],
        Field(description="Arguments of writes that are free text, as operation.argument: addNote.text."),
    ] = ()
    harmless: Annotated[
        tuple[Annotated[str, _ARGUMENT], ...],
        Field(
            description="Arguments of writes that choose neither whom nor how much nor what is done, as "
            "operation.argument: addNote.language. All others must come from somebody who is trusted."
        ),
    ] = ()
    allow_networks: Annotated[
        tuple[Annotated[str, AfterValidator(_is_network)], ...],
        Field(description="Private networks that may be called all the same, such as 10.1.0.0/16."),
    ] = ()
    health_path: Annotated[
        str, Field(pattern=r"^/[^\s?#]*$", description="A path that answers a GET when all is well.")
    ] = "/"
    seconds: Annotated[float, Field(gt=0, le=120, description="How long an answer may take.")] = 15.0
