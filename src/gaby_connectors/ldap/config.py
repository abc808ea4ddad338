"""Settings of the LDAP connector."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, SecretStr

from gaby_connectors.sdk.config import ConnectorConfig


def _is_address(url: str) -> str:
    if not url.startswith(("ldap://", "ldaps://")):
        raise ValueError("must look like ldaps://directory.example")
    return url


class LdapConfig(ConnectorConfig):
    prefix: ClassVar[str] = "LDAP_"

    url: Annotated[str, AfterValidator(_is_address), Field(description="ldaps://host, or ldap://host with STARTTLS.")]
    bind_dn: Annotated[str, Field(description="Whom to sign in as, such as cn=gaby,ou=services,dc=acme,dc=example.")]
    bind_password: Annotated[SecretStr, Field(description="The password of that entry.")]
    base_dn: Annotated[str, Field(description="Where to search, such as dc=acme,dc=example.")]
    kind: Annotated[
        Literal["openldap", "active_directory"], Field(description="Which directory it is: how it locks accounts.")
    ] = "openldap"
    start_tls: Annotated[bool, Field(description="Encrypt a plain ldap:// connection: true or false.")] = False
    ca_file: Annotated[Path | None, Field(description="The certificate authority to trust, a PEM file.")] = None
    handover_folder: Annotated[
        Path | None,
        Field(
            description="Where new passwords are left for a person to hand over, in files only this user can read. "
            "Left out: nobody learns them, and users go through your own page for forgotten passwords."
        ),
    ] = None
    seconds: Annotated[int, Field(ge=1, le=60, description="How long an answer may take.")] = 8
