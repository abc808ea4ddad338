"""Every request has an id, one log line and its place in the metrics. The address's query is in none of them."""

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gaby.kernel.clock import Clock, SystemClock
from gaby.kernel.ids import IdFactory
from gaby.kernel.log import bind_request, get_log
from gaby.kernel.metrics import Metrics
from gaby.kernel.tracing import span

HEADER = "X-Request-ID"
UNMATCHED = "unmatched"
_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# What nginx writes when the client left before there was an answer.
_CLIENT_LEFT = 499

_log = get_log("gaby.http")


def sane_request_id(values: list[str]) -> str | None:
    """The id that the client asked for, when it sent exactly one and that is short and plain."""
    return values[0] if len(values) == 1 and _SANE.fullmatch(values[0]) else None


def route_template(scope: Scope) -> str:
    """`/api/people/{person_id}` and never the address itself, which may be secret and has no end of values."""
    path = getattr(scope.get("route"), "path_format", None) or getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) and path else UNMATCHED


class RequestIdMiddleware:
    """Goes outermost, so that whatever happens inside carries the id and is counted."""

    def __init__(
        self, app: ASGIApp, metrics: Metrics, clock: Clock | None = None, ids: IdFactory | None = None
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._clock = clock or SystemClock()
        self._ids = ids or IdFactory(self._clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = sane_request_id(Headers(scope=scope).getlist(HEADER)) or self._ids.new().hex
        status = _CLIENT_LEFT

        async def with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        start = self._clock.monotonic()
        with bind_request(request_id=request_id), span("http.request", kind="server") as it:
            try:
                await self._app(scope, receive, with_id)
            except BaseException:
                status = 500 if status == _CLIENT_LEFT else status
                raise
            finally:
                method = scope["method"] if scope["method"] in _METHODS else "OTHER"
                self._tell(method, route_template(scope), status, self._clock.monotonic() - start)
                it.note(method=method, route=route_template(scope), status=status)

    def _tell(self, method: str, route: str, status: int, seconds: float) -> None:
        _log.info("http.request", method=method, route=route, status=status, ms=round(seconds * 1000, 1))
        self._metrics.http_requests.labels(method, route, str(status)).inc()
        self._metrics.http_request_seconds.labels(method, route).observe(seconds)
