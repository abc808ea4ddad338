"""The tools of the Redis connector. KEYS and FLUSHALL are not among what it can say."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from gaby_connectors.redis.config import RedisConfig
from gaby_connectors.redis.key_values import read
from gaby_connectors.redis.store import RedisStore, text
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.errors import not_found
from gaby_connectors.sdk.manifest import ResultLabel, ToolManifest
from gaby_connectors.sdk.tool import WriteCall

_SYSTEM = ResultLabel.SYSTEM
Key = Annotated[str, Field(min_length=1, max_length=1024, description="The name of a key.")]


class KeyValue(BaseModel):
    key: str
    type: str
    size: int
    ttl_seconds: int | None
    value: Any
    complete: bool


class RedisKeys(BaseModel):
    keys: list[str]
    next_cursor: str | None


class TimeToLive(BaseModel):
    key: str
    exists: bool
    ttl_seconds: int | None


class RedisInfo(BaseModel):
    info: dict[str, str]


class KeyRemoval(BaseModel):
    key: str
    type: str


class KeyExpiry(BaseModel):
    key: str
    ttl_seconds: int
    before_seconds: int | None


connector = Connector(
    "redis",
    version="1.0.0",
    instructions="A Redis or Valkey server. Find keys with scan_keys, then look at them with read_key.",
    config=RedisConfig,
    backend=RedisStore,
)


@connector.tool(
    ToolManifest(scope="read", path="keys/read", results={"type": _SYSTEM, "size": _SYSTEM, "ttl_seconds": _SYSTEM}),
    more="The key holds more than can be shown.",
)
async def read_key(store: RedisStore, key: Key) -> KeyValue:
    """Show a key of any type: text, list, set, hash, sorted set or stream, with its size and time to live."""
    value = await read(store, key)
    return KeyValue(
        key=key,
        type=value.type,
        size=value.size,
        ttl_seconds=await _ttl(store, key),
        value=value.value,
        complete=value.complete,
    )


@connector.tool(ToolManifest(scope="read", path="keys/scan"), more="Go on with `cursor`.")
async def scan_keys(
    store: RedisStore,
    pattern: Annotated[str, Field(min_length=1, max_length=200, description="Such as session:*; * is anything.")] = "*",
    count: Annotated[int, Field(ge=1, le=1000, description="About how many keys to give.")] = 100,
    cursor: Annotated[str, Field(pattern=r"^\d{1,20}$", description="Where to go on, from an earlier answer.")] = "0",
) -> RedisKeys:
    """Find keys by a pattern, in portions that do not hold up the server."""
    keys: list[str] = []
    for _ in range(50):
        cursor, portion = await _scan(store, pattern, cursor, count)
        keys += portion
        if cursor == "0" or len(keys) >= count:
            break
    return RedisKeys(keys=keys, next_cursor=None if cursor == "0" else cursor)


@connector.tool(ToolManifest(scope="read", path="keys/ttl", cache=False, results={"ttl_seconds": _SYSTEM}))
async def ttl(store: RedisStore, key: Key) -> TimeToLive:
    """Tell whether a key is there and how many seconds it has left; none means that it stays."""
    exists = bool(await store.run("EXISTS", key))
    return TimeToLive(key=key, exists=exists, ttl_seconds=await _ttl(store, key) if exists else None)


@connector.tool(ToolManifest(scope="read", path="info", cache=False, results={"info.*": _SYSTEM}))
async def info(
    store: RedisStore,
    section: Annotated[
        str, Field(pattern=r"^[a-z]{3,20}$", description="server, clients, memory, stats, replication or keyspace.")
    ] = "memory",
) -> RedisInfo:
    """Show what the server says about itself: memory, clients, replication, number of keys."""
    sections: dict[Any, Any] = await store.run("INFO", section)
    return RedisInfo(info={text(name): text(value) for name, value in sections.items()})


@connector.tool(
    ToolManifest(
        scope="write", path="keys/delete", dangerous=True, steering=("key",), supports_dry_run=True, idempotent=True
    ),
    repeatable=True,
)
async def delete_key(store: RedisStore, key: Key, call: WriteCall) -> KeyRemoval:
    """Delete one key for good."""
    kind = text(await store.run("TYPE", key))
    if kind == "none":
        raise not_found("There is no such key.")
    if not call.dry_run:
        await store.run("UNLINK", key)
    return KeyRemoval(key=key, type=kind)


@connector.tool(
    ToolManifest(
        scope="write",
        path="keys/expire",
        dangerous=True,
        steering=("key", "ttl_seconds"),
        supports_dry_run=True,
        idempotent=True,
    )
)
async def expire_key(
    store: RedisStore,
    key: Key,
    ttl_seconds: Annotated[int, Field(ge=1, le=31_536_000, description="After how many seconds it goes away.")],
    call: WriteCall,
) -> KeyExpiry:
    """Let one key expire after some seconds."""
    if not await store.run("EXISTS", key):
        raise not_found("There is no such key.")
    before = await _ttl(store, key)
    if not call.dry_run:
        await store.run("EXPIRE", key, ttl_seconds)
    return KeyExpiry(key=key, ttl_seconds=ttl_seconds, before_seconds=before)


async def _scan(store: RedisStore, pattern: str, cursor: str, count: int) -> tuple[str, list[str]]:
    following, keys = await store.run("SCAN", cursor, "MATCH", pattern, "COUNT", max(count, 100))
    return text(following), [text(key) for key in keys]


async def _ttl(store: RedisStore, key: str) -> int | None:
    left = int(await store.run("TTL", key))
    return left if left >= 0 else None
