"""Tickets on their way into Gaby: by webhook, by poll, over the API. Sent again until they are accepted."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Literal

import httpx2
import orjson

from gaby.tickets.adapters.signatures import HEADER, signed_header
from tests.chaos.product import WEBHOOK_SECRET, Product

Way = Literal["webhook", "poll", "api"]
WAYS: tuple[Way, ...] = ("webhook", "poll", "api")
_TITLE = "I was charged twice"
_BODY = "My card was charged twice for one order. Please look into it."
_PAUSE = 0.5
_LONGEST = 60.0


@dataclass
class Sent:
    """A ticket about one order."""

    external_id: str
    order_id: str
    email: str
    way: Way
    accepted_at: float | None = None
    """By our own clock for spans. A ticket that only lies on the desk counts as accepted: the desk shows it."""


@dataclass
class Sender:
    product: Product
    sent: list[Sent] = field(default_factory=list[Sent])
    _stopped: Event = field(default_factory=Event)
    _threads: list[Thread] = field(default_factory=list[Thread])

    def send(self, way: Way) -> Sent:
        """It is on its way when this returns."""
        order_id, email = self.product.outside.shop.order()
        if way == "api":
            sent = Sent(f"api-{order_id}", order_id, email, way)
            self._in_background(lambda: self._add(sent))
        else:
            desk = self.product.outside.desk
            desk.now = datetime.now(UTC)
            sent = Sent(desk.add(_TITLE, _BODY, email=email, channel="Web"), order_id, email, way)
            if way == "webhook":
                self._in_background(lambda: self._deliver(sent))
            else:
                sent.accepted_at = time.monotonic()
        self.sent.append(sent)
        return sent

    def finish(self) -> None:
        """Nobody was promised anything about what is still not accepted after this long, unless it lies on the desk."""
        for thread in self._threads:
            thread.join(_LONGEST)
        self._stopped.set()
        for thread in self._threads:
            thread.join(_LONGEST)
        for each in self.sent:
            if each.way == "webhook" and each.accepted_at is None:
                each.accepted_at = time.monotonic()
        self.sent = [each for each in self.sent if each.accepted_at is not None]

    def _in_background(self, send: Callable[[], bool]) -> None:
        def work() -> None:
            while not self._stopped.is_set() and not self._tried(send):
                self._stopped.wait(_PAUSE)

        thread = Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _tried(self, send: Callable[[], bool]) -> bool:
        try:
            return send()
        except httpx2.HTTPError:
            return False

    def _add(self, made: Sent) -> bool:
        body = {"title": _TITLE, "body": _BODY, "external_id": made.external_id, "requester_email": made.email}
        with self.product.client() as client:
            answer = client.post("/api/tickets", json={**body, "requester_verified": True})
        return self._noted(made, answer)

    def _deliver(self, made: Sent) -> bool:
        ticket = self.product.outside.desk.tickets[made.external_id]
        # As it was: a reply may have changed it while nobody took the delivery in.
        event = {"eventType": "Ticket_Add", "payload": {**ticket, "status": "Open"}}
        body = orjson.dumps([event])
        headers = {HEADER: signed_header(WEBHOOK_SECRET, body, datetime.now(UTC))}
        with self.product.client() as client:
            answer = client.post(f"/api/webhooks/desks/{self.product.desk_id}", content=body, headers=headers)
        return self._noted(made, answer)

    def _noted(self, made: Sent, answer: httpx2.Response) -> bool:
        if answer.is_success and made.accepted_at is None:
            made.accepted_at = time.monotonic()
        return answer.is_success
