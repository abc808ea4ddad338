"""Reads a key whatever its type is, only as much of it as fits."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from gaby_connectors.redis.store import MOST_BYTES, MOST_ITEMS, RedisStore, text
from gaby_connectors.sdk.errors import invalid, not_found


class RedisValue(NamedTuple):
    type: str
    size: int
    value: Any
    complete: bool


async def read(store: RedisStore, key: str) -> RedisValue:
    kind = text(await store.run("TYPE", key))
    match kind:
        case "none":
            raise not_found("There is no such key.")
        case "string":
            return await _string(store, key)
        case "list":
            size, items = await store.run("LLEN", key), await store.run("LRANGE", key, 0, MOST_ITEMS - 1)
            return RedisValue(kind, size, _texts(items), complete=size <= MOST_ITEMS)
        case "set":
            size, items = await store.run("SCARD", key), await _scanned(store, "SSCAN", key)
            return RedisValue(kind, size, sorted(_texts(items)), complete=size <= len(items))
        case "hash":
            size, items = await store.run("HLEN", key), _pairs(await _scanned(store, "HSCAN", key, wide=True))
            return RedisValue(
                kind, size, {text(name): text(value) for name, value in items}, complete=size <= len(items)
            )
        case "zset":
            return await _sorted_set(store, key)
        case "stream":
            return await _stream(store, key)
        case other:
            raise invalid(f"Keys of the type {other} cannot be shown.")


async def _string(store: RedisStore, key: str) -> RedisValue:
    size = int(await store.run("STRLEN", key))
    value = text(await store.run("GETRANGE", key, 0, MOST_BYTES - 1))
    return RedisValue("string", size, value, complete=size <= MOST_BYTES)


async def _sorted_set(store: RedisStore, key: str) -> RedisValue:
    size = int(await store.run("ZCARD", key))
    items = await store.run("ZRANGE", key, 0, MOST_ITEMS - 1, "WITHSCORES")
    pairs = items if items and isinstance(items[0], list | tuple) else _pairs(items)
    members = [{"member": text(member), "score": float(score)} for member, score in pairs]
    return RedisValue("zset", size, members, complete=size <= MOST_ITEMS)


async def _stream(store: RedisStore, key: str) -> RedisValue:
    size = int(await store.run("XLEN", key))
    rows = await store.run("XREVRANGE", key, "+", "-", "COUNT", 100)
    entries = [{"id": text(entry), "fields": _fields(fields)} for entry, fields in rows]
    return RedisValue("stream", size, entries, complete=size <= 100)


async def _scanned(store: RedisStore, command: str, key: str, *, wide: bool = False) -> list[Any]:
    """Members in portions, so that a key of millions does not hold up the server."""
    items: list[Any] = []
    cursor = "0"
    while len(items) < MOST_ITEMS * (2 if wide else 1):
        cursor, portion = await store.run(command, key, text(cursor), "COUNT", 200)
        items += _flat(portion)
        if text(cursor) == "0":
            break
    return items


def _flat(portion: Any) -> list[Any]:
    if isinstance(portion, dict):
        return [part for pair in cast("dict[Any, Any]", portion).items() for part in pair]
    return list(portion)


def _pairs(flat: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


def _fields(fields: Any) -> dict[str, str]:
    return {text(name): text(value) for name, value in _pairs(_flat(fields))}


def _texts(values: Any) -> list[str]:
    return [text(part) for part in values]
