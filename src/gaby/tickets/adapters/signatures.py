"""Whether a delivery was signed by somebody who knows the secret, and is not old."""

import hmac
import re
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256

from gaby.tickets.adapters.adapter import WebhookRefused

HEADER = "x-gaby-signature"
WINDOW = 300
"""Seconds that a clock may be before or after ours."""
_HEX = re.compile(r"[0-9a-fA-F]{64}")
_SECONDS = re.compile(r"[0-9]{1,12}")
_LONGEST_HEADER = 1000
_MOST_SIGNATURES = 5


def digest(secret: str, message: bytes) -> str:
    return hmac.new(secret.encode(), message, sha256).hexdigest()


def is_signed(secret: str, message: bytes, signature: str) -> bool:
    """In constant time, whatever the signature looks like. An empty secret signs nothing."""
    possible = bool(secret) and _HEX.fullmatch(signature) is not None
    given = signature.lower() if possible else "0" * 64
    return hmac.compare_digest(digest(secret, message), given)


def signed_header(secret: str, body: bytes, now: datetime) -> str:
    """`t=UNIX,v1=HEX` over the time, a dot and the body."""
    at = int(now.timestamp())
    return f"t={at},v1={digest(secret, _stamped(at, body))}"


def check_stamped(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> str:
    """The delivery's id, made from what was signed. `WebhookRefused` when it is not signed, or too old or too new."""
    at, signatures = _parts(headers.get(HEADER, ""))
    message = _stamped(at, body)
    if not any(is_signed(secret, message, each) for each in signatures):
        raise WebhookRefused
    check_age(at, now)
    return delivery_id(message)


def check_age(at: float, now: datetime) -> None:
    if not abs(now.timestamp() - at) <= WINDOW:
        raise WebhookRefused("The delivery is older than five minutes, or a clock is wrong. Nothing was stored.")


def delivery_id(signed: bytes) -> str:
    """Of the signed bytes alone, so that no header which anybody can change makes a replay look new."""
    return sha256(signed).hexdigest()


def _stamped(at: int, body: bytes) -> bytes:
    return b"%d.%b" % (at, body)


def _parts(header: str) -> tuple[int, list[str]]:
    if len(header) > _LONGEST_HEADER:
        raise WebhookRefused
    pairs = [tuple(part.strip().split("=", 1)) for part in header.split(",") if "=" in part]
    times = [value for name, value in pairs if name == "t"]
    signatures = [value for name, value in pairs if name == "v1"]
    if len(times) != 1 or not _SECONDS.fullmatch(times[0]) or not 0 < len(signatures) <= _MOST_SIGNATURES:
        raise WebhookRefused
    return int(times[0]), signatures
