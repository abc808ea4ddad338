"""Tools from an OpenAPI file: the right request goes to the right server, and to no other."""

import json
from collections.abc import Generator
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from gaby_connectors.http_openapi.config import OpenApiConfig
from gaby_connectors.http_openapi.guard import SingleServerGuard
from gaby_connectors.http_openapi.tools import build
from gaby_connectors.sdk.config import load
from gaby_connectors.sdk.errors import NotConfigured, ToolError
from gaby_connectors.sdk.manifest import ErrorKind
from tests.connectors.talk import talking
from tests.support.keycloak import serving

pytestmark = pytest.mark.promise("M6")

SHOP = """
openapi: 3.1.0
info: {title: A shop}
paths:
  /orders/{order_id}:
    parameters: [{name: order_id, in: path, required: true, schema: {type: string}}]
    get: {operationId: getOrder, summary: Show an order}
    delete: {operationId: deleteOrder, summary: Delete an order}
    patch:
      operationId: changeOrder
      summary: Change an order
      parameters: [{name: notify, in: query, schema: {type: boolean}}]
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/Change'}}}
  /orders:
    get:
      operationId: findOrders
      parameters:
        - {name: status, in: query, schema: {type: array, items: {type: string}}}
        - {name: limit, in: query, schema: {type: integer, maximum: 50}}
    post:
      operationId: importOrders
      requestBody: {content: {application/json: {schema: {type: array, items: {type: object}}}}}
  /cancel: {post: {operationId: cancelEverything}}
  /preview: {get: {operationId: preview, parameters: [{name: page, in: query, schema: {type: string, format: uri}}]}}
  /elsewhere: {get: {operationId: elsewhere}}
  /large: {get: {operationId: large}}
  /broken: {post: {operationId: broken}}
  /secretive: {get: {parameters: [{name: X-Key, in: header, required: true, schema: {type: string}}]}}
components:
  schemas:
    Change:
      type: object
      required: [note]
      properties:
        note: {type: string, maxLength: 20}
        order_id: {type: string, description: The new number}
        parent: {$ref: '#/components/schemas/Change'}
"""


@dataclass
class Shop:
    url: str = ""
    seen: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def answer(self, request: Request) -> Response:
        body = await request.body()
        self.seen.append(
            {
                "method": request.method,
                "path": request.scope["raw_path"].decode(),
                "query": request.url.query,
                "body": json.loads(body) if body else None,
                "key": request.headers.get("x-key"),
                "idempotency": request.headers.get("idempotency-key"),
                "host": request.headers["host"],
            }
        )
        match request.url.path:
            case "/v1/elsewhere":
                return RedirectResponse("http://127.0.0.1:9/stolen")
            case "/v1/large":
                return JSONResponse({"rows": ["x" * 100] * 5000})
            case "/v1/broken":
                return Response(status_code=503)
            case "/v1/orders/401":
                return JSONResponse({"error": f"not with {request.headers.get('x-key')}"}, 401)
            case _:
                return JSONResponse({"ok": True})


@pytest.fixture
def shop() -> Generator[Shop]:
    shop = Shop()
    methods = ["GET", "POST", "PATCH", "DELETE"]
    with serving(Starlette(routes=[Route("/{rest:path}", shop.answer, methods=methods)])) as url:
        shop.url = url
        yield shop


def config(folder: Path, shop: Shop, text: str = SHOP, **changes: Any) -> OpenApiConfig:
    (folder / "api.yaml").write_text(text)
    settings: dict[str, Any] = {
        "file": folder / "api.yaml",
        "base_url": f"{shop.url}/v1",
        "auth_header": "X-Key",
        "auth_value": SecretStr("shop-key-314159"),
        "allow_networks": ("127.0.0.0/8",),
    }
    return OpenApiConfig(**settings | changes)


async def test_every_operation_is_a_tool_with_the_right_manifest(tmp_path: Path, shop: Shop) -> None:
    settings = config(tmp_path, shop)
    async with talking(build(settings), settings) as talk:
        names = {tool.name for tool in (await talk.client.list_tools()).tools}
        assert names == {
            "healthcheck", "getOrder", "deleteOrder", "changeOrder", "findOrders", "importOrders", "cancelEverything",
            "preview", "elsewhere", "large", "broken",
        }  # fmt: skip
        manifests = {name: await talk.manifest(name) for name in names}
        assert [manifests[name].scope for name in ("getOrder", "changeOrder", "deleteOrder")] == [
            "read",
            "write",
            "write",
        ]
        assert [manifests[n].dangerous for n in ("changeOrder", "deleteOrder", "cancelEverything")] == [
            False,
            True,
            True,
        ]
        assert manifests["changeOrder"].steering == ("order_id", "notify", "note", "body_order_id", "parent")
        assert manifests["preview"].access == "write"
        assert manifests["preview"].destinations == ("page",)


