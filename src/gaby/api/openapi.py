"""The OpenAPI document: what FastAPI derives from the routes, with errors described once and referred to."""

from typing import Any

from fastapi import FastAPI

from gaby.kernel.http.problems import PROBLEM

_PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "Problem",
    "required": ["type", "title", "status", "detail", "code", "request_id"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What is wrong and what to do."},
        "code": {"type": "string", "description": "Stable; match on this."},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {"type": "object", "properties": {"where": {"type": "string"}, "message": {"type": "string"}}},
        },
    },
}

_MEANINGS = {
    400: "It could not be understood.",
    401: "Not signed in.",
    403: "Not allowed.",
    404: "No such thing here.",
    405: "Not with this method.",
    409: "Not in the present state.",
    413: "Too large.",
    422: "Some values are not acceptable.",
    429: "Too many attempts.",
    431: "Headers too large.",
    500: "Something went wrong inside Gaby.",
    503: "Cannot be stored at the moment; try again.",
}

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": meaning, "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    for status, meaning in _MEANINGS.items()
}
"""The errors that every operation may answer with, for FastAPI's `responses`."""


class DocumentedApp(FastAPI):
    """FastAPI writes each error out in full for every operation; here operations refer to one description of it."""

    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        components: dict[str, Any] = document.setdefault("components", {})
        # FastAPI keeps the document and hands out the same one again.
        if "responses" not in components:
            components.setdefault("schemas", {})["Problem"] = _PROBLEM_SCHEMA
            components["responses"] = {f"Problem{status}": response for status, response in PROBLEMS.items()}
            _refer(document["paths"])
        return document


def _refer(paths: dict[str, dict[str, Any]]) -> None:
    references = {str(status): response for status, response in PROBLEMS.items()}
    for path in paths.values():
        for operation in path.values():
            responses: dict[str, Any] = operation["responses"]
            for status, response in responses.items():
                # A route that says something of its own about a status keeps it.
                if response == references.get(status):
                    responses[status] = {"$ref": f"#/components/responses/Problem{status}"}
