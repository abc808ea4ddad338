"""Deliveries of Zoho Desk: a token that Zoho signed in `X-ZDesk-JWT`, or a gateway's signature over the body.

Zoho's token names the organization, the webhook and the time. It does not cover the body, so one token stands for
one delivery: whoever catches one cannot send a second body with it."""

from base64 import urlsafe_b64decode
from binascii import Error
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA256

from gaby.tickets.adapters.adapter import RawTicket, VerifiedDelivery, WebhookRefused
from gaby.tickets.adapters.payload import entries, mapping
from gaby.tickets.adapters.signatures import HEADER, check_age, check_stamped, delivery_id
from gaby.tickets.adapters.web import parsed
from gaby.tickets.adapters.zoho_desk.normalization import ticket_id

JWT_HEADER = "x-zdesk-jwt"
EVENTS = ("Ticket_Add", "Ticket_Update")
_LONGEST_TOKEN = 8000
_MILLISECONDS = 100_000_000_000
"""Zoho's page says milliseconds and shows seconds; no time of ours is as far in seconds."""


class ZohoWebhookVerifier:
    def __init__(self, *, org_id: str, secret: str, webhook_id: str, keys: str) -> None:
        self._org_id = org_id
        self._secret = secret
        self.webhook_id = webhook_id
        self.keys = keys

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> VerifiedDelivery:
        if self._secret and HEADER in headers:
            delivery = check_stamped(self._secret, headers, body, now)
        else:
            delivery = self._check_token(headers.get(JWT_HEADER, ""), now)
        return VerifiedDelivery(delivery, _tickets(body))

    def _check_token(self, token: str, now: datetime) -> str:
        if not self.webhook_id or not self.keys or not 0 < len(token) <= _LONGEST_TOKEN or token.count(".") != 2:
            raise WebhookRefused
        signed, _, signature = token.rpartition(".")
        head, _, claims = signed.partition(".")
        header = _object(head)
        if header.get("alg") != "RS256" or not self._is_signed(signed.encode(), _bytes(signature), header.get("kid")):
            raise WebhookRefused
        self._check_claims(_object(claims), now)
        return delivery_id(signed.encode())

    def _check_claims(self, claims: Mapping[str, Any], now: datetime) -> None:
        if claims.get("iss") != f"orgId:{self._org_id}" or claims.get("aud") != f"webhookId:{self.webhook_id}":
            raise WebhookRefused
        check_age(_seconds(claims.get("iat")), now)
        if _seconds(claims.get("exp")) < now.timestamp():
            raise WebhookRefused

    def _is_signed(self, signed: bytes, signature: bytes, key_id: object) -> bool:
        for key in _keys(self.keys):
            if key.get("kid") == key_id and key.get("kty") == "RSA":
                try:
                    numbers = RSAPublicNumbers(e=_number(key.get("e")), n=_number(key.get("n")))
                    numbers.public_key().verify(signature, signed, PKCS1v15(), SHA256())
                except (InvalidSignature, ValueError):
                    continue
                return True
        return False


def _tickets(body: bytes) -> Sequence[RawTicket]:
    """Those that the events tell of whole. Replies come without their ticket, and are left to the next poll."""
    try:
        events = parsed(body)
    except ValueError:
        return ()
    tickets = [mapping(event.get("payload")) for event in entries(events) if event.get("eventType") in EVENTS]
    return [RawTicket(changed_id, {"ticket": ticket}) for ticket in tickets if (changed_id := ticket_id(ticket))]


def _keys(stored: str) -> list[dict[str, Any]]:
    try:
        return entries(mapping(orjson.loads(stored)).get("keys"))
    except ValueError:
        return []


def _bytes(part: object) -> bytes:
    if not isinstance(part, str):
        return b""
    try:
        return urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (Error, ValueError):
        return b""


def _object(part: str) -> dict[str, Any]:
    try:
        return mapping(orjson.loads(_bytes(part)))
    except ValueError:
        return {}


def _number(part: object) -> int:
    return int.from_bytes(_bytes(part), "big")


def _seconds(value: object) -> float:
    """Nothing readable counts as the beginning of time, which is too old."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return value / 1000 if value > _MILLISECONDS else float(value)
