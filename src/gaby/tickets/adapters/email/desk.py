"""The mailbox as a help desk.

SMTP cannot tell a mail that comes a second time: when a server took one and died before it said so, and is asked again,
the customer has two. So every answer is sent in one envelope to the customer and to the desk's own mailbox, with an id
made from the marker. A copy in the mailbox proves that the answer was taken. That there is none proves nothing yet:
copies take their time, and people delete mails.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gaby.kernel.outcomes import Verdict
from gaby.tickets.adapters.adapter import (
    DeskCapabilities,
    DeskDependencies,
    DeskRefused,
    DeskReply,
    RawTicket,
    TicketPage,
    VerifiedDelivery,
    WebhookRefused,
)
from gaby.tickets.adapters.email import smtp_client
from gaby.tickets.adapters.email.config import EmailConfig, is_address
from gaby.tickets.adapters.email.connections import MailConnection, in_time
from gaby.tickets.adapters.email.mailbox import signed_in
from gaby.tickets.adapters.email.normalization import incoming
from gaby.tickets.adapters.email.outgoing_mail import OutgoingMail, mail
from gaby.tickets.adapters.email.polling import MailPoll, parse, position
from gaby.tickets.canonical_ticket import IncomingTicket

_POLL_WITHIN = 120.0
_READ_FOR = 45.0
_SEND_WITHIN = 240.0
_MARKER = re.compile(r"gaby-[0-9a-z]{32}")


class EmailDesk:
    def __init__(self, config: EmailConfig, dependencies: DeskDependencies) -> None:
        self._config = config
        self._clock = dependencies.clock
        self._outside = dependencies.outside

    def capabilities(self) -> DeskCapabilities:
        return DeskCapabilities()

    async def check(self) -> str:
        def work(line: MailConnection) -> str:
            with signed_in(self._config, line) as box:
                state = box.examine(self._config.mailbox)
                if self._config.copies != self._config.mailbox:
                    box.examine(self._config.copies)
            smtp_client.try_out(self._config, line)
            where = f"{self._config.mailbox} on {self._config.imap_host}"
            return (
                f"{where} can be read (its next mail is number {state.next_uid}), {self._config.smtp_host} would send."
            )

        return await in_time(_POLL_WITHIN, work, self._outside)

    async def poll(self, cursor: str | None) -> TicketPage:
        parsed = parse(cursor) if cursor is not None else None
        now, end = self._clock.now(), self._clock.monotonic() + _READ_FOR

        def work(line: MailConnection) -> TicketPage:
            with signed_in(self._config, line) as box:
                state = box.examine(self._config.mailbox)
                start = position(parsed, state, self._config.since, now)
                return MailPoll(box, self._config, lambda: self._clock.monotonic() < end).page(start, state)

        return await in_time(_POLL_WITHIN, work, self._outside)

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> VerifiedDelivery:
        raise WebhookRefused("A mailbox delivers no webhooks.")

    async def subscribe(self, callback: str) -> str:
        raise DeskRefused("A mailbox delivers no webhooks; Gaby looks into it.")

    def normalize(self, raw: RawTicket) -> IncomingTicket:
        return incoming(raw, self._config)

    async def post_reply(self, external_id: str, reply: DeskReply, metadata: Mapping[str, Any]) -> str:
        answer = self._answer(external_id, reply, metadata)
        written = mail(answer, self._config)
        own = self._config.from_address
        recipients = [answer.to] if answer.to == own.lower() else [answer.to, own]
        await in_time(
            _SEND_WITHIN, lambda line: smtp_client.send(self._config, written, recipients, line), self._outside
        )
        return answer.message_id

    def _answer(self, external_id: str, reply: DeskReply, metadata: Mapping[str, Any]) -> OutgoingMail:
        to = metadata.get("to")
        thread: Sequence[str] = metadata.get("thread") or ()
        if not isinstance(to, str) or not is_address(to):
            raise DeskRefused("This mail has no address that can be answered, or a program wrote it.")
        return OutgoingMail(
            ticket=external_id,
            message_id=self._message_id(reply.marker),
            to=to,
            subject=str(metadata.get("subject") or ""),
            body=reply.body,
            thread=thread,
            at=self._clock.now(),
        )

    def _message_id(self, marker: str) -> str:
        if not _MARKER.fullmatch(marker):
            raise DeskRefused("This is no marker of Gaby's.")
        return f"{marker}@{self._config.domain}"

    async def find_reply(self, external_id: str, marker: str, metadata: Mapping[str, Any]) -> str | None:
        message_id = self._message_id(marker)

        def work(line: MailConnection) -> str | None:
            with signed_in(self._config, line) as box:
                box.examine(self._config.copies)
                return message_id if box.with_id(message_id) is not None else None

        return await in_time(_POLL_WITHIN, work, self._outside)

    async def update_status(self, external_id: str, verdict: Verdict, metadata: Mapping[str, Any]) -> None:
        raise DeskRefused("Mails have no status.")

    async def log_time_entry(
        self, external_id: str, minutes: int, note: str, marker: str, metadata: Mapping[str, Any]
    ) -> None:
        raise DeskRefused("Mails have no time entries.")

    async def aclose(self) -> None:
        """Every connection ends with what it was opened for."""
