"""Makes a tool of every operation in an OpenAPI file."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import jsonschema_rs

from gaby_connectors.http_openapi.api import Api
from gaby_connectors.http_openapi.config import OpenApiConfig
from gaby_connectors.http_openapi.document import load_document
from gaby_connectors.http_openapi.operations import Operation, operations_of, plain_text
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.errors import NotConfigured, invalid
from gaby_connectors.sdk.manifest import ResultLabel, ToolManifest
from gaby_connectors.sdk.tool import Run, Tool, WriteCall, with_markers, with_write_arguments
from gaby_connectors.sdk.verbs import looks_destructive

_RESULT = {
    "type": "object",
    "properties": {
        "status": {"type": "integer", "description": "The HTTP status."},
        "body": {"description": "What the server answered."},
        "request": {"type": "object", "description": "In a dry run: what would be sent."},
    },
}


def build(config: OpenApiConfig) -> Connector:
    document = load_document(config.file)
    info = cast("dict[str, Any]", document.get("info") or {})
    connector = Connector(
        config.name,
        version="1.0.0",
        instructions=f"Tools of an HTTP API. {plain_text(str(info.get('title', '')))[:200]}".strip(),
        config=OpenApiConfig,
        backend=Api,
    )
    connector.add(*(tool_of_operation(operation) for operation in operations_of(document)))
    return connector


def tool_of_operation(operation: Operation) -> Tool:
    manifest = _manifest(operation)
    writes = manifest.lane == "write"
    arguments: dict[str, Any] = {
        "type": "object",
        "properties": {argument.name: argument.schema for argument in operation.arguments},
        "required": [argument.name for argument in operation.arguments if argument.required],
        "additionalProperties": False,
    }
    return Tool(
        name=operation.name,
        description=operation.description,
        manifest=manifest,
        input_schema=with_write_arguments(arguments, writes=writes),
        output_schema=with_markers(_RESULT, writes=writes),
        check=_checker(operation, arguments),
        run=_runner(operation),
        more="Ask for a page, or for less, if the API can.",
    )


def _manifest(operation: Operation) -> ToolManifest:
    names = {argument.name: argument for argument in operation.arguments}
    destinations = tuple(name for name, argument in names.items() if argument.schema.get("format") in ("uri", "url"))
    writes = not operation.reads or bool(destinations)
    steering = tuple(name for name, argument in names.items() if writes and argument.place in ("path", "query"))
    return ToolManifest(
        scope="write" if writes else "read",
        path=operation.path.strip("/").replace(" ", "%20")[:200] or operation.name,
        dangerous=writes and (operation.method == "DELETE" or looks_destructive(operation.name)),
        steering=steering,
        destinations=destinations,
        supports_dry_run=writes,
        idempotent=writes,
        results={"status": ResultLabel.SYSTEM},
    )


def _checker(operation: Operation, schema: dict[str, Any]) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    try:
        validator = jsonschema_rs.validator_for(schema, mask="the value")
    except ValueError:
        raise NotConfigured(f"The schema of {operation.method} {operation.path[:60]} is not valid.") from None

    def check(given: Mapping[str, Any]) -> Mapping[str, Any]:
        problems = [
            f"`{'.'.join(map(str, problem.instance_path)) or 'arguments'}`: {problem.message}"
            for problem in validator.iter_errors(dict(given))
        ]
        if problems:
            raise invalid(f"Bad arguments: {'; '.join(problems[:5])}.")
        return given

    return check


def _runner(operation: Operation) -> Run:
    async def run(api: Api, given: Mapping[str, Any], call: WriteCall) -> Mapping[str, Any]:
        plan = api.plan(operation, given)
        if call.dry_run:
            query = [list(pair) for pair in plan.query]
            body = plan.body if plan.has_body else None
            return {"status": 0, "request": {"method": plan.method, "url": plan.url, "query": query, "body": body}}
        return await api.send(plan, idempotency_key=call.idempotency_key)

    return run
