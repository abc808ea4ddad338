"""A connection to Redis or Valkey that asks in small portions."""

from typing import Any

from redis.asyncio import Redis
from redis.exceptions import (
    AuthenticationError,
    NoPermissionError,
    RedisError,
)
from redis.exceptions import (
    ConnectionError as RedisConnectionError,
)
from redis.exceptions import (
    TimeoutError as RedisTimeoutError,
)

from gaby_connectors.redis.config import RedisConfig
from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.errors import ToolError, denied, invalid, transient
from gaby_connectors.sdk.manifest import ErrorKind

MOST_ITEMS = 500
MOST_BYTES = 60_000


class RedisStore(Backend):
    config: RedisConfig

    def __init__(self, config: RedisConfig) -> None:
        super().__init__(config)
        self.redis: Redis = Redis.from_url(  # pyright: ignore[reportUnknownMemberType]
            config.url.get_secret_value(),
            socket_timeout=config.seconds,
            socket_connect_timeout=config.seconds,
            client_name="gaby",
        )

    async def run(self, *command: str | int) -> Any:
        return await self.redis.execute_command(*command)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    async def check(self) -> str:
        return f"The server answers: {text(await self.run('PING'))}."

    async def close(self) -> None:
        await self.redis.aclose()

    def explain(self, error: Exception) -> Exception:
        match error:
            case NoPermissionError():
                return denied("The user of this connector may not run this command.")
            case AuthenticationError():
                return ToolError(ErrorKind.AUTH_EXPIRED, "Redis does not accept the password of this connector.")
            case RedisTimeoutError() | RedisConnectionError():
                return transient("Redis does not answer.", outcome="unknown")
            case RedisError():
                return invalid(f"Redis says: {str(error)[:300]}")
            case _:
                return error


def text(value: Any) -> str:
    """Bytes as text; those that are none are shown with escapes."""
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return value.decode("utf-8", "backslashreplace")
    return str(value)
