"""Errors as RFC 9457 problems: what is wrong, what to do, the request id; never internals and never the input."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, cast

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gaby.kernel.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    GabyError,
    Invalid,
    NotFound,
    TooLarge,
    TooManyRequests,
    Unauthenticated,
    Unavailable,
)
from gaby.kernel.log import get_log, work_context
from gaby.kernel.text import printable

PROBLEM = "application/problem+json"
_MOST_ERRORS = 50
_LONGEST = 200
# Their own messages repeat characters or words of the input.
_OWN_WORDS = {"uuid_parsing": "must be a UUID", "json_invalid": "is not valid JSON"}

_log = get_log("gaby.http")


class MethodNotAllowed(GabyError):
    """This address does not take that method. The `Allow` header lists those it takes."""

    status = 405


_BY_STATUS: dict[int, type[GabyError]] = {
    error.status: error
    for error in (BadRequest, Unauthenticated, Forbidden, NotFound, MethodNotAllowed, Conflict, TooLarge, Invalid)
} | {error.status: error for error in (TooManyRequests, Unavailable, GabyError)}


def problem_response(error: GabyError, headers: Mapping[str, str] | None = None) -> Response:
    return _response(error.status, error.problem(), {**error.headers, **(headers or {})})


def handle_problems(app: FastAPI) -> None:
    """Makes the app answer with problems, also where FastAPI and Starlette would answer in their own way."""
    handlers: dict[type[Exception], Callable[[Request, Any], Awaitable[Response]]] = {
        GabyError: _on_gaby_error,
        RequestValidationError: _on_invalid,
        HTTPException: _on_http_exception,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


class ErrorMiddleware:
    """Answers for errors that nobody expected, and for ours that were raised outside of a route."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except GabyError as error:
            if started:
                raise
            await _gaby_response(error)(scope, receive, send)
        except Exception as error:
            _log.exception("http.failed", exc_info=error)
            # Half of an answer is on its way; only cutting the connection tells the client that it is not whole.
            if started:
                raise
            await problem_response(GabyError())(scope, receive, send)


def _gaby_response(error: GabyError) -> Response:
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        _log.error("http.failed", code=error.code, exc_info=error)
    return problem_response(error)


async def _on_gaby_error(_request: Request, error: GabyError) -> Response:
    return _gaby_response(error)


async def _on_http_exception(request: Request, error: HTTPException) -> Response:
    if error.status_code == MethodNotAllowed.status:
        return problem_response(MethodNotAllowed(), {"Allow": _allowed(request)})
    if error.status_code in _BY_STATUS:
        return problem_response(_BY_STATUS[error.status_code](), error.headers)
    known = {status.value: status.phrase for status in HTTPStatus}
    title = known.get(error.status_code, "Error")
    body = {"type": "about:blank", "title": title, "status": error.status_code, "detail": title}
    return _response(error.status_code, body, error.headers or {})


async def _on_invalid(_request: Request, error: RequestValidationError) -> Response:
    errors = cast("Sequence[Mapping[str, Any]]", error.errors())
    details = [{"where": _where(each), "message": _message(each)} for each in errors[:_MOST_ERRORS]]
    return problem_response(Invalid(errors=details))


def _allowed(request: Request) -> str:
    """All methods of the address. Each route by itself knows only its own."""
    methods: set[str] = set()
    for route in iter_route_contexts(request.app.routes):
        if route.methods and route.path and compile_path(route.path)[0].match(request.scope["path"]):
            methods |= route.methods
    return ", ".join(sorted(methods))


def _response(status: int, body: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    content = orjson.dumps({**body, "request_id": work_context().request_id}, default=str)
    return Response(content, status, headers=dict(headers), media_type=PROBLEM)


def _where(error: Mapping[str, Any]) -> str:
    parts = [str(part) for part in error["loc"]]
    place = ".".join(parts[:1] if error["type"] == "json_invalid" else parts)
    return printable(place[:_LONGEST], one_line=True)


def _message(error: Mapping[str, Any]) -> str:
    kind, context = str(error["type"]), cast("Mapping[str, Any]", error.get("ctx") or {})
    if kind == "union_tag_invalid":
        return f"must be one of {context.get('expected_tags')}"
    message = _OWN_WORDS.get(kind) or str(error["msg"]).removeprefix("Value error, ")
    given = error.get("input")
    if isinstance(given, str) and len(given) > 2 and given in message:
        return "is not acceptable"
    return printable(message[:_LONGEST], one_line=True)
