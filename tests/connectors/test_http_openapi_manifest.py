"""Tools from an OpenAPI file: nothing is harmless, a read or kept at home just because nobody has said otherwise."""

import json
from pathlib import Path
from typing import Any

import pytest

from gaby_connectors.http_openapi.config import OpenApiConfig
from gaby_connectors.http_openapi.tools import build
from gaby_connectors.sdk.config import load
from gaby_connectors.sdk.errors import NotConfigured
from gaby_connectors.sdk.manifest import ToolManifest

pytestmark = pytest.mark.promise("M6", "S9")


def manifests(folder: Path, paths: dict[str, Any], components: Any = None, **settings: Any) -> dict[str, ToolManifest]:
    document: dict[str, Any] = {"openapi": "3.1.0", "paths": paths, "components": {"schemas": components or {}}}
    (folder / "api.json").write_text(json.dumps(document))
    config = OpenApiConfig(file=folder / "api.json", base_url="https://api.acme.example", **settings)
    return {name: tool.manifest for name, tool in build(config).tools.items()}


def parameter(name: str, place: str = "query", **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": schema or {"type": "string"}}


def body(schema: Any) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


CREDIT = {
    "/customers/{customer}/credit": {
        "post": {
            "operationId": "addCredit",
            "parameters": [parameter("customer", "path", type="integer"), parameter("force", type="boolean")],
            **body(
                {
                    "type": "object",
                    "properties": {
                        "amount": {"type": "integer"},
                        "grant_admin": {"type": "boolean"},
                        "kind": {"enum": ["gift", "refund"]},
                        "note": {"type": "string"},
                        "extra": {"type": "object"},
                    },
                }
            ),
        }
    }
}


def test_every_argument_of_a_write_steers_numbers_and_booleans_too(tmp_path: Path) -> None:
    made = manifests(tmp_path, CREDIT)["addCredit"]
    assert (made.scope, made.path) == ("write", "customers/{customer}/credit")
    assert made.steering == ("customer", "force", "amount", "grant_admin", "kind", "note", "extra")
    assert (made.content, made.plain, made.destinations) == ((), (), ())


def test_only_an_operator_declares_what_is_content_or_harmless(tmp_path: Path) -> None:
    made = manifests(tmp_path, CREDIT, content=("addCredit.note",), harmless=("addCredit.kind",))["addCredit"]
    assert (made.content, made.plain) == (("note",), ("kind",))
    assert made.steering == ("customer", "force", "amount", "grant_admin", "extra")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"reads": ("addCredits",)}, "HTTP_OPENAPI_READS names addCredits"),
        ({"content": ("addCredit.text",)}, r"HTTP_OPENAPI_CONTENT names addCredit\.text"),
        ({"harmless": ("nothing.kind",)}, r"HTTP_OPENAPI_HARMLESS names nothing\.kind"),
        ({"content": ("addCredit.note",), "harmless": ("addCredit.note",)}, "either content or harmless"),
    ],
)
def test_a_declaration_that_fits_nothing_is_refused(tmp_path: Path, settings: dict[str, Any], told: str) -> None:
    with pytest.raises(NotConfigured, match=told):
        manifests(tmp_path, CREDIT, **settings)


def test_the_declarations_are_settings(tmp_path: Path) -> None:
    given = {
        "HTTP_OPENAPI_FILE": str(tmp_path),
        "HTTP_OPENAPI_BASE_URL": "https://api.acme.example",
        "HTTP_OPENAPI_READS": "runReport, other",
        "HTTP_OPENAPI_CONTENT": "addNote.text",
    }
    found = load(OpenApiConfig, given)
    assert (found.reads, found.content, found.harmless) == (("runReport", "other"), ("addNote.text",), ())


@pytest.mark.parametrize(
    ("path", "name", "query"),
    [
        ("/users/{id}/delete", "", ""),
        ("/users/{id}/delete", "getUserDelete", ""),
        ("/users/{id}", "deleteUser", ""),
        ("/users/{id}", "users.destroy", ""),
        ("/users/{id}", "", "action"),
        ("/users/{id}", "getUser", "action"),
        ("/users/{id}", "getUser", "op"),
        ("/users/{id}", "getUser", "_method"),
        ("/users/{id}", "getUser", "delete"),
        ("/users/{id}", "getUser", "resetPassword"),
        ("/users/{id}/lock", "", ""),
        ("/users/{id}/lock/", "", ""),
        ("/users/{id}/reset-password", "", ""),
        ("/users/{id}/resetPassword", "", ""),
        ("/users/{id}/RESET_PASSWORD", "", ""),
        ("/delete_user", "", ""),
        ("/unsubscribe/{id}", "", ""),
        ("/users/{id}/get_or_provision", "", ""),
        ("/users/{id}", "get_or_create_user", ""),
        ("/orders/{id}/send-invoice", "", ""),
        ("/nightly/{id}", "runJob", ""),
        ("/nightly/{id}", "doItNow", ""),
        ("/accounts/{id}/transfer", "", ""),
    ],
)
def test_a_get_that_changes_something_is_not_a_read(tmp_path: Path, path: str, name: str, query: str) -> None:
    operation: dict[str, Any] = {"parameters": [parameter("id", "path")] if "{id}" in path else []}
    operation |= {"operationId": name} if name else {}
    operation["parameters"] += [parameter(query)] if query else []
    found = manifests(tmp_path, {path: {"get": operation}})
    (made,) = [each for key, each in found.items() if key != "healthcheck"]
    assert made.access == "write"
    assert len(made.steering) == len(operation["parameters"])
    # Unless the operator knows better.
    (tool,) = found.keys() - {"healthcheck"}
    assert manifests(tmp_path, {path: {"get": operation}}, reads=(tool,))[tool].access == "read"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/orders", "findOrders"),
        ("/orders", ""),
        ("/orders/{id}", "getOrder"),
        ("/orders/{id}", ""),
        ("/order/{id}", "getOrder"),
        ("/issues/{id}/posts", "listPosts"),
        ("/issues/{id}/settings", "settings"),
        ("/users/{id}/updates", "list-updates"),
        ("/items/{id}", "read_item_items__item_id__get"),
        ("/users", "UsersController_findAll"),
        ("/books/{id}/addresses", "listAddresses"),
        ("/health", "health"),
    ],
)
def test_a_get_that_looks_is_a_read(tmp_path: Path, path: str, name: str) -> None:
    operation: dict[str, Any] = {"parameters": [parameter("id", "path"), parameter("limit", type="integer")]}
    operation["parameters"] = operation["parameters"][0 if "{id}" in path else 1 :]
    found = manifests(tmp_path, {path: {"get": operation | ({"operationId": name} if name else {})}})
    (made,) = [each for key, each in found.items() if key != "healthcheck"]
    assert (made.access, made.steering, made.dangerous) == ("read", (), False)


