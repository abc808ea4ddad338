"""A request that is too large, too deep or nonsense is refused before anything parses it."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import cast
from urllib.parse import urlsplit

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.kernel.http.limits import MAX_JSON_DEPTH, is_json, is_too_deep
from tests.kernel.logs import captured
from tests.kernel.web import MAX_BODY, build, client, served

pytestmark = pytest.mark.promise("O5")

PLAIN = {"Content-Type": "text/plain"}
JSON = {"Content-Type": "application/json"}


@pytest.fixture
async def url() -> AsyncGenerator[str]:
    with captured():
        async with served(build()) as address:
            yield address


async def chunks(count: int, size: int = 10_000) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x" * size


async def test_the_largest_body_allowed_arrives_whole(url: str) -> None:
    async with httpx2.AsyncClient(base_url=url) as http:
        announced = await http.post("/echo", content=b"x" * MAX_BODY, headers=PLAIN)
        streamed = await http.post("/echo", content=chunks(10), headers=PLAIN)
    assert [answer.json() for answer in (announced, streamed)] == [{"bytes": MAX_BODY}] * 2


async def test_one_byte_more_is_refused_whether_announced_or_streamed(url: str) -> None:
    async with httpx2.AsyncClient(base_url=url) as http:
        announced = await http.post("/echo", content=b"x" * (MAX_BODY + 1), headers=PLAIN)
        streamed = await http.post("/echo", content=chunks(11), headers=PLAIN)
    for answer in (announced, streamed):
        assert answer.status_code == 413
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["code"] == "too_large"


@pytest.mark.parametrize(
    ("query", "told"),
    [("limit=1&limit=2", "twice"), ("a=&b=%61&%61=1", "twice"), ("&".join(f"p{n}=1" for n in range(101)), "more than")],
)
async def test_a_parameter_is_given_once(url: str, query: str, told: str) -> None:
    async with httpx2.AsyncClient(base_url=url) as http:
        answer = await http.post(f"/echo?{query}", content=b"x", headers=PLAIN)
        once = await http.post("/echo?a=\xe4%ff&b=\xe4", content=b"x", headers=PLAIN)
    assert (answer.status_code, told in answer.json()["detail"]) == (400, True)
    assert once.status_code == 200


async def raw(url: str, *parts: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
    for part in parts:
        writer.write(part)
        await writer.drain()
    answer = await asyncio.wait_for(reader.read(65_536), 10)
    writer.close()
    return answer


async def test_an_announced_giant_is_refused_without_being_read(url: str) -> None:
    answer = await raw(url, b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413")


async def test_an_endless_stream_is_refused_at_the_limit(url: str) -> None:
    start = b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = await raw(url, start, *[b"2710\r\n" + b"x" * 10_000 + b"\r\n"] * 11)
    assert answer.startswith(b"HTTP/1.1 413")


async def test_a_client_that_leaves_half_way_is_no_failure() -> None:
    with captured() as stream:
        async with served(build()) as url:
            _, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
            writer.write(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
            await writer.drain()
            writer.close()
            await writer.wait_closed()
            async with httpx2.AsyncClient(base_url=url) as http:
                assert (await http.get("/api/things/1")).status_code == 200
    lines = [json.loads(line)["payload"] for line in stream.getvalue().splitlines() if '"http.' in line]
    assert sorted(line["status"] for line in lines) == [200, 499]


@pytest.mark.parametrize(
    "headers",
    [
        [(f"X-{number}", "1") for number in range(101)],
        [("X-Long", "x" * 16_385)],
        [(f"X-{number}", "x" * 10_000) for number in range(4)],
    ],
)
async def test_too_many_or_too_long_headers_are_refused(headers: list[tuple[str, str]]) -> None:
    async with client(build()) as http:
        answer = await http.get("/api/things/1", headers=headers)
    assert answer.status_code == 431
    assert answer.json()["code"] == "headers_too_large"


@pytest.mark.parametrize("length", [b"-1", b"1e3", b"x", "٣".encode(), b"9" * 30])
async def test_a_content_length_that_is_no_number_is_refused(length: bytes) -> None:
    async with client(build()) as http:
        answer = await http.post("/echo", content=chunks(1, 1), headers={b"Content-Length": length})
    assert answer.status_code == 400


@pytest.mark.parametrize("charset", ["utf-16", "utf-7", "nonsense", "zip", '"latin1"', "utf-8-sig"])
@pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data; boundary=x"])
async def test_only_utf8_is_taken(kind: str, charset: str) -> None:
    async with client(build()) as http:
        answer = await http.post("/echo", content=b"{}", headers={"Content-Type": f"{kind}; charset={charset}"})
    assert answer.status_code == 400
    assert "utf-8" in answer.json()["detail"]


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", '"utf-8"', "us-ascii"])
async def test_utf8_may_be_declared(charset: str) -> None:
    async with client(build()) as http:
        answer = await http.post(
            "/echo", content=b"{}", headers={"Content-Type": f"application/json; charset={charset}"}
        )
    assert answer.status_code == 200


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
async def test_json_in_another_encoding_cannot_slip_past_the_check(encoding: str) -> None:
    deep = "[" * 200 + "]" * 200
    async with client(build()) as http:
        answer = await http.post("/api/things", content=deep.encode(encoding), headers=JSON)
    assert answer.status_code == 400


@pytest.mark.parametrize("kind", ["application/json", "application/merge-patch+json", "Application/JSON ; x=y", None])
async def test_deep_json_is_refused_before_it_is_parsed(kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    async with client(build()) as http:
        fits = await http.post("/echo", content=b"[" * MAX_JSON_DEPTH + b"]" * MAX_JSON_DEPTH, headers=headers)
        deep = await http.post("/echo", content=b'{"a":' * 65 + b"1" + b"}" * 65, headers=headers)
        open_ended = await http.post("/echo", content=b"[" * MAX_BODY, headers=headers)
    assert fits.status_code == 200
    assert (deep.status_code, open_ended.status_code) == (400, 400)
    assert "64 levels" in deep.json()["detail"]


def depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max((depth(each) for each in cast("dict[str, object]", value).values()), default=0)
    if isinstance(value, list):
        return 1 + max((depth(each) for each in cast("list[object]", value)), default=0)
    return 0


_tricky = st.text(alphabet='[]{}"\\,: aé\n', max_size=20)
_json = st.recursive(
    st.none() | st.integers() | _tricky,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_tricky, inner, max_size=4),
)


@given(_json, st.integers(0, 70), st.booleans())
def test_the_depth_found_is_the_depth_there_is(value: object, wraps: int, ascii_only: bool) -> None:
    for number in range(wraps):
        value = [value, "]"] if number % 2 else {'"[': value}
    body = json.dumps(value, ensure_ascii=ascii_only).encode()
    assert is_too_deep(body) == (depth(value) > MAX_JSON_DEPTH)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_checked(body: bytes) -> None:
    is_too_deep(body)


@pytest.mark.parametrize(
    ("body", "deep"),
    [
        (b"[" * 6_000_000, True),
        (b'"' + b'\\"' * 3_000_000, False),
        (b"[]," * 2_000_000, False),
        (b'{"a":' * 1_200_000, True),
        (b'"\\' * 3_000_000, False),
    ],
    ids=["open", "escapes", "flat", "objects", "backslashes"],
)
def test_the_worst_bodies_are_judged_too(body: bytes, deep: bool) -> None:
    assert is_too_deep(body) == deep


@pytest.mark.parametrize(
    ("kind", "found"),
    [("", True), ("application/json;charset=utf-8", True), ("text/json+x", False), ("text/plain", False)],
)
def test_what_counts_as_json(kind: str, found: bool) -> None:
    assert is_json(kind) is found
