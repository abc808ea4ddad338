"""Network addresses are found; versions, clock times and names in programs are not."""

import pytest

from gaby.safety.redaction.networks import find_networks
from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import SpanCertainty
from tests.safety.redaction.looking import found_texts

pytestmark = pytest.mark.promise("S5")


def looked(text: str) -> list[tuple[str, str, SpanCertainty]]:
    return [(text[span.start : span.end], span.kind, span.certainty) for span in find_networks(ScannedText(text))]


@pytest.mark.parametrize("address", ["10.0.0.5", "192.168.100.200", "8.8.8.8", "255.255.255.255", "203.0.113.7"])
def test_an_ipv4_address_is_found(address: str) -> None:
    for text in (address, f"from {address}.", f"http://{address}:8080/", f"[{address}]", f"{address}/24"):
        assert looked(text) == [(address, "ip", SpanCertainty.LIKELY)]


@pytest.mark.parametrize(
    "address",
    ["2001:db8::1", "fe80::1ff:fe23:4567:890a", "2001:0db8:0000:0000:0000:ff00:0042:8329", "::ffff:10.0.0.5", "1::"],
)
def test_an_ipv6_address_is_found(address: str) -> None:
    assert (address, "ip", SpanCertainty.SURE) in looked(f"from {address} today")
    assert (address, "ip", SpanCertainty.SURE) in looked(
        address.upper().replace("::FFFF:10.0.0.5", "::ffff:10.0.0.5")
    ) or (
        address.upper(),
        "ip",
        SpanCertainty.SURE,
    ) in looked(address.upper())


@pytest.mark.parametrize("address", ["00:1A:2B:3C:4D:5E", "00-1a-2b-3c-4d-5e", "ff:ff:ff:ff:ff:ff"])
def test_a_mac_address_is_found(address: str) -> None:
    assert looked(f"card {address}, up") == [(address, "mac", SpanCertainty.SURE)]
    assert looked(address) == [(address, "mac", SpanCertainty.SURE)]


def test_a_mac_address_with_dots_is_found() -> None:
    assert looked("001a.2b3c.4d5e") == [("001a.2b3c.4d5e", "mac", SpanCertainty.LIKELY)]
    assert looked("at 001A.2B3C.4D5E!") == [("001A.2B3C.4D5E", "mac", SpanCertainty.LIKELY)]


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1",
        "0" + ".0.0.0",
        "::1",
        "::",
        "v1.2.3.4",
        "version 1.2.3.4",
        "Version: 1.2.3.4",
        "release 1.2.3.4",
        "build=1.2.3.4",
        "firmware 1.2.3.4",
        "rev. 1.2.3.4",
        "Chrome/120.0.0.5",
        "1.2.3.4.5",
        "1.2.3",
        "1.2.3.256",
        "1.2.3.4-beta",
        "x1.2.3.4",
        ".1.2.3.4",
        "1.2.3.4x",
        "05:10:46",
        "2026-11-15T05:10:46.123",
        "std::vector",
        "abc::def",
        "12:34:56:78",
        "00:1A:2B:3C:4D",
        "00:1A-2B:3C-4D:5E",
        "x00-1A-2B-3C-4D-5E",
        "00-1A-2B-3C-4D-5E-6F",
        "00-1A-2B-3C-4D-5Ex",
        "zzzz.2b3c.4d5e",
        ".2b3c.4d5e",
        "a.2b3c.4d5e",
        "0001a.2b3c.4d5e",
        "001a.2b3c.4d5e.6f70",
        "1:2:3:4:5:6:7:8:9",
        "",
    ],
)
def test_other_numbers_are_no_address(text: str) -> None:
    assert found_texts(find_networks, text) == []


def test_the_word_version_far_before_says_nothing() -> None:
    assert found_texts(find_networks, "version 2 runs at 1.2.3.4") == ["1.2.3.4"]
