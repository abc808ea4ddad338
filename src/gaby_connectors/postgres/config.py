"""Settings of the Postgres connector."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, SecretStr

from gaby_connectors.sdk.config import ConnectorConfig


def _is_address(url: SecretStr) -> SecretStr:
    if not url.get_secret_value().startswith(("postgresql://", "postgres://")):
        raise ValueError("must look like postgresql://user:password@host:5432/database")
    return url


class PostgresConfig(ConnectorConfig):
    prefix: ClassVar[str] = "POSTGRES_"

    url: Annotated[
        SecretStr,
        AfterValidator(_is_address),
        Field(description="postgresql://user:password@host:5432/database, of a role that may only read what it needs."),
    ]
    seconds: Annotated[float, Field(gt=0, le=300, description="How long a query may take.")] = 15.0
    rows: Annotated[int, Field(ge=1, le=10_000, description="How many rows a query may give.")] = 500
    allow_functions: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[^.,\s]{1,63}\.[^,\s]{1,63}$")], ...],
        Field(description="Functions of your own that queries may call since they only read, such as public.total."),
    ] = ()
    allow_superuser: Annotated[
        bool,
        Field(description="Work even if the role is a superuser, who can read files of the server: true or false."),
    ] = False
