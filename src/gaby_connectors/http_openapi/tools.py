"""Makes a tool of every operation in an OpenAPI file."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import jsonschema_rs

from gaby_connectors.http_openapi.api import OpenApiBackend
from gaby_connectors.http_openapi.classification import is_dangerous, is_read, leads_somewhere
from gaby_connectors.http_openapi.config import OpenApiConfig
from gaby_connectors.http_openapi.document import load_document
from gaby_connectors.http_openapi.operations import Operation, operations_of, plain_text
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.errors import NotConfigured, invalid
from gaby_connectors.sdk.manifest import ResultLabel, ToolManifest
from gaby_connectors.sdk.tool import Run, Tool, WriteCall, with_markers, with_write_arguments

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
        backend=OpenApiBackend,
    )
    operations = operations_of(document)
    _check_declared(config, operations)
    connector.add(*(tool_of_operation(operation, config) for operation in operations))
    return connector


def tool_of_operation(operation: Operation, config: OpenApiConfig) -> Tool:
    manifest = _manifest(operation, config)
    writes = manifest.access == "write"
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


def _manifest(operation: Operation, config: OpenApiConfig) -> ToolManifest:
    """Nothing is harmless by itself: of a write, every argument steers unless the operator says what it is."""
    reads = is_read(operation, config.reads)
    destinations = tuple(each.name for each in operation.arguments if leads_somewhere(each, writes=not reads))
    writes = not reads or bool(destinations)
    content = _declared(operation, config.content)
    plain = _declared(operation, config.harmless)
    apart = {*destinations, *content, *plain}
    return ToolManifest(
        scope="write" if writes else "read",
        path=operation.scope_path,
        dangerous=writes and is_dangerous(operation),
        steering=tuple(each.name for each in operation.arguments if writes and each.name not in apart),
        content=content,
        plain=plain,
        destinations=destinations,
        supports_dry_run=writes,
        idempotent=writes,
        results={"status": ResultLabel.SYSTEM},
    )


def _declared(operation: Operation, names: Iterable[str]) -> tuple[str, ...]:
    wanted = set(names)
    return tuple(each.name for each in operation.arguments if f"{operation.name}.{each.name}" in wanted)


def _check_declared(config: OpenApiConfig, operations: Iterable[Operation]) -> None:
    """A name that fits nothing is a mistake, and whoever made it believes that something is declared."""
    known = {operation.name: {argument.name for argument in operation.arguments} for operation in operations}
    for setting, names in (("READS", config.reads), ("CONTENT", config.content), ("HARMLESS", config.harmless)):
        for name in names:
            operation, _, argument = name.partition(".")
            if operation not in known or (argument and argument not in known[operation]):
                raise NotConfigured(f"HTTP_OPENAPI_{setting} names {name[:100]}, which the OpenAPI file does not have.")
    if both := sorted(set(config.content) & set(config.harmless)):
        raise NotConfigured(f"{both[0][:100]} is either content or harmless.")


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
    async def run(api: OpenApiBackend, given: Mapping[str, Any], call: WriteCall) -> Mapping[str, Any]:
        plan = api.plan(operation, given)
        if call.dry_run:
            query = [list(pair) for pair in plan.query]
            body = plan.body if plan.has_body else None
            return {"status": 0, "request": {"method": plan.method, "url": plan.url, "query": query, "body": body}}
        return await api.send(plan, idempotency_key=call.idempotency_key)

    return run
