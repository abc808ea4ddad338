"""Addresses of crypto currencies: to where money is sent and never comes back."""

import hashlib
import re

from gaby.safety.redaction.scanned_text import long_tokens

_ADDRESS = re.compile(
    r"(?<![A-Za-z0-9])(?:0x[0-9a-fA-F]{40}|(?:bc|tb|ltc)1[02-9ac-hj-np-z]{11,87}|(?:BC|TB|LTC)1[02-9AC-HJ-NP-Z]{11,87}|"
    r"[13TLMDA][1-9A-HJ-NP-Za-km-z]{24,34})(?![A-Za-z0-9])"
)
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_CHECKS = {1, 0x2BC830A3}
_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def find_crypto(text: str) -> list[tuple[int, int, str]]:
    """Where each begins and ends, and its one spelling."""
    return [
        (*match.span(), value)
        for start, end in long_tokens(text)
        for match in _ADDRESS.finditer(text, start, end)
        if (value := _canonical(match[0]))
    ]


def _canonical(address: str) -> str | None:
    low = address.lower()
    if low.startswith("0x"):
        return low
    if low.startswith(("bc1", "tb1", "ltc1")):
        return low if _has_bech32_check(low) else None
    return address if _has_base58_check(address) else None


def _has_base58_check(address: str) -> bool:
    number = 0
    for character in address:
        number = number * 58 + _BASE58.index(character)
    if number >= 2**200:
        return False
    raw = number.to_bytes(25, "big")
    return hashlib.sha256(hashlib.sha256(raw[:21]).digest()).digest()[:4] == raw[21:]


def _has_bech32_check(address: str) -> bool:
    network, _, data = address.rpartition("1")
    expanded = [ord(c) >> 5 for c in network] + [0] + [ord(c) & 31 for c in network]
    check = 1
    for value in expanded + [_BECH32.index(character) for character in data]:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for place, generator in enumerate(_GENERATORS):
            check ^= generator if top >> place & 1 else 0
    return check in _BECH32_CHECKS
