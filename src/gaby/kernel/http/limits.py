"""What a request may be at most. It is refused before anything parses it."""

import json
import re
from typing import Any
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gaby.kernel.errors import BadRequest, GabyError, TooLarge

MAX_HEADERS = 100
MAX_HEADER_BYTES = 16_384
MAX_JSON_DEPTH = 64
MAX_PARAMETERS = 100

# An open string runs to the end of the body, so that the search never starts over: always linear.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_OTHERS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([^\s\";]*)", re.IGNORECASE)
_CHARSETS = frozenset({"utf-8", "utf8", "us-ascii"})


class HeadersTooLarge(GabyError):
    """The request has too many headers, or too long ones. Send fewer; stale cookies are the usual reason."""

    status = 431
    exit_code = 2


class RequestLimitMiddleware:
    """Reads the whole body first, so that what is inside sees either an acceptable one or none."""

    def __init__(self, app: ASGIApp, max_body_bytes: int) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        _check_headers(headers)
        _check_query(scope["query_string"])
        body = await self._body(_content_length(headers), receive)
        if body is None:
            return
        if is_json(headers.get("content-type", "")):
            _check_json(body)
        await self._app(scope, _replaying(body, receive), send)

    async def _body(self, announced: int, receive: Receive) -> bytes | None:
        """None when the client left before it had sent all of it."""
        if announced > self._max_body_bytes:
            raise TooLarge
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._max_body_bytes:
                raise TooLarge
            more = message.get("more_body", False)
        return b"".join(parts)


def is_json(content_type: str) -> bool:
    """No type at all counts as JSON, since FastAPI may take it for that."""
    kind = content_type.partition(";")[0].strip().lower()
    return not kind or kind == "application/json" or kind.endswith("+json")


def is_too_deep(body: bytes) -> bool:
    brackets = _STRING.sub(b"", body).translate(_BRACKETS, _OTHERS)
    for _ in range(MAX_JSON_DEPTH):
        # Takes away the innermost level everywhere at once.
        fewer = brackets.replace(b"[]", b"")
        if len(fewer) == len(brackets):
            break
        brackets = fewer
    # What is left is nested deeper, or was never closed; a little of the latter is for the parser to refuse.
    return b"[]" in brackets or brackets.count(b"[") > MAX_JSON_DEPTH


def _check_headers(headers: Headers) -> None:
    sizes = [len(name) + len(value) for name, value in headers.raw]
    if len(sizes) > MAX_HEADERS or sum(sizes) > MAX_HEADER_BYTES * 2 or max(sizes, default=0) > MAX_HEADER_BYTES:
        raise HeadersTooLarge
    declared = _CHARSET.search(headers.get("content-type", ""))
    if declared and declared[1].lower() not in _CHARSETS:
        raise BadRequest("Requests must be in UTF-8. Declare `charset=utf-8`, or no charset at all.")


def _check_query(query: bytes) -> None:
    """For the same reason as in JSON, each name is given once."""
    text = query.decode("latin-1")
    try:
        names = [name for name, _ in parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_PARAMETERS)]
    except ValueError:
        raise BadRequest(f"The address has more than {MAX_PARAMETERS} parameters.") from None
    if len(set(names)) != len(names):
        raise BadRequest("The address gives the same parameter twice. Give each once.")


def _content_length(headers: Headers) -> int:
    announced = headers.get("content-length", "0")
    if not re.fullmatch(r"[0-9]{1,19}", announced):
        raise BadRequest("The Content-Length header is not a number.")
    return int(announced)


def _check_json(body: bytes) -> None:
    # Python's parser would guess UTF-16 from NUL bytes, and then read another text than was checked here.
    if b"\0" in body:
        raise BadRequest("The body is not JSON in UTF-8: it contains a NUL byte.")
    if is_too_deep(body):
        raise BadRequest(f"The JSON is nested deeper than {MAX_JSON_DEPTH} levels. Flatten it.")
    try:
        json.loads(body, object_pairs_hook=_without_doubles)
    except ValueError:
        return  # Whoever reads it says what is wrong with it.


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Readers differ in which of two values they take, so that what one has checked another would not see."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise BadRequest("The JSON gives the same name twice in one object. Give each once.")
    return fields


def _replaying(body: bytes, receive: Receive) -> Receive:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay
