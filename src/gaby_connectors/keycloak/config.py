"""Settings of the Keycloak connector."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, SecretStr

from gaby_connectors.sdk.config import ConnectorConfig
from gaby_connectors.sdk.web import web_address


class KeycloakConfig(ConnectorConfig):
    prefix: ClassVar[str] = "KEYCLOAK_"

    url: Annotated[
        str, AfterValidator(web_address), Field(description="Where Keycloak is, such as https://id.acme.example.")
    ]
    realm: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,100}$", description="The realm that people sign in to.")]
    client_id: Annotated[str, Field(min_length=1, description="A client with a service account in that realm.")]
    client_secret: Annotated[SecretStr, Field(description="The secret of that client.")]
    seconds: Annotated[float, Field(gt=0, le=60, description="How long an answer may take.")] = 10.0
