"""Escalations to a program of yours: JSON, signed."""

import httpx2
import orjson

from gaby.kernel.clock import Clock
from gaby.tickets.adapters.signatures import HEADER, signed_header
from gaby.tickets.adapters.web import DeskRequest, check_status, send
from gaby.tickets.escalation.channel import Escalation
from gaby.tickets.text_cleanup import LONGEST_BODY, LONGEST_TITLE, clean, clean_line

_SERVICE = "The escalation webhook"


class WebhookChannel:
    def __init__(self, address: str, secret: str, http: httpx2.AsyncClient, clock: Clock) -> None:
        self._address = address
        self._secret = secret
        self._http = http
        self._clock = clock

    async def send(self, escalation: Escalation) -> None:
        now = self._clock.now()
        body = _body(escalation)
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": escalation.id,
            HEADER: signed_header(self._secret, body, now),
        }
        ask = DeskRequest("POST", self._address, headers=headers, content=body)
        check_status(await send(self._http, ask, _SERVICE), ask, _SERVICE, now=now)


def _body(escalation: Escalation) -> bytes:
    fields = {
        "id": escalation.id,
        "verdict": escalation.verdict,
        "title": clean_line(escalation.title, LONGEST_TITLE),
        "link": clean_line(escalation.link, 2000),
        "reasons": [clean(each, LONGEST_BODY) for each in escalation.reasons],
        "summary": clean(escalation.summary, LONGEST_BODY),
        "steps": [clean_line(each, LONGEST_BODY) for each in escalation.steps],
    }
    try:
        return orjson.dumps({**fields, "investigation": orjson.loads(escalation.investigation)})
    except (ValueError, TypeError):
        words = escalation.investigation.encode("utf-8", "replace").decode()
        return orjson.dumps({**fields, "investigation": words})
