"""Which addresses may be called, and that those are the ones called."""

from collections.abc import Sequence
from ipaddress import ip_address

import httpx2
import pytest

from gaby.knowledge.sources.guard import Address, AddressGuard, AddressRefused, system_resolve
from gaby.knowledge.sources.limits import SourceLimits
from gaby.knowledge.sources.source import SourceUnavailable
from gaby.knowledge.sources.web_client import WebClient, WebRequest
from gaby_connectors.sdk.guarded_http import GuardedTransport
from tests.support.knowledge.website import SmallSite

pytestmark = pytest.mark.promise("K1")


class Names:
    """A DNS that answers as it is told, another thing each time."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[Address]:
        self.asked.append(host)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [ip_address(address) for address in answer]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "0.0.0.0",  # noqa: S104 — an address to refuse
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:93.184.216.34",
        "fe80::1",
        "fec0::1",
        "fd00:ec2::254",
        "ff02::1",
        "2002:7f00:1::",
        "2001:0:1::1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2001:db8::1",
    ],
)
async def test_addresses_that_are_private_or_special_are_refused(address: str) -> None:
    with pytest.raises(AddressRefused, match="GABY_KNOWLEDGE_NETWORKS"):
        await AddressGuard((), Names([address])).resolve_async("docs.example", 443)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822"])
async def test_addresses_of_the_public_internet_are_allowed(address: str) -> None:
    assert await AddressGuard((), Names([address])).resolve_async("docs.example", 443) == [ip_address(address)]


async def test_one_private_address_among_public_ones_refuses_the_name() -> None:
    with pytest.raises(AddressRefused):
        await AddressGuard((), Names(["93.184.216.34", "10.0.0.1"])).resolve_async("docs.example", 443)


async def test_a_network_that_the_installation_names_is_allowed_and_no_other() -> None:
    guard = AddressGuard(("10.2.0.0/16",), Names(["10.2.3.4"], ["10.3.3.4"]))
    assert await guard.resolve_async("wiki.example", 443) == [ip_address("10.2.3.4")]
    with pytest.raises(AddressRefused):
        await guard.resolve_async("wiki.example", 443)


async def test_a_name_that_nobody_knows_is_out_of_reach_for_the_moment() -> None:
    with pytest.raises(SourceUnavailable, match="not known"):
        await AddressGuard((), Names([])).resolve_async("nowhere.example", 443)


async def test_numbers_in_disguise_are_looked_up_and_judged() -> None:
    for host in ("127.1", "0x7f000001", "2130706433", "localhost"):
        with pytest.raises((AddressRefused, SourceUnavailable)):
            await AddressGuard((), system_resolve).resolve_async(host, 80)


async def test_the_judged_address_is_the_one_that_is_called(website: SmallSite) -> None:
    website.page("/")
    names = Names(["127.0.0.1"], ["10.0.0.1"])
    port = httpx2.URL(website.url).port
    async with httpx2.AsyncClient(transport=GuardedTransport(AddressGuard(("127.0.0.0/8",), names))) as client:
        answer = await client.get(f"http://docs.example:{port}/")
        assert answer.status_code == 200
        assert website.asked[0].headers["host"] == f"docs.example:{port}"
        # The name leads elsewhere a moment later, which is judged anew although the connection is still open.
        with pytest.raises(AddressRefused):
            await client.get(f"http://docs.example:{port}/")
    assert names.asked == ["docs.example", "docs.example"]
    assert len(website.asked) == 1


async def test_an_address_that_does_not_answer_gives_way_to_the_next(website: SmallSite) -> None:
    website.page("/")
    port = httpx2.URL(website.url).port
    names = Names(["127.0.0.9", "127.0.0.1"])
    async with httpx2.AsyncClient(transport=GuardedTransport(AddressGuard(("127.0.0.0/8",), names))) as client:
        assert (await client.get(f"http://docs.example:{port}/")).status_code == 200


async def test_no_connection_of_one_name_is_used_for_another(website: SmallSite) -> None:
    website.page("/")
    port = httpx2.URL(website.url).port
    async with httpx2.AsyncClient(
        transport=GuardedTransport(AddressGuard(("127.0.0.0/8",), Names(["127.0.0.1"])))
    ) as client:
        for number in range(12):
            await client.get(f"http://docs{number}.example:{port}/")
    hosts = [received.headers["host"] for received in website.asked]
    assert hosts == [f"docs{number}.example:{port}" for number in range(12)]


async def test_a_port_of_another_service_is_not_asked() -> None:
    web = WebClient(AddressGuard((), Names(["93.184.216.34"])), SourceLimits())
    with pytest.raises(AddressRefused, match="No web server is asked at"):
        await web.get(WebRequest("http://docs.example:25/"))
    await web.close()