@pytest.mark.parametrize("order", [("path", "query"), ("query", "path")])
def test_a_query_argument_never_takes_the_place_of_the_path(tmp_path: Path, order: tuple[str, str]) -> None:
    parameters = [parameter("id", place) for place in order]
    schema = {"type": "object", "properties": {"id": {"type": "string"}, "query_id": {"type": "string"}}}
    operation = {"operationId": "change", "parameters": parameters, **body(schema)}
    made = manifests(tmp_path, {"/users/{id}": {"put": operation}})["change"]
    assert made.path == "users/{id}"
    assert made.steering == ("id", "query_id", "body_id", "body_query_id")


def test_arguments_whose_names_become_the_same_stay_apart(tmp_path: Path) -> None:
    parameters = [parameter("user id", "path"), parameter("user-id"), parameter("user!id"), parameter("user?id")]
    operation = {"operationId": "change", "parameters": parameters}
    made = manifests(tmp_path, {"/users/{user id}": {"put": operation}})["change"]
    assert made.path == "users/{user_id}"
    assert len(set(made.steering)) == 4
    assert made.steering[0] == "user_id"


LINK = {"type": "string", "format": "uri"}


@pytest.mark.parametrize(
    "schema",
    [
        LINK,
        {"type": "object", "properties": {"inner": {"type": "object", "properties": {"deep": LINK}}}},
        {"type": "array", "items": {"anyOf": [{"type": "null"}, LINK]}},
        {"type": "object", "additionalProperties": LINK},
        {"$ref": "#/components/schemas/Hook"},
        {"type": "array", "items": {"$ref": "#/components/schemas/Hook"}},
        {"definitions": {"x": LINK}, "type": "object"},
        {"type": "object", "properties": {"target": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"type": "object", "properties": {"callbackUrl": {}}}}},
        {"type": "object", "properties": {"a": {"items": {"properties": {"web_hook": {"type": "string"}}}}}},
        {"type": "object", "properties": {"recipients": {"type": "array", "items": {"type": "string"}}}},
        {"type": "string", "format": "email"},
        {"oneOf": [{"type": "integer"}, {"allOf": [{"properties": {"server_host": {"type": "string"}}}]}]},
    ],
)
def test_an_address_is_seen_wherever_it_is_nested(tmp_path: Path, schema: Any) -> None:
    components = {"Hook": {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/Url"}}}, "Url": LINK}
    whole = {"type": "object", "properties": {"thing": schema, "note": {"type": "string"}}}
    made = manifests(tmp_path, {"/things": {"post": {"operationId": "make", **body(whole)}}}, components)["make"]
    assert (made.destinations, made.steering) == (("thing",), ("note",))


@pytest.mark.parametrize("name", ["target", "callback", "redirect_uri", "imageUrl", "host", "webhook-url", "href"])
def test_a_read_with_a_chosen_address_is_a_write(tmp_path: Path, name: str) -> None:
    operation = {"operationId": "getPreview", "parameters": [parameter(name)]}
    made = manifests(tmp_path, {"/preview": {"get": operation}})["getPreview"]
    assert made.access == "write"
    assert len(made.destinations) == 1


def test_a_read_by_a_persons_address_stays_a_read(tmp_path: Path) -> None:
    parameters = [parameter("email", type="string", format="email"), parameter("phone")]
    made = manifests(tmp_path, {"/users": {"get": {"operationId": "findUsers", "parameters": parameters}}})
    assert (made["findUsers"].access, made["findUsers"].destinations) == ("read", ())


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("delete", "/users/{id}", "x"),
        ("post", "/users/{id}/delete", "postUsersDelete"),
        ("post", "/users/{id}/refund", "x"),
        ("get", "/users/{id}/terminate", "x"),
        ("put", "/users/{id}", "bulkRemove"),
    ],
)
def test_what_destroys_or_pays_is_dangerous(tmp_path: Path, method: str, path: str, name: str) -> None:
    operation = {"operationId": name, "parameters": [parameter("id", "path")]}
    assert manifests(tmp_path, {path: {method: operation}})[name].dangerous