async def test_path_query_and_body_are_one_flat_list_of_arguments(tmp_path: Path, shop: Shop) -> None:
    settings = config(tmp_path, shop)
    async with talking(build(settings), settings) as talk:
        properties = (await talk.tool("changeOrder")).input_schema["properties"]
        assert {"order_id", "notify", "note", "body_order_id", "parent"} < set(properties)
        result = await talk.ask(
            "changeOrder", order_id="a/b ü", notify=True, note="hi", body_order_id="7", idempotency_key="k1"
        )
        assert (result["status"], result["body"], result["dry_run"]) == (200, {"ok": True}, False)
        assert shop.seen == [
            {
                "method": "PATCH",
                "path": "/v1/orders/a%2Fb%20%C3%BC",
                "query": "notify=true",
                "body": {"note": "hi", "order_id": "7"},
                "key": "shop-key-314159",
                "idempotency": "k1",
                "host": shop.url.removeprefix("http://"),
            }
        ]
        await talk.ask("findOrders", status=["open", "new"], limit=5)
        assert shop.seen[-1]["query"] == "status=open&status=new&limit=5"
        await talk.ask("importOrders", body=[{"a": 1}])
        assert shop.seen[-1]["body"] == [{"a": 1}]


async def test_a_dry_run_shows_the_request_and_sends_nothing(tmp_path: Path, shop: Shop) -> None:
    settings = config(tmp_path, shop)
    async with talking(build(settings), settings) as talk:
        dry = await talk.ask("deleteOrder", order_id="7", dry_run=True)
        assert dry["request"] == {"method": "DELETE", "url": f"{shop.url}/v1/orders/7", "query": [], "body": None}
        assert shop.seen == []


async def test_a_repetition_is_not_sent_twice(tmp_path: Path, shop: Shop) -> None:
    settings = config(tmp_path, shop)
    async with talking(build(settings), settings) as talk:
        for _ in range(2):
            await talk.ask("deleteOrder", order_id="7", idempotency_key="k1")
        assert len(shop.seen) == 1
        for _ in range(2):
            await talk.fails("broken", idempotency_key="k2")
        assert len(shop.seen) == 2


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("getOrder", {}),
        ("getOrder", {"order_id": ".."}),
        ("getOrder", {"order_id": ""}),
        ("getOrder", {"order_id": "7", "extra": 1}),
        ("findOrders", {"limit": 51}),
        ("findOrders", {"limit": "5"}),
        ("changeOrder", {"order_id": "7"}),
        ("changeOrder", {"order_id": "7", "note": "x" * 21}),
    ],
)
async def test_arguments_that_do_not_fit_are_refused(
    tmp_path: Path, shop: Shop, tool: str, arguments: dict[str, Any]
) -> None:
    settings = config(tmp_path, shop)
    async with talking(build(settings), settings) as talk:
        assert (await talk.fails(tool, **arguments)).kind == ErrorKind.INVALID
        assert shop.seen == []


async def test_redirects_are_not_followed(tmp_path: Path, shop: Shop) -> None:
    settings = config(tmp_path, shop)
    async with talking(build(settings), settings) as talk:
        assert "redirects are not followed" in (await talk.fails("elsewhere")).message
        assert len(shop.seen) == 1


async def test_a_large_answer_is_cut(tmp_path: Path, shop: Shop) -> None:
    settings = config(tmp_path, shop)
    async with talking(build(settings), settings) as talk:
        result = await talk.ask("large")
        assert result["truncated"] is True
        assert 0 < len(result["body"]["rows"]) < 1000


async def test_the_key_is_not_told_even_if_the_server_tells_it(tmp_path: Path, shop: Shop) -> None:
    settings = config(tmp_path, shop)
    async with talking(build(settings), settings) as talk:
        error = await talk.fails("getOrder", order_id="401")
        assert error.kind == ErrorKind.AUTH_EXPIRED
        assert "shop-key-314159" not in error.message


async def test_a_private_address_is_refused_unless_the_operator_names_it(tmp_path: Path, shop: Shop) -> None:
    settings = config(tmp_path, shop, allow_networks=())
    async with talking(build(settings), settings) as talk:
        error = await talk.fails("getOrder", order_id="7")
        assert error.kind == ErrorKind.DENIED
        assert "127.0.0.1 has a private or special address" in error.message
        assert (await talk.fails("healthcheck")).kind == ErrorKind.DENIED
        assert shop.seen == []


