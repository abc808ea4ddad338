"""Nobody who only runs a workspace reaches the inside of the network, in whatever spelling, name or redirect."""

import os
import socket
import subprocess
import sys
from collections.abc import Generator
from ipaddress import ip_address
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from gaby_connectors.postgres.conninfo import pinned_conninfo
from gaby_connectors.sdk.address_guard import (
    INSIDE_VARIABLE,
    AddressNotAllowed,
    AddressPolicy,
    from_environment,
    is_public,
    refusal_in,
)
from gaby_connectors.sdk.guarded_http import GuardedTransport
from tests.support.keycloak import serving

pytestmark = pytest.mark.promise("S9")
NOTHING = AddressPolicy()
HERE = AddressPolicy.allowing("127.0.0.0/8")

INSIDE = [
    "127.0.0.1", "127.8.9.10", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "0.0.0.1", "0.1.2.3", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16", "192.0.0.192", "192.88.99.1",
    "198.18.0.1", "203.0.113.7", "100.100.100.200",
    "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
    "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2001::1",
    "2001:db8::1", "fec0::1",
]  # fmt: skip


@pytest.mark.parametrize("address", INSIDE)
def test_inside_addresses_are_known_in_every_disguise(address: str) -> None:
    assert not is_public(ip_address(address))
    with pytest.raises(AddressNotAllowed, match="GABY_SAFETY_INSIDE"):
        NOTHING.check_addresses("api.example", [ip_address("93.184.216.34"), ip_address(address)])


def test_a_refusal_names_the_host_and_not_where_it_leads(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"), pytest.raises(AddressNotAllowed) as refused:
        NOTHING.check_addresses("intranet.acme.example", [ip_address("10.20.30.40")])
    assert "intranet.acme.example" in str(refused.value)
    assert "10.20.30.40" not in str(refused.value)
    assert "intranet.acme.example is at 10.20.30.40" in caplog.text


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"])
def test_public_addresses_are_fine(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "host",
    [
        *INSIDE, "localhost", "LOCALHOST.", "api.localhost", "printer.local", "metadata.google.internal", "2130706433",
        "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "017700000001", "[::1]", "fe80::1%eth0", "",
    ],
)  # fmt: skip
def test_a_setting_that_names_the_inside_is_refused_at_once(host: str) -> None:
    with pytest.raises(AddressNotAllowed):
        NOTHING.check_name(host)
    AddressPolicy.anywhere().check_name(host)


@pytest.mark.parametrize("host", ["api.example", "8.8.8.8", "local.example", "localhost.example", "a-b.example"])
def test_a_setting_that_may_be_outside_is_judged_later(host: str) -> None:
    NOTHING.check_name(host)


@pytest.mark.parametrize("spelling", ["2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "localhost"])
def test_a_name_is_judged_by_where_it_leads(spelling: str) -> None:
    with pytest.raises(AddressNotAllowed):
        NOTHING.resolve(spelling, 80)
    assert HERE.resolve("127.0.0.1", 80) == [ip_address("127.0.0.1")]


def test_networks_and_names_are_allowed_by_the_installation() -> None:
    outside = AddressPolicy.allowing("10.2.0.0/16, Mail.Corp.Example., fd00::/8, 192.168.7.1")
    assert outside.allows(ip_address("10.2.3.4"))
    assert outside.allows(ip_address("fd12::1"))
    assert outside.allows(ip_address("192.168.7.1"))
    assert not outside.allows(ip_address("10.3.0.1"))
    assert not outside.allows(ip_address("::ffff:10.3.0.1"))
    assert outside.check_addresses("mail.corp.example", [ip_address("10.9.9.9")])
    with pytest.raises(AddressNotAllowed):
        outside.check_addresses("other.corp.example", [ip_address("10.9.9.9")])
    assert not AddressPolicy.allowing(None).networks
    assert AddressPolicy.allowing("*").allows(ip_address("127.0.0.1"))


@pytest.mark.parametrize("text", ["10.2.0.0/99", "http://mail.corp.example", "a b", "x..y", "mail:25", "/"])
def test_a_list_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="neither a network"):
        AddressPolicy.allowing(text)


@given(st.ip_addresses())
def test_wrapping_never_opens_the_inside(address: Any) -> None:
    if address.version == 4:
        number = int(address)
        words = f"{number >> 16:x}:{number & 0xFFFF:x}"
        assert is_public(ip_address(f"64:ff9b::{words}")) is is_public(address)
        for wrapped in (f"::ffff:{address}", f"2002:{words}::1", f"::{words}", f"64:ff9b:1::{words}"):
            assert not is_public(ip_address(wrapped))
    if is_public(address):
        kinds = (address.is_private, address.is_loopback, address.is_link_local, address.is_multicast)
        assert not any(kinds)


@pytest.fixture
def server() -> Generator[str]:
    async def answer(request: Request) -> Response:
        if request.url.path == "/to":
            return RedirectResponse(request.query_params["where"])
        return PlainTextResponse(request.headers["host"])

    with serving(Starlette(routes=[Route("/{rest:path}", answer)])) as url:
        yield url


async def asked(url: str, outside: AddressPolicy) -> str:
    transport = GuardedTransport(outside)
    async with httpx2.AsyncClient(transport=transport, follow_redirects=True) as client:
        return (await client.get(url)).text


async def test_a_web_server_inside_is_asked_only_if_it_is_allowed(server: str) -> None:
    assert await asked(server, HERE) == server.removeprefix("http://")
    port = server.rpartition(":")[2]
    for host in ("127.0.0.1", "localhost", "127.1", "2130706433", "[::ffff:127.0.0.1]"):
        with pytest.raises(AddressNotAllowed):
            await asked(f"http://{host}:{port}", NOTHING)


async def test_a_redirect_to_the_inside_is_not_followed(server: str) -> None:
    only = AddressPolicy.allowing("127.0.0.1/32")
    with pytest.raises(AddressNotAllowed):
        await asked(f"{server}/to?where=http://127.0.0.2:9/", only)
    with pytest.raises(AddressNotAllowed):
        await asked(f"{server}/to?where=http://169.254.169.254/latest", only)


async def test_a_name_is_looked_up_once_so_that_it_cannot_change(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    port = int(server.rpartition(":")[2])
    answers = ["93.184.216.34", "127.0.0.1"]

    def lookup(host: str, *_rest: object, **_more: object) -> list[Any]:
        if host == "rebinding.example":
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answers.pop(0) if answers else "127.0.0.1", port))]
        return real(host, port, type=socket.SOCK_STREAM)

    real = socket.getaddrinfo
    tried: list[str] = []

    async def note(self: object, request: httpx2.Request) -> httpx2.Response:
        tried.append(request.url.host)
        raise httpx2.ConnectError("not in this test")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", note)
    with pytest.raises(httpx2.ConnectError):
        await asked(f"http://rebinding.example:{port}", NOTHING)
    assert (tried, answers) == (["93.184.216.34"], ["127.0.0.1"])
    with pytest.raises(AddressNotAllowed):
        await asked(f"http://rebinding.example:{port}", NOTHING)


