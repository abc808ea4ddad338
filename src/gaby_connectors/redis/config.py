"""Settings of the Redis connector."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, SecretStr

from gaby_connectors.sdk.config import ConnectorConfig


def _is_address(url: SecretStr) -> SecretStr:
    if not url.get_secret_value().startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("must look like redis://:password@host:6379/0")
    return url


class RedisConfig(ConnectorConfig):
    prefix: ClassVar[str] = "REDIS_"

    url: Annotated[
        SecretStr,
        AfterValidator(_is_address),
        Field(description="redis://:password@host:6379/0, or rediss:// for TLS."),
    ]
    seconds: Annotated[float, Field(gt=0, le=60, description="How long a command may take.")] = 5.0
