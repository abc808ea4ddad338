"""A help desk inside the test, which makes whatever trouble it is told to."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel

from gaby.kernel.outcomes import Verdict
from gaby.tickets.adapters.adapter import (
    AdapterKind,
    DeskCapabilities,
    DeskDependencies,
    DeskOutcomeUnknown,
    DeskRefused,
    DeskReply,
    DeskUnavailable,
    RawTicket,
    TicketPage,
    TicketUnreadable,
    VerifiedDelivery,
    WebhookRefused,
)
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.tickets.kinds import with_kind

Trouble = Literal["lost", "swallowed", "busy", "refused"]
"""`lost`: it arrives and the answer does not. `swallowed`: neither does. `busy` and `refused`: it says so."""


class NoSettings(BaseModel):
    pass


@dataclass
class ScriptedDesk:
    able: DeskCapabilities = field(default_factory=DeskCapabilities)
    troubles: list[Trouble] = field(default_factory=list[Trouble])
    """Of the next things that are sent to it."""
    replies: list[DeskReply] = field(default_factory=list[DeskReply])
    statuses: list[str] = field(default_factory=list[str])
    times: dict[str, int] = field(default_factory=dict[str, int])
    asked: int = 0
    tickets: list[RawTicket] = field(default_factory=list[RawTicket])
    broken: Exception | None = None
    """What polling raises."""

    def capabilities(self) -> DeskCapabilities:
        return self.able

    async def check(self) -> str:
        return "It is here."

    async def poll(self, cursor: str | None) -> TicketPage:
        if self.broken is not None:
            raise self.broken
        seen = int(cursor or 0)
        return TicketPage(self.tickets[seen:], str(len(self.tickets)))

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> VerifiedDelivery:
        raise WebhookRefused

    async def subscribe(self, callback: str) -> str:
        return callback

    def normalize(self, raw: RawTicket) -> IncomingTicket:
        if "title" not in raw.payload:
            raise TicketUnreadable("It has no title.")
        return IncomingTicket(raw.external_id, raw.payload["title"], raw.payload.get("body", ""))

    async def post_reply(self, external_id: str, reply: DeskReply, metadata: Mapping[str, Any]) -> str:
        def arrive() -> None:
            if not (self.able.idempotent_replies and any(each.marker == reply.marker for each in self.replies)):
                self.replies.append(reply)

        self._sent(arrive)
        return f"reply-{len(self.replies)}"

    async def find_reply(self, external_id: str, marker: str, metadata: Mapping[str, Any]) -> str | None:
        self.asked += 1
        found = [f"reply-{n}" for n, each in enumerate(self.replies, 1) if each.marker == marker]
        return found[0] if found and self.able.finds_replies else None

    async def update_status(self, external_id: str, verdict: Verdict, metadata: Mapping[str, Any]) -> None:
        self._sent(lambda: self.statuses.append(verdict))

    async def log_time_entry(
        self, external_id: str, minutes: int, note: str, marker: str, metadata: Mapping[str, Any]
    ) -> None:
        self._sent(lambda: self.times.update({marker: minutes}))

    async def aclose(self) -> None:
        pass

    def _sent(self, arrive: Any) -> None:
        trouble = self.troubles.pop(0) if self.troubles else None
        if trouble == "busy":
            raise DeskUnavailable(retry_after=1800.0)
        if trouble == "refused":
            raise DeskRefused
        if trouble != "swallowed":
            arrive()
        if trouble is not None:
            raise DeskOutcomeUnknown


@contextmanager
def scripted_desk() -> Generator[ScriptedDesk]:
    """Known to Gaby as a desk of the kind `scripted`."""
    desk = ScriptedDesk()

    def opened(_config: NoSettings, _dependencies: DeskDependencies) -> ScriptedDesk:
        return desk

    with with_kind(AdapterKind("scripted", "A scripted desk", NoSettings, opened, vouchers=("desk", "nobody"))):
        yield desk
