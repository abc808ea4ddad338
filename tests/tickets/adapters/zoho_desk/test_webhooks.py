"""Deliveries of Zoho Desk are believed when Zoho or the gateway signed them a moment ago."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest

from gaby.tickets.adapters.adapter import WebhookRefused
from gaby.tickets.adapters.signatures import signed_header
from gaby.tickets.adapters.zoho_desk.desk import ZohoDesk
from tests.support.desks.dependencies import Standing
from tests.support.desks.zoho_desk import ScriptedZohoDesk, jwks, token
from tests.tickets.adapters.zoho_desk.conftest import Opening

pytestmark = pytest.mark.promise("T4")
HOOK = "5001"
SECRET = "a secret of the gateway"


@pytest.fixture
def listening(opening: Opening) -> ZohoDesk:
    return opening(webhook_id=HOOK, webhook_keys=orjson.dumps(jwks()).decode(), webhook_secret=SECRET)


def events(vendor: ScriptedZohoDesk) -> bytes:
    ticket = vendor.tickets[vendor.add("Login fails", "<p>It says 500.</p>")]
    added = {"eventType": "Ticket_Add", "eventTime": "1893553445000", "orgId": "700123", "payload": ticket}
    return orjson.dumps([added, {"eventType": "Ticket_Thread_Add", "payload": {"id": "1"}}])


def from_zoho(now: datetime, **claims: Any) -> Mapping[str, str]:
    return {"x-zdesk-jwt": token(HOOK, now, **claims)}


async def test_a_delivery_of_zoho_is_a_ticket(
    vendor: ScriptedZohoDesk, listening: ZohoDesk, dependencies: Standing
) -> None:
    now = dependencies.clock.now()
    delivery = listening.verify(from_zoho(now), events(vendor), now)

    assert [listening.normalize(raw).body for raw in delivery.tickets] == ["It says 500."]


async def test_a_delivery_of_a_gateway_is_a_ticket(
    vendor: ScriptedZohoDesk, listening: ZohoDesk, dependencies: Standing
) -> None:
    body, now = events(vendor), dependencies.clock.now()
    signed = {"x-gaby-signature": signed_header(SECRET, body, now)}

    assert len(listening.verify(signed, body, now).tickets) == 1
    with pytest.raises(WebhookRefused):
        listening.verify(signed, body + b" ", now)
    with pytest.raises(WebhookRefused):
        listening.verify(signed, body, now + timedelta(seconds=301))


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "orgId:1"},
        {"aud": "webhookId:1"},
        {"iat": None},
        {"exp": None},
        {"exp": 1},
        {"iat": "now"},
        {"iat": float("1e300")},
        {"header": {"alg": "none", "kid": "1"}},
        {"header": {"alg": "HS256", "kid": "1"}},
        {"header": {"alg": "RS256", "kid": "2"}},
        {"header": {"alg": "RS256", "kid": ["1"]}},
    ],
)
async def test_another_token_is_refused(
    vendor: ScriptedZohoDesk, listening: ZohoDesk, dependencies: Standing, claims: dict[str, Any]
) -> None:
    now = dependencies.clock.now()
    with pytest.raises(WebhookRefused):
        listening.verify(from_zoho(now, **claims), events(vendor), now)


@pytest.mark.parametrize("header", ["", "a.b.c", "..", "a" * 9000, "\u00ff.\ud800.x", "e30.e30.e30", "[].[].[]"])
async def test_garbage_instead_of_a_token_is_refused(listening: ZohoDesk, dependencies: Standing, header: str) -> None:
    with pytest.raises(WebhookRefused):
        listening.verify({"x-zdesk-jwt": header}, b"[]", dependencies.clock.now())


async def test_a_changed_token_is_refused(listening: ZohoDesk, dependencies: Standing) -> None:
    now = dependencies.clock.now()
    head, claims, signature = from_zoho(now)["x-zdesk-jwt"].split(".")
    for changed in (f"{head}.{claims}x.{signature}", f"{head}.{claims}.{signature[:-8]}AAAAAAAA"):
        with pytest.raises(WebhookRefused):
            listening.verify({"x-zdesk-jwt": changed}, b"[]", now)


@pytest.mark.parametrize("seconds", [-301, 301])
async def test_an_old_delivery_is_refused(listening: ZohoDesk, dependencies: Standing, seconds: int) -> None:
    now = dependencies.clock.now()
    at = now - timedelta(seconds=seconds)
    with pytest.raises(WebhookRefused):
        listening.verify(from_zoho(now, iat=int(at.timestamp())), b"[]", now)
    assert listening.verify(from_zoho(now, iat=int(now.timestamp() * 1000)), b"[]", now).id


async def test_one_token_stands_for_one_delivery(
    vendor: ScriptedZohoDesk, listening: ZohoDesk, dependencies: Standing
) -> None:
    """It does not cover the body, so another body with the same token is a replay."""
    now = dependencies.clock.now()
    headers = from_zoho(now)
    first = listening.verify(headers, events(vendor), now)
    forged = listening.verify(headers, events(vendor), now)
    # The last letter of a base64 text holds bits that mean nothing.
    respelt = {"x-zdesk-jwt": headers["x-zdesk-jwt"] + "="}

    assert first.id == forged.id == listening.verify(respelt, b"[]", now).id
    assert first.id != listening.verify(from_zoho(now, jti="2"), b"[]", now).id


async def test_keys_are_fetched_when_polling_and_remembered(
    vendor: ScriptedZohoDesk, opening: Opening, dependencies: Standing
) -> None:
    desk = opening(webhook_id=HOOK)
    now = dependencies.clock.now()
    with pytest.raises(WebhookRefused):
        desk.verify(from_zoho(now), b"[]", now)
    await desk.poll(None)
    await desk.poll(None)

    assert desk.verify(from_zoho(now), b"[]", now).id
    assert orjson.loads(dependencies.remembered["webhook_keys"]) == jwks()
    assert sum("jwks" in received.path for received in vendor.asked) == 1


@pytest.mark.parametrize("body", [b"", b"{}", b"[1]", b'[{"eventType": [], "payload": 1}]', b"[" * 100_000, b"\xff"])
async def test_a_body_that_says_nothing_brings_no_ticket(
    listening: ZohoDesk, dependencies: Standing, body: bytes
) -> None:
    assert not listening.verify(from_zoho(dependencies.clock.now()), body, dependencies.clock.now()).tickets