@pytest.mark.parametrize("port", [22, 25, 6379, 5432, 11211, 1])
async def test_ports_of_other_services_are_not_asked(port: int) -> None:
    with pytest.raises(AddressNotAllowed, match="No web server"):
        await asked(f"http://8.8.8.8:{port}/", NOTHING)


def test_a_waiting_library_is_connected_to_a_judged_address_only() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        HERE.connect("localhost", port, 5).close()
        with pytest.raises(AddressNotAllowed):
            NOTHING.connect("localhost", port, 5)
    with pytest.raises(OSError, match="name is not known"):
        NOTHING.connect("nobody.invalid", 80, 5)


CHILD = """
import asyncio, socket, sys, urllib.request
from gaby_connectors.sdk.address_guard import enforce, from_environment
port = int(sys.argv[1])
enforce(from_environment())
ways = {
    "socket": lambda: socket.create_connection(("127.0.0.1", port), 5),
    "named": lambda: socket.create_connection(("localhost", port), 5),
    "odd": lambda: socket.create_connection(("127.1", port), 5),
    "asyncio": lambda: asyncio.run(asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 5)),
    "urllib": lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5),
    "unix": lambda: socket.socket(socket.AF_UNIX).connect("/tmp/nothing.sock"),
}
for name, way in ways.items():
    try:
        way()
        print(name, "connected")
    except OSError as error:
        told = str(error)
        refused = ("GABY_SAFETY_INSIDE" in told or "this machine" in told) and "127.0.0.1" not in told
        print(name, "refused" if refused else repr(error))
"""


@pytest.mark.parametrize(
    ("inside", "outcome"),
    [("", "refused"), ("127.0.0.0/8", "connected"), ("localhost", "connected"), ("*", "connected")],
)
def test_a_connector_that_gaby_started_connects_nowhere_else_by_any_library(
    server: str, inside: str, outcome: str
) -> None:
    port = server.rpartition(":")[2]
    environment = {**os.environ, INSIDE_VARIABLE: inside}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, port], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    unix = found.pop("unix")
    assert found == dict.fromkeys(("socket", "named", "odd", "asyncio", "urllib"), outcome)
    assert (unix == "refused") is (inside != "*")


def test_only_gaby_sets_the_limit() -> None:
    assert from_environment({}) is None
    assert from_environment({INSIDE_VARIABLE: ""}) == NOTHING


def test_a_refusal_is_found_inside_the_error_of_a_library() -> None:
    refused = AddressNotAllowed("no")
    wrapped = httpx2.ConnectError("cannot")
    wrapped.__cause__ = refused
    assert refusal_in(wrapped) is refused
    assert refusal_in(httpx2.ConnectError("cannot")) is None


async def test_libpq_is_given_addresses_that_were_judged() -> None:
    pinned = await pinned_conninfo("postgresql://u:pw@127.0.0.1:5433/shop", HERE)
    assert "hostaddr=127.0.0.1" in pinned
    assert "host=127.0.0.1" in pinned
    two = await pinned_conninfo("postgresql://u@localhost,127.0.0.2/shop", AddressPolicy.allowing("127.0.0.0/8, ::1"))
    assert "port=5432,5432" in two
    url = "postgresql://u@127.0.0.1/shop"
    assert await pinned_conninfo(url, None) == await pinned_conninfo(url, AddressPolicy.anywhere()) == url


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:pw@127.0.0.1/shop",
        "postgresql://u:pw@localhost/shop",
        "postgresql://u:pw@8.8.8.8,127.0.0.1/shop",
        "postgresql://u:pw@8.8.8.8/shop?hostaddr=127.0.0.1",
        "postgresql://u:pw@/shop",
        "postgresql://u:pw@/shop?host=/var/run/postgresql",
        "postgresql://u:pw@%2Fvar%2Frun/shop",
        "postgresql://u:pw@/shop?host=@abstract",
        "postgresql:///shop?service=inside",
        "postgresql://8.8.8.8/shop?passfile=/etc/passwd",
        "postgresql://8.8.8.8/shop?sslkey=/etc/ssl/key.pem",
        "postgresql://nobody.invalid/shop",
    ],
)
async def test_no_spelling_of_a_database_leads_inside(url: str) -> None:
    with pytest.raises(AddressNotAllowed):
        await pinned_conninfo(url, NOTHING)
