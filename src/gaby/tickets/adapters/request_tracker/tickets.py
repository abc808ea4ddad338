"""A ticket with what was written on it."""

import re
from collections.abc import Mapping, Sequence

from gaby.tickets.adapters.adapter import DeskRefused, DeskUnavailable, RawTicket
from gaby.tickets.adapters.html_text import html_to_text
from gaby.tickets.adapters.request_tracker.payloads import (
    ATTACHMENT_FIELDS,
    TICKET_FIELDS,
    TRANSACTION_FIELDS,
    ListedTicket,
    ShapeT,
    TrackerAttachment,
    TrackerTicket,
    TrackerTransaction,
    items,
)
from gaby.tickets.adapters.request_tracker.rest import Busy, RestClient, TrackerResponseTooLarge
from gaby.tickets.text_cleanup import clean

PER_PAGE = 100
MOST_TEXT = 100_000
_MOST_MESSAGES = 50
_MOST_PAGES = 200
_ID = re.compile(r"[1-9][0-9]{0,17}")


def ticket_path(external_id: str) -> str:
    if not _ID.fullmatch(external_id):
        raise DeskRefused("This is no number of a ticket.")
    return f"ticket/{external_id}"


class TrackerTickets:
    def __init__(self, rest: RestClient) -> None:
        self._rest = rest

    async def read(self, listed: Sequence[ListedTicket]) -> list[RawTicket]:
        """A ticket that cannot be read, though the desk is well, does not hold up the others."""
        return [await self._guarded(ticket.id) for ticket in listed]

    async def _guarded(self, number: int) -> RawTicket:
        try:
            return await self._one(number)
        except Busy:
            raise
        except (DeskUnavailable, DeskRefused):
            # Is it the desk, or is it this ticket? Only the desk's trouble may stop the reading.
            await self._rest.get("rt")
        try:
            return await self._one(number)
        except (DeskUnavailable, DeskRefused) as error:
            return RawTicket(str(number), {"unreadable": error.message})

    async def _one(self, number: int) -> RawTicket:
        answer = (await self._rest.get("tickets", {"query": f"id = {number}", **TICKET_FIELDS})).body
        tickets = items(TrackerTicket, answer)
        if not tickets:
            raise DeskRefused("The ticket has gone, or Gaby may not see it.")
        written = await self.written(str(number))
        written = written[:1] + written[1:][-_MOST_MESSAGES:]
        texts = await self.texts([entry.id for entry in written])
        return RawTicket(
            str(number),
            {
                "ticket": tickets[0].model_dump(mode="json", by_alias=True),
                "messages": [
                    {**entry.model_dump(mode="json", by_alias=True), "text": texts.get(entry.id, "")}
                    for entry in written
                ],
            },
        )

    async def written(self, external_id: str) -> list[TrackerTransaction]:
        """The first message and all after it, the oldest first.

        What a user may not see is left out of a page, and only the mightiest are told how many pages there are. So
        comments, which may be hidden, are asked for by themselves: then a page that is not full is the last.
        """
        public = await self._history(external_id, ("Create", "Correspond"))
        private = await self._history(external_id, ("Comment",))
        return sorted((*public, *private), key=lambda entry: entry.id)

    async def _history(self, external_id: str, kinds: Sequence[str]) -> list[TrackerTransaction]:
        wanted = [{"field": "Type", "operator": "IN", "value": list(kinds)}]
        return await self._pages(f"{ticket_path(external_id)}/history", TrackerTransaction, wanted, TRANSACTION_FIELDS)

    async def _pages(self, path: str, kind: type[ShapeT], wanted: object, fields: Mapping[str, str]) -> list[ShapeT]:
        entries: list[ShapeT] = []
        for page in range(1, _MOST_PAGES):
            query = {"per_page": PER_PAGE, "page": page, "orderby": "id", **fields}
            part = items(kind, (await self._rest.again("POST", path, query=query, body=wanted)).body)
            entries.extend(part)
            if len(part) < PER_PAGE:
                return entries
        raise DeskRefused("The ticket has more messages than Gaby reads.")

    async def texts(self, transactions: Sequence[int]) -> dict[int, str]:
        """What each says. Too much at once is asked for in halves; what is too much by itself is left out."""
        if not transactions:
            return {}
        try:
            return _chosen(await self._attachments(transactions))
        except TrackerResponseTooLarge:
            if len(transactions) == 1:
                return {}
        half = len(transactions) // 2
        return {**await self.texts(transactions[:half]), **await self.texts(transactions[half:])}

    async def _attachments(self, transactions: Sequence[int]) -> list[TrackerAttachment]:
        wanted = [
            {"field": "TransactionId", "operator": "IN", "value": list(transactions)},
            {"field": "ContentType", "operator": "LIKE", "value": "text/"},
        ]
        return await self._pages("attachments", TrackerAttachment, wanted, ATTACHMENT_FIELDS)

    async def find(self, external_id: str, marker: str) -> str | None:
        """The first message that holds the marker: those that quote it come later."""
        messages = [entry.id for entry in await self.written(external_id) if entry.is_message]
        for start in range(0, len(messages), _MOST_MESSAGES):
            texts = await self.texts(messages[start : start + _MOST_MESSAGES])
            for number in sorted(texts):
                if marker in texts[number]:
                    return str(number)
        return None


def _chosen(attachments: Sequence[TrackerAttachment]) -> dict[int, str]:
    """Of each message the plain text, else the HTML as text. Files are no message."""
    texts: dict[int, str] = {}
    for kind in ("text/plain", "text/html"):
        for attachment in attachments:
            if attachment.kind == kind and not attachment.name and attachment.transaction not in texts:
                texts[attachment.transaction] = _text(attachment)
    return texts


def _text(attachment: TrackerAttachment) -> str:
    return clean(html_to_text(attachment.content) if attachment.kind == "text/html" else attachment.content, MOST_TEXT)
