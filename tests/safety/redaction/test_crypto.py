"""Addresses of crypto currencies are found by their checksum."""

import pytest

from gaby.safety.redaction.crypto import find_crypto

pytestmark = pytest.mark.promise("S9")

KNOWN = [
    "1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
    "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
    "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8",
    "0x52908400098527886e0f7030069857d2e4169ee7",
]


@pytest.mark.parametrize("address", KNOWN)
def test_an_address_is_found(address: str) -> None:
    assert find_crypto(address) == [(0, len(address), address)]
    assert find_crypto(f"to {address}, now") == [(3, 3 + len(address), address)]


@pytest.mark.parametrize("address", [address for address in KNOWN if not address.startswith("0x")])
def test_a_wrong_check_is_no_address(address: str) -> None:
    last = "q" if address[-1] != "q" else "p"
    assert find_crypto(address[:-1] + last) == []
    assert find_crypto(address + "q") == []
    assert find_crypto("q" + address) == []


def test_case_does_not_matter_where_it_means_nothing() -> None:
    assert find_crypto(KNOWN[3].upper())[0][2] == KNOWN[3]
    assert find_crypto("0x52908400098527886E0F7030069857D2E4169EE7")[0][2] == KNOWN[-1]
    assert find_crypto("LTC1" + "Q" * 38) == []


@pytest.mark.parametrize(
    "text", ["", "0x1234", "1" * 34, "T" + "z" * 34, "Abcdefghijkmnopqrstuvwxyz123", "0x" + "0" * 41]
)
def test_other_words_are_no_address(text: str) -> None:
    assert find_crypto(text) == []
