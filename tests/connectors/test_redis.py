"""Redis and Valkey: keys of every type, in portions, and only single ones are touched."""

import pytest
from pydantic import SecretStr

from gaby_connectors.redis.config import RedisConfig
from gaby_connectors.redis.tools import connector
from gaby_connectors.sdk.manifest import ErrorKind
from tests.connectors.talk import talking
from tests.support.valkey import Valkey

pytestmark = [pytest.mark.promise("M6"), pytest.mark.xdist_group("valkey")]


@pytest.fixture
def config(valkey: Valkey) -> RedisConfig:
    with valkey.client() as client:
        client.flushall()
    return RedisConfig(url=SecretStr(valkey.url))


async def test_a_key_of_every_type_can_be_read(config: RedisConfig, valkey: Valkey) -> None:
    with valkey.client() as client:
        client.set("text", "hello")
        client.set("bytes", b"\xff\x00a")
        client.rpush("list", "a", "b")
        client.sadd("set", "y", "x")
        client.hset("hash", mapping={"name": "Ada", "age": "36"})
        client.zadd("zset", {"low": 1, "high": 2.5})
        client.xadd("stream", {"event": "login"}, id="1-1")
    async with talking(connector, config) as talk:
        found = {key: await talk.ask("read_key", key=key) for key in ("text", "bytes", "list", "set", "hash", "zset")}
        assert {key: value["value"] for key, value in found.items()} == {
            "text": "hello",
            "bytes": "\\xff\0a",
            "list": ["a", "b"],
            "set": ["x", "y"],
            "hash": {"name": "Ada", "age": "36"},
            "zset": [{"member": "low", "score": 1.0}, {"member": "high", "score": 2.5}],
        }
        assert all(value["complete"] for value in found.values())
        stream = await talk.ask("read_key", key="stream")
        assert (stream["type"], stream["value"]) == ("stream", [{"id": "1-1", "fields": {"event": "login"}}])
        assert (await talk.fails("read_key", key="none")).kind == ErrorKind.NOT_FOUND


async def test_large_keys_are_read_in_part(config: RedisConfig, valkey: Valkey) -> None:
    with valkey.client() as client:
        client.set("text", "x" * 1_000_000)
        client.rpush("list", *range(5000))
        client.sadd("set", *range(5000))
        client.hset("hash", mapping={str(number): "v" for number in range(5000)})
    async with talking(connector, config) as talk:
        for key, size in (("text", 1_000_000), ("list", 5000), ("set", 5000), ("hash", 5000)):
            found = await talk.ask("read_key", key=key)
            assert (found["size"], found["complete"]) == (size, False)
            assert len(found["value"]) < 70_000


async def test_keys_are_found_by_pattern_in_portions(config: RedisConfig, valkey: Valkey) -> None:
    with valkey.client() as client:
        client.mset({f"session:{number}": "x" for number in range(700)} | {"other": "y"})
    async with talking(connector, config) as talk:
        found: set[str] = set()
        cursor: str | None = "0"
        while cursor is not None:
            portion = await talk.ask("scan_keys", pattern="session:*", count=200, cursor=cursor)
            found |= set(portion["keys"])
            cursor = portion["next_cursor"]
        assert found == {f"session:{number}" for number in range(700)}


async def test_time_to_live_and_the_server_s_own_figures(config: RedisConfig, valkey: Valkey) -> None:
    with valkey.client() as client:
        client.set("a", "1", ex=500)
        client.set("b", "1")
    async with talking(connector, config) as talk:
        assert 490 <= (await talk.ask("ttl", key="a"))["ttl_seconds"] <= 500
        assert await talk.ask("ttl", key="b") == {"key": "b", "exists": True, "ttl_seconds": None}
        assert await talk.ask("ttl", key="c") == {"key": "c", "exists": False, "ttl_seconds": None}
        assert "used_memory" in (await talk.ask("info"))["info"]


async def test_one_key_is_deleted_and_no_other(config: RedisConfig, valkey: Valkey) -> None:
    with valkey.client() as client:
        client.mset({"a*": "1", "ab": "2"})
        async with talking(connector, config) as talk:
            await talk.ask("delete_key", key="a*", dry_run=True)
            assert client.exists("a*")
            assert (await talk.ask("delete_key", key="a*"))["type"] == "string"
            assert [bool(client.exists(key)) for key in ("a*", "ab")] == [False, True]
            assert (await talk.fails("delete_key", key="a*")).kind == ErrorKind.NOT_FOUND


async def test_a_key_is_made_to_expire(config: RedisConfig, valkey: Valkey) -> None:
    with valkey.client() as client:
        client.set("a", "1")
        async with talking(connector, config) as talk:
            await talk.ask("expire_key", key="a", ttl_seconds=60, dry_run=True)
            assert client.ttl("a") == -1
            assert (await talk.ask("expire_key", key="a", ttl_seconds=60))["before_seconds"] is None
            assert 50 < client.ttl("a") <= 60


async def test_no_tool_can_say_keys_or_flushall(config: RedisConfig, valkey: Valkey) -> None:
    with valkey.client() as client:
        client.set("a", "1")
        async with talking(connector, config) as talk:
            for key in ("a\r\nFLUSHALL", "FLUSHALL"):
                await talk.fails("read_key", key=key)
            await talk.ask("scan_keys", pattern="*")
        assert client.get("a") == b"1"
        assert "cmdstat_keys" not in client.info("commandstats")


async def test_a_wrong_password_asks_for_a_new_one(config: RedisConfig, valkey: Valkey) -> None:
    wrong = RedisConfig(url=SecretStr(f"redis://:not-the-one@127.0.0.1:{valkey.port}/0"))
    async with talking(connector, wrong) as talk:
        assert (await talk.fails("healthcheck")).kind == ErrorKind.AUTH_EXPIRED


async def test_a_server_that_is_gone_is_a_passing_trouble(config: RedisConfig) -> None:
    async with talking(connector, RedisConfig(url=SecretStr("redis://127.0.0.1:9/0"))) as talk:
        assert (await talk.fails("ttl", key="a")).kind == ErrorKind.TRANSIENT
