"""Tracing: spans for OpenTelemetry. Off, and nearly free, unless an endpoint is configured."""

from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol

from gaby.kernel.errors import Misconfigured

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

Kind = Literal["internal", "server", "client"]


class Span(Protocol):
    def note(self, **attributes: object) -> None:
        """Adds what became known on the way."""
        ...

    def fail(self, error_type: str) -> None:
        """Marks it as failed, without the text of an error. One that leaves the span is recorded by itself."""
        ...


class Tracer(Protocol):
    def span(self, name: str, kind: Kind, attributes: dict[str, object]) -> AbstractContextManager[Span]: ...

    def shutdown(self) -> None: ...


class _NoSpan:
    def note(self, **attributes: object) -> None:
        pass

    def fail(self, error_type: str) -> None:
        pass


_OFF: AbstractContextManager[Span] = nullcontext(_NoSpan())
_on: list[Tracer] = []


def span(name: str, *, kind: Kind = "internal", **attributes: object) -> AbstractContextManager[Span]:
    """A stretch of work: `with span("tools.invoke", tool=name) as it: ...`. Masked and bounded like a log line."""
    return _on[0].span(name, kind, attributes) if _on else _OFF


def configure(endpoint: str | None, service: str = "gaby", *, exporter: "SpanExporter | None" = None) -> None:
    """Sends spans to an OTLP/HTTP endpoint such as `http://collector:4318`, or at once to the exporter given."""
    shutdown()
    if not endpoint and exporter is None:
        return
    try:
        otel: Any = import_module("gaby.kernel.tracing.otel")
    except ModuleNotFoundError as missing:
        if not (missing.name or "").startswith("opentelemetry"):
            raise
        raise Misconfigured(
            "Tracing is configured, but OpenTelemetry is not installed. "
            "Run `pip install 'gaby[telemetry]'`, or unset the telemetry endpoint."
        ) from missing
    _on.append(otel.build(endpoint, service, exporter))


def shutdown() -> None:
    """Sends what is left and stops. It may wait some seconds for the collector."""
    while _on:
        _on.pop().shutdown()


__all__ = ["Kind", "Span", "Tracer", "configure", "shutdown", "span"]
