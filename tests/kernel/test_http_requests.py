"""Every request has an id, one log line without its query, a place in the metrics, and strict headers."""

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gaby.kernel import tracing
from gaby.kernel.http.request_id import sane_request_id
from gaby.kernel.metrics import Metrics
from tests.kernel.logs import captured
from tests.kernel.web import build, client

pytestmark = pytest.mark.promise("O1")


async def test_a_sane_request_id_is_kept_and_another_is_replaced() -> None:
    async with client(build()) as http:
        kept = await http.get("/api/things/1", headers={"X-Request-ID": "trace-1.a_B"})
        minted = [
            (await http.get("/api/things/1", headers={b"X-Request-ID": bad})).headers["X-Request-ID"]
            for bad in (b"", b"x" * 65, b"a b", "é".encode(), b"a;b", b"<script>")
        ]
        doubled = await http.get("/api/things/1", headers=[("X-Request-ID", "a"), ("X-Request-ID", "b")])
    assert kept.headers.get_list("X-Request-ID") == ["trace-1.a_B"]
    assert all(len(each) == 32 and sane_request_id([each]) for each in [*minted, doubled.headers["X-Request-ID"]])
    assert len(set(minted)) == len(minted)


@given(st.lists(st.text(), max_size=2))
def test_only_one_short_plain_value_is_an_id(values: list[str]) -> None:
    found = sane_request_id(values)
    if found is not None:
        assert values == [found]
        assert found.isascii()
        assert 1 <= len(found) <= 64
        assert found.replace(".", "").replace("_", "").replace("-", "").isalnum() or set(found) <= set("._-")


@given(st.from_regex(r"[A-Za-z0-9._-]{1,64}", fullmatch=True))
def test_every_short_plain_value_is_an_id(value: str) -> None:
    assert sane_request_id([value]) == value
    assert sane_request_id([f"{value}\n"]) is None


async def test_one_line_with_the_route_and_never_the_address_or_the_query() -> None:
    with captured() as stream:
        async with client(build()) as http:
            await http.get("/api/things/s3cret-id?token=s3cret", headers={"X-Request-ID": "r-1"})
            await http.get("/nowhere/s3cret?token=s3cret")
    assert "s3cret" not in stream.getvalue()
    found, missed = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (found["event"], found["request_id"], found["workspace_id"]) == ("http.request", "r-1", "w-1")
    payload: dict[str, Any] = found["payload"]
    assert payload | {"ms": 0} == {
        "logger": "gaby.http",
        "method": "GET",
        "route": "/api/things/{thing_id}",
        "status": 200,
        "ms": 0,
    }
    assert (missed["payload"]["route"], missed["payload"]["status"]) == ("unmatched", 404)
    assert missed["workspace_id"] is None


async def test_requests_are_counted_under_few_labels() -> None:
    metrics = Metrics()
    with captured():
        async with client(build(metrics)) as http:
            for number in range(3):
                await http.get(f"/api/things/{number}")
                await http.request("BREW", f"/nowhere/{number}")
            await http.get("/fail/badly")
    count = metrics.registry.get_sample_value
    labels = {"method": "GET", "route": "/api/things/{thing_id}"}
    assert count("gaby_http_requests_total", labels | {"status": "200"}) == 3
    assert count("gaby_http_request_duration_seconds_count", labels) == 3
    assert count("gaby_http_requests_total", {"method": "OTHER", "route": "unmatched", "status": "404"}) == 3
    assert count("gaby_http_requests_total", {"method": "GET", "route": "/fail/{how}", "status": "500"}) == 1


async def test_a_request_is_a_span_that_its_log_line_names() -> None:
    exporter = InMemorySpanExporter()
    tracing.configure(None, exporter=exporter)
    with captured() as stream:
        async with client(build()) as http:
            await http.get("/api/things/1", headers={"X-Request-ID": "r-1"})
    tracing.shutdown()
    (done,) = exporter.get_finished_spans()
    assert done.context is not None
    assert done.attributes == {
        "request_id": "r-1",
        "method": "GET",
        "route": "/api/things/{thing_id}",
        "status": 200,
    }
    line = json.loads(stream.getvalue())
    assert line["trace_id"] == f"{done.context.trace_id:032x}"
    assert line["workspace_id"] == "w-1"


def test_the_framework_exports_no_address_behind_our_back(pytestconfig: pytest.Config) -> None:
    program = """
import asyncio
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.kernel.web import build, client

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)

async def ask():
    async with client(build()) as http:
        assert (await http.get("/api/things/1?token=s3cret")).status_code == 200

asyncio.run(ask())
print(len(exporter.get_finished_spans()))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=pytestconfig.rootpath
    )
    assert done.stdout == "0\n"


@pytest.mark.promise("P1")
@pytest.mark.parametrize("path", ["/api/things/1", "/nowhere", "/fail/badly", "/fail/gone"])
async def test_strict_headers_are_on_every_answer(path: str) -> None:
    async with client(build()) as http:
        headers = (await http.get(path)).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]
    assert "Strict-Transport-Security" not in headers


@pytest.mark.promise("P1")
async def test_api_answers_are_never_stored() -> None:
    async with client(build()) as http:
        assert (await http.get("/api/things/1")).headers["Cache-Control"] == "no-store"
        assert (await http.get("/api")).headers["Cache-Control"] == "no-store"
        assert "Cache-Control" not in (await http.get("/apiary")).headers


@pytest.mark.promise("P1")
async def test_browsers_are_held_to_https_only_where_there_is_https() -> None:
    async with client(build(), base="https://gaby") as direct, client(build(https=True)) as behind_a_proxy:
        for http in (direct, behind_a_proxy):
            assert (await http.get("/api")).headers["Strict-Transport-Security"].startswith("max-age=")


async def test_a_route_may_set_its_own() -> None:
    async with client(build()) as http:
        assert (await http.post("/echo", content=b"x", headers={"Content-Type": "text/plain"})).headers.get_list(
            "X-Frame-Options"
        ) == ["SAMEORIGIN"]
