"""Spans made by the OpenTelemetry SDK. Imported only when tracing is on, since the SDK is an optional extra."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TypeGuard, cast
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter
from opentelemetry.trace import SpanKind, Status, StatusCode

from gaby.kernel.errors import Misconfigured
from gaby.kernel.log.context import SpanIds, bind_span, work_context
from gaby.kernel.log.values import plain_error, plain_mapping
from gaby.kernel.tracing import Kind

_KINDS = {"internal": SpanKind.INTERNAL, "server": SpanKind.SERVER, "client": SpanKind.CLIENT}
_SECONDS = 5


def build(endpoint: str | None, service: str, exporter: SpanExporter | None) -> "OtelTracer":
    provider = TracerProvider(resource=Resource.create({"service.name": service}), shutdown_on_exit=False)
    if exporter is not None:
        provider.add_span_processor(SimpleSpanProcessor(exporter))
    else:
        otlp = OTLPSpanExporter(endpoint=traces_url(endpoint or ""), timeout=_SECONDS)
        provider.add_span_processor(BatchSpanProcessor(otlp, export_timeout_millis=_SECONDS * 1000))
    return OtelTracer(provider)


def traces_url(endpoint: str) -> str:
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise Misconfigured(
            f"The telemetry endpoint {endpoint!r} is not an HTTP address. Allowed: http://HOST:PORT or https://HOST:PORT."
        )
    return endpoint if parts.path.strip("/") else f"{endpoint.rstrip('/')}/v1/traces"


class OtelTracer:
    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("gaby")

    @contextmanager
    def span(self, name: str, kind: Kind, attributes: dict[str, object]) -> Generator["OtelSpan"]:
        context = work_context()
        ids = {
            "request_id": context.request_id,
            "workspace_id": context.workspace_id,
            "investigation_id": context.investigation_id,
        }
        # An exception's text can hold secrets, so we record our masked one and not the SDK's.
        with self._tracer.start_as_current_span(
            name, kind=_KINDS[kind], record_exception=False, set_status_on_exception=False
        ) as started:
            otel_span = OtelSpan(started)
            otel_span.note(**{key: value for key, value in ids.items() if value is not None}, **attributes)
            known = started.get_span_context()
            ids_now = SpanIds(trace.format_trace_id(known.trace_id), trace.format_span_id(known.span_id))
            try:
                with bind_span(ids_now):
                    yield otel_span
            except BaseException as error:
                otel_span.fail_with(error)
                raise

    def shutdown(self) -> None:
        self._provider.shutdown()


class OtelSpan:
    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def note(self, **attributes: object) -> None:
        self._span.set_attributes(_flat(plain_mapping(attributes)))

    def fail(self, error_type: str) -> None:
        self._span.set_attribute("error.type", error_type)
        self._span.set_status(Status(StatusCode.ERROR, error_type))

    def fail_with(self, error: BaseException) -> None:
        description = plain_error(error)
        self._span.set_attribute("error.message", description["message"])
        self.fail(description["type"])


def _flat(attributes: Mapping[str, object]) -> dict[str, str | bool | int | float | list[str]]:
    """OpenTelemetry knows no null and no nesting, but lists of texts."""
    return {
        name: value if isinstance(value, str | bool | int | float) or _is_texts(value) else json.dumps(value)
        for name, value in attributes.items()
        if value is not None
    }


def _is_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(each, str) for each in cast("list[object]", value))