async def test_a_name_that_means_a_private_address_is_refused_too(tmp_path: Path, shop: Shop) -> None:
    port = shop.url.rpartition(":")[2]
    settings = config(tmp_path, shop, allow_networks=(), base_url=f"http://localhost:{port}")
    async with talking(build(settings), settings) as talk:
        assert (await talk.fails("getOrder", order_id="7")).kind == ErrorKind.DENIED
        assert shop.seen == []


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254", "10.0.0.1", "192.168.1.1", "172.16.0.1", "127.0.0.1", "0.0.0.1", "100.64.0.1", "224.0.0.1",
        "::1", "fe80::1", "fd00::1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "::",
    ],
)  # fmt: skip
def test_special_addresses_are_known_in_every_disguise(address: str) -> None:
    guard = SingleServerGuard("api.example", 443, ())
    with pytest.raises(ToolError, match="private or special") as refused:
        guard.check_addresses([ip_address("93.184.216.34"), ip_address(address)])
    # Where a name leads is told to nobody who could draw a map of the network with it.
    assert "api.example has" in str(refused.value)
    assert str(ip_address(address)) not in str(refused.value).split()


def test_a_public_address_is_fine_and_a_named_network_is_too() -> None:
    assert SingleServerGuard("api.example", 443, ()).check_addresses([ip_address("93.184.216.34")])
    assert SingleServerGuard("api.example", 443, ("10.1.0.0/16",)).check_addresses([ip_address("10.1.2.3")])


def references(count: int) -> str:
    """Each schema holds the next one twice: small in the file, endless when written out."""
    schemas: dict[str, Any] = {f"S{count}": {"type": "string"}}
    for number in range(count):
        following = {"$ref": f"#/components/schemas/S{number + 1}"}
        schemas[f"S{number}"] = {"type": "object", "properties": {"a": following, "b": following}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
    paths = {"/x": {"post": {"requestBody": body}}}
    return json.dumps({"openapi": "3.0.0", "paths": paths, "components": {"schemas": schemas}})


def nested(depth: int) -> str:
    return '{"openapi": "3.0.0", "paths": ' + '{"/a": ' * depth + "{}" + "}" * depth + "}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no OpenAPI"),
        ("[1, 2]", "no OpenAPI"),
        ("{", "neither JSON nor YAML"),
        ("swagger: '2.0'", "no OpenAPI"),
        ("openapi: 3.0.0", "no operations"),
        ("openapi: 3.0.0\nx: &a [1]\ny: *a", "YAML aliases"),
        ("openapi: 3.0.0\nx: !!python/object/apply:os.system [id]", "neither JSON nor YAML"),
        ("openapi: 3.0.0\npaths: {/../x: {get: {}}}", "paths begin with /"),
        ("openapi: 3.0.0\npaths: {'http://evil.example': {get: {}}}", "paths begin with /"),
        ("openapi: 3.0.0\npaths: {'/x/{id}': {get: {}}}", "path parameter id"),
        ("openapi: 3.0.0\npaths: {/x: {get: {parameters: [{$ref: 'file:///etc/passwd'}]}}}", "outside of itself"),
        ("openapi: 3.0.0\npaths: {/x: {get: {parameters: [{$ref: '#/nowhere'}]}}}", "which is not there"),
        (references(40), "too large or too deep"),
        (nested(5000), "neither JSON nor YAML"),
    ],
)
def test_a_hostile_file_is_refused_in_words(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(NotConfigured, match=told):
        build(config(tmp_path, Shop("http://127.0.0.1:9"), text))


def test_a_schema_that_contains_itself_is_bounded(tmp_path: Path) -> None:
    made = build(config(tmp_path, Shop("http://127.0.0.1:9")))
    assert len(json.dumps(made.tools["changeOrder"].input_schema)) < 5000


def test_hidden_characters_in_a_description_are_taken_out(tmp_path: Path) -> None:
    text = 'openapi: 3.0.0\npaths: {/x: {get: {summary: "Sh\\u200bow\\U000E0041 it"}}}'
    made = build(config(tmp_path, Shop("http://127.0.0.1:9"), text))
    assert made.tools["get_x"].description == "Show it"


@pytest.mark.parametrize("url", ["ftp://x", "https://user:pw@x.example", "nothing"])
def test_a_base_address_that_will_not_do_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(NotConfigured, match="HTTP_OPENAPI_BASE_URL"):
        load(OpenApiConfig, {"HTTP_OPENAPI_FILE": str(tmp_path), "HTTP_OPENAPI_BASE_URL": url})
