"""What is outside of Gaby and never killed: the shop's database, and a help desk. Both count what really happened.

Both can hold an answer back and say so. That is how a test kills at a known moment without a hook in the product: the
credit is made, or the reply has arrived, and nobody in Gaby has heard of it yet.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event, Lock
from typing import Any

import orjson

from tests.support.desks.zoho_desk import ScriptedZohoDesk
from tests.support.models.http_server import Exchange, HttpServer, Received

_PATIENCE = 180.0
_LOOK_EVERY = 0.02


@dataclass
class Hold:
    """The next request that fits is done, or not yet, and its answer waits until somebody lets it go."""

    fits: Callable[[Received], bool]
    before: bool = False
    """Wait before doing what was asked, and not after it."""
    fails: bool = False
    """Hang up in the end."""
    reached: Event = field(default_factory=Event)
    released: Event = field(default_factory=Event)

    def wait(self) -> None:
        if not self.reached.wait(_PATIENCE):
            raise TimeoutError("nobody asked for what was to be held")

    def release(self) -> None:
        self.released.set()

    async def stand(self) -> None:
        self.reached.set()
        # Set from another thread, which no event of this loop can be.
        while not self.released.is_set():  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_EVERY)


class Holds:
    """For a server that answers in a thread of its own."""

    def __init__(self) -> None:
        self._coming: list[Hold] = []
        self._taken: list[Hold] = []
        self._lock = Lock()

    def add(self, fits: Callable[[Received], bool], *, before: bool = False, fails: bool = False) -> Hold:
        hold = Hold(fits, before, fails)
        with self._lock:
            self._coming.append(hold)
        return hold

    def take(self, received: Received) -> Hold | None:
        with self._lock:
            found = next((hold for hold in self._coming if hold.fits(received)), None)
            if found is not None:
                self._coming.remove(found)
                self._taken.append(found)
            return found

    def release_all(self) -> None:
        """Those that wait, and those that nobody has come to."""
        with self._lock:
            for hold in (*self._coming, *self._taken):
                hold.release()
            self._coming.clear()
            self._taken.clear()


class Shop:
    """Orders, and the credits that were really made: a line for each, since each pays."""

    def __init__(self) -> None:
        self.credits: list[str] = []
        self.holds = Holds()
        self.seconds = 0.0
        """How long every answer takes."""
        self._orders: dict[str, str] = {}
        self._server = HttpServer(self._answer)

    @property
    def url(self) -> str:
        return self._server.url

    def close(self) -> None:
        self._server.close()

    def hurry(self) -> None:
        self.seconds = 0.0

    def heal(self) -> None:
        self.hurry()
        self.holds.release_all()

    def reset(self) -> None:
        self.heal()
        self.credits.clear()
        self._orders.clear()

    def order(self) -> tuple[str, str]:
        """A new order that was charged twice, and whose it is."""
        number = len(self._orders) + 1
        order_id, email = f"ord_{number:04d}", f"customer{number}@papercrane.example"
        self._orders[order_id] = email
        return order_id, email

    def credits_of(self, order_id: str) -> int:
        return Counter(self.credits)[order_id]

    async def _answer(self, exchange: Exchange) -> None:
        received = exchange.received
        hold = self.holds.take(received)
        await asyncio.sleep(self.seconds)
        if hold is not None and hold.before:
            await hold.stand()
        answer = self._done(received)
        if hold is not None and not hold.before:
            await hold.stand()
        if hold is not None and hold.fails:
            exchange.abort()
            return
        await exchange.send(200, {"Content-Type": "application/json"}, orjson.dumps(answer))

    def _done(self, received: Received) -> dict[str, Any]:
        if received.path == "/credits":
            order_id = received.json["order_id"]
            self.credits.append(order_id)
            return {"order_id": order_id, "done": "credited"}
        wanted = received.query.get("query", "")
        found = [
            {"id": order_id, "email": email, "status": "credited" if order_id in self.credits else "charged_twice"}
            for order_id, email in self._orders.items()
            if email == wanted
        ]
        return {"orders": found}


class DeskOutside(ScriptedZohoDesk):
    """A Zoho Desk whose clock goes, and which can be slow or broken for a while."""

    def __init__(self) -> None:
        self.holds = Holds()
        self.seconds = 0.0
        self.refuses: int | None = None
        """The status that every request gets, while it is broken."""
        super().__init__()

    def reset(self) -> None:
        self.heal()
        for kept in (self.tickets, self.threads, self.comments, self.times):
            kept.clear()

    def mend(self) -> None:
        self.seconds, self.refuses = 0.0, None

    def heal(self) -> None:
        self.mend()
        self.holds.release_all()
        self.troubles.coming.clear()

    def replies_to(self, ticket: str) -> list[str]:
        """What Gaby wrote on it, for whomever. Gaby alone writes here."""
        sent = [each["content"] for each in self.threads[ticket] if each["direction"] == "out"]
        return [*sent, *(each["content"] for each in self.comments[ticket])]

    async def _answer(self, exchange: Exchange) -> None:
        self.now = datetime.now(UTC)
        await asyncio.sleep(self.seconds)
        if self.refuses is not None:
            await exchange.send(self.refuses, {"Retry-After": "1"}, b"{}")
            return
        hold = self.holds.take(exchange.received)
        if hold is not None and hold.before:
            await hold.stand()
        if hold is None or hold.before:
            await super()._answer(exchange)
            return
        # Done at once, as it would be; only nobody hears of it.
        await super()._answer(_Delayed(exchange, hold))


class _Delayed(Exchange):
    """An exchange whose answer waits."""

    def __init__(self, exchange: Exchange, hold: Hold) -> None:
        self.__dict__ = exchange.__dict__
        self._hold = hold

    async def raw(self, data: bytes) -> None:
        await self._hold.stand()
        await super().raw(data)


def credits_order(order_id: str) -> Callable[[Received], bool]:
    return lambda received: received.path == "/credits" and received.json["order_id"] == order_id


def looks_up(email: str) -> Callable[[Received], bool]:
    return lambda received: received.path == "/orders" and received.query.get("query") == email


def replies_on(ticket: str) -> Callable[[Received], bool]:
    ends = (f"/tickets/{ticket}/sendReply", f"/tickets/{ticket}/comments")
    return lambda received: received.method == "POST" and received.path.endswith(ends)
