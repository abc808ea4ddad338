"""Spans reach a collector with the same ids as the log lines, and cost nothing while tracing is off."""

import json
import subprocess
import sys
import threading
from collections.abc import Generator
from datetime import date
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from gaby.kernel import tracing
from gaby.kernel.errors import Misconfigured
from gaby.kernel.log import bind_request, get_log, note_workspace
from gaby.kernel.tracing import span
from tests.kernel.logs import captured

pytestmark = pytest.mark.promise("O1")


@pytest.fixture
def spans() -> Generator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    tracing.configure(None, "gaby-test", exporter=exporter)
    yield exporter
    tracing.shutdown()


@pytest.fixture
def collector() -> Generator["Collector"]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


class Collector(HTTPServer):
    """Takes OTLP over HTTP and keeps it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Receiver)
        self.received: list[tuple[str, ExportTraceServiceRequest]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert isinstance(self.server, Collector)
        self.server.received.append((self.path, ExportTraceServiceRequest.FromString(body)))
        self.send_response(200)
        self.end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


def test_off_means_no_span_and_no_import() -> None:
    with span("anything", a=1) as it:
        it.note(b=2)
    program = "import sys, gaby.kernel.tracing as t; t.configure(None); print('opentelemetry' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_span_has_the_attributes_of_a_log_line(spans: InMemorySpanExporter) -> None:
    with bind_request("r-1", "w-1", "i-1"), span("tools.invoke", kind="client", tool="refund", args={"a": [1]}) as it:
        it.note(status="ok", at=date(2026, 1, 2), missing=None)
    (done,) = spans.get_finished_spans()
    assert done.attributes == {
        "request_id": "r-1",
        "workspace_id": "w-1",
        "investigation_id": "i-1",
        "tool": "refund",
        "args": '{"a": [1]}',
        "status": "ok",
        "at": "2026-01-02",
    }
    assert done.resource.attributes["service.name"] == "gaby-test"
    assert done.kind is SpanKind.CLIENT
    assert done.status.status_code is StatusCode.UNSET


def test_spans_nest_and_log_lines_name_the_one_they_are_in(spans: InMemorySpanExporter) -> None:
    log = get_log("tests.tracing")
    with captured() as stream:
        with span("outer"), span("inner"):
            log.info("inside")
        log.info("outside")
    inner, outer = spans.get_finished_spans()
    assert inner.parent is not None
    assert outer.context is not None
    assert inner.context is not None
    assert inner.parent.span_id == outer.context.span_id
    inside, outside = (json.loads(line) for line in stream.getvalue().splitlines())
    assert inside["trace_id"] == f"{inner.context.trace_id:032x}"
    assert inside["span_id"] == f"{inner.context.span_id:016x}"
    assert "trace_id" not in outside


def test_the_workspace_found_inside_a_span_is_kept_after_it(spans: InMemorySpanExporter) -> None:
    with bind_request("r") as work:
        with span("sign_in"):
            note_workspace("w-1")
        assert work.workspace_id == "w-1"


def test_a_failure_is_told_with_its_type_and_without_its_secrets(spans: InMemorySpanExporter) -> None:
    with pytest.raises(RuntimeError), span("connect", password="hunter2"):
        raise RuntimeError("db://gaby:hunter2@host is down")
    (done,) = spans.get_finished_spans()
    assert done.status.status_code is StatusCode.ERROR
    assert done.attributes == {
        "password": "***",
        "error.type": "RuntimeError",
        "error.message": "db://gaby:***@host is down",
    }
    assert not done.events


def test_spans_arrive_at_a_real_collector(collector: Collector) -> None:
    tracing.configure(collector.url, "gaby-test")
    with bind_request("r-9"), span("ticket.received"):
        pass
    tracing.shutdown()
    ((path, request),) = collector.received
    assert path == "/v1/traces"
    sent = request.resource_spans[0].scope_spans[0].spans[0]
    assert sent.name == "ticket.received"
    assert {item.key: item.value.string_value for item in sent.attributes} == {"request_id": "r-9"}


@pytest.mark.slow
def test_a_collector_that_is_gone_is_logged_and_does_not_fail_the_work() -> None:
    gone = Collector()
    gone.server_close()
    with captured() as stream:
        tracing.configure(gone.url)
        with span("ticket.received"):
            pass
        tracing.shutdown()
    assert all(
        json.loads(line)["payload"]["logger"].startswith("opentelemetry") for line in stream.getvalue().splitlines()
    )


@pytest.mark.parametrize("endpoint", ["collector:4318", "ftp://x", "http://", "nonsense"])
def test_an_endpoint_that_is_no_address_is_told_at_start(endpoint: str) -> None:
    with pytest.raises(Misconfigured, match="Allowed: http"):
        tracing.configure(endpoint)


def test_a_missing_extra_is_told_with_the_command_to_run() -> None:
    program = """
import sys
sys.modules["opentelemetry"] = None
from gaby.kernel import tracing
from gaby.kernel.errors import Misconfigured
try:
    tracing.configure("http://localhost:4318")
except Misconfigured as error:
    print(error.message)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'gaby[telemetry]'" in done.stdout
