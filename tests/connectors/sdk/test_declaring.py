"""A tool is a typed function with its manifest next to it; the rest follows."""

from pathlib import Path
from typing import Annotated

import pytest
from mcp.client.client import Client
from pydantic import BaseModel, Field

from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.manifest import SERVER_META, ErrorKind, ToolManifest
from gaby_connectors.sdk.tool import WriteCall, tool_of
from tests.connectors.sdk.toy import Toy, ToyConfig, connector
from tests.connectors.talk import talking

pytestmark = pytest.mark.promise("M3")


@pytest.fixture
def config(tmp_path: Path) -> ToyConfig:
    return ToyConfig(effects=tmp_path / "effects")


class Out(BaseModel):
    ok: bool


async def test_the_signature_is_the_input_schema(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        schema = (await talk.tool("act")).input_schema
        assert schema["additionalProperties"] is False
        assert schema["required"] == ["text"]
        assert schema["properties"]["text"] == {
            "type": "string",
            "minLength": 1,
            "maxLength": 50,
            "description": "What to write down.",
        }
        assert schema["properties"]["idempotency_key"]["type"] == "string"
        assert schema["properties"]["dry_run"]["type"] == "boolean"


async def test_a_read_takes_only_what_it_says(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        assert set((await talk.tool("rows")).input_schema["properties"]) == {"count", "width", "note"}


async def test_the_return_model_is_the_output_schema(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        schema = (await talk.tool("act")).output_schema
        assert schema is not None
        assert schema["type"] == "object"
        assert {"text", "count", "dry_run", "truncated", "more"} == set(schema["properties"])


async def test_manifest_and_version_are_told_in_the_handshake(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        assert (talk.client.server_capabilities.experimental or {})[SERVER_META] == {"version": "2.1.0"}
        manifest = await talk.manifest("act")
        assert manifest == ToolManifest(
            scope="write",
            path="acts/{text}",
            steering=("text",),
            supports_dry_run=True,
            idempotent=True,
            dangerous=True,
        )


async def test_other_clients_get_hints_from_the_manifest(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        write, read = (await talk.tool("act")).annotations, (await talk.tool("echo")).annotations
        assert write is not None
        assert read is not None
        assert (write.read_only_hint, write.destructive_hint, write.idempotent_hint) == (False, True, True)
        assert (read.read_only_hint, read.destructive_hint) == (True, False)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "text"),
        ({"text": ""}, "text"),
        ({"text": 7}, "text"),
        ({"text": "x", "colour": "red"}, "colour"),
        ({"text": "x", "dry_run": "no"}, "dry_run"),
        ({"text": "x", "idempotency_key": 5}, "idempotency_key"),
        ({"text": "x", "idempotency_key": ""}, "idempotency_key"),
    ],
)
async def test_a_bad_argument_is_named(config: ToyConfig, arguments: dict[str, object], named: str) -> None:
    async with talking(connector, config) as talk:
        error = await talk.fails("act", **arguments)
        assert error.kind == ErrorKind.INVALID
        assert f"`{named}`" in error.message
        assert not config.effects.exists()


async def test_a_tool_that_is_not_there_is_not_found(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        assert (await talk.fails("nothing_of_the_kind")).kind == ErrorKind.NOT_FOUND


async def test_healthcheck_is_always_there_and_asks_the_backend(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        assert await talk.ask("healthcheck") == {"ok": True, "detail": "Nothing outside this connector is needed."}
        assert (await talk.manifest("healthcheck")).scope == "read"


async def test_the_modern_protocol_tells_the_version_too(config: ToyConfig) -> None:
    async with Client(connector.server(config), mode="auto") as client:
        assert (client.server_capabilities.experimental or {})[SERVER_META] == {"version": "2.1.0"}
        assert (await client.call_tool("echo", {"value": 5})).structured_content == {"value": 5}


def test_a_manifest_that_speaks_of_no_argument_is_refused_at_once() -> None:
    async def tool(name: str) -> Out:
        """Do."""
        return Out(ok=bool(name))

    with pytest.raises(ValueError, match="user_id, which it does not take"):
        tool_of(tool, ToolManifest(scope="write", steering=("user_id",)))


def test_a_tool_without_a_description_is_refused() -> None:
    async def tool(name: str) -> Out:
        return Out(ok=bool(name))

    with pytest.raises(ValueError, match="docstring"):
        tool_of(tool, ToolManifest(scope="read"))


def test_results_that_are_no_objects_are_refused() -> None:
    async def tool(name: str) -> str:
        """Do."""
        return name

    with pytest.raises(TypeError, match="must return a model"):
        tool_of(tool, ToolManifest(scope="read"))  # pyright: ignore[reportArgumentType]


def test_a_write_cannot_declare_its_own_idempotency_key() -> None:
    async def tool(idempotency_key: str) -> Out:
        """Do."""
        return Out(ok=bool(idempotency_key))

    with pytest.raises(ValueError, match="added to every write"):
        tool_of(tool, ToolManifest(scope="write"))


def test_two_tools_of_one_name_are_refused() -> None:
    own = Connector("own", version="1.0.0", instructions="Own.")

    async def tool(name: Annotated[str, Field()], backend: Backend, call: WriteCall) -> Out:
        """Do."""
        return Out(ok=bool(name and backend and call))

    own.tool(ToolManifest(scope="read"))(tool)
    with pytest.raises(ValueError, match="two tools called tool"):
        own.tool(ToolManifest(scope="read"))(tool)


def test_a_version_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="pattern"):
        Connector("own", version="latest", instructions="Own.")


def test_the_backend_is_not_asked_for_as_an_argument() -> None:
    assert "toy" not in connector.tools["act"].input_schema["properties"]
    assert issubclass(Toy, Backend)
