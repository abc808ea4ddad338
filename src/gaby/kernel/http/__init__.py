"""What every request passes through: an id and a log line, strict headers, problems instead of failures, limits."""

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig

from gaby.kernel.clock import Clock
from gaby.kernel.http.limits import RequestLimitMiddleware
from gaby.kernel.http.problems import ErrorMiddleware, handle_problems, problem_response
from gaby.kernel.http.request_id import RequestIdMiddleware
from gaby.kernel.http.security import SecurityHeadersMiddleware
from gaby.kernel.metrics import Metrics

# FastAPI's own telemetry exports addresses with their queries, and exceptions unmasked, once anything sets it up.
NO_FASTAPI_TELEMETRY: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}

__all__ = [
    "NO_FASTAPI_TELEMETRY",
    "ErrorMiddleware",
    "RequestIdMiddleware",
    "RequestLimitMiddleware",
    "SecurityHeadersMiddleware",
    "guard_http",
    "handle_problems",
    "problem_response",
]


def guard_http(
    app: FastAPI, *, metrics: Metrics, max_body_bytes: int, https: bool = False, clock: Clock | None = None
) -> None:
    """Puts the pieces around the app in the one order that works: each needs those that are added after it."""
    handle_problems(app)
    app.add_middleware(RequestLimitMiddleware, max_body_bytes=max_body_bytes)
    app.add_middleware(ErrorMiddleware)
    app.add_middleware(SecurityHeadersMiddleware, https=https)
    app.add_middleware(RequestIdMiddleware, metrics=metrics, clock=clock)
