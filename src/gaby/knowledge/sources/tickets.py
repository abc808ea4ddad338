"""Tickets that were resolved, each as one document: from a desk, or from the file that a desk exported."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from gaby.knowledge.documents import RawDocument
from gaby.knowledge.sources.generated_documents import as_markdown
from gaby.knowledge.sources.source import FailedItem, Listed, SourceItem, SourceTotal, SourceUnavailable
from gaby.knowledge.sources.ticket_export import ExportedTicket, TicketExport, UnreadableTicket

_BATCH = 200


class TicketArchive(Protocol):
    def resolved(self) -> AsyncIterator[ExportedTicket]:
        """Each once. Raises `SourceUnavailable` rather than ending early."""
        ...


class DeskTicketSource:
    def __init__(self, archive: TicketArchive) -> None:
        self._archive = archive

    async def list(self, known: Mapping[str, str], cursor: str | None) -> AsyncIterator[Listed]:
        async for ticket in self._archive.resolved():
            yield _item(ticket)

    async def close(self) -> None:
        pass


class TicketExportSource:
    def __init__(self, path: Path, *, statuses: Sequence[str] = (), max_bytes: int = 500_000_000) -> None:
        """`statuses` are those that mean resolved, besides the usual ones."""
        self._path = path
        self._statuses = frozenset(status.lower() for status in statuses)
        self._max_bytes = max_bytes

    async def list(self, known: Mapping[str, str], cursor: str | None) -> AsyncIterator[Listed]:
        export = TicketExport(self._path, self._statuses)
        try:
            await asyncio.to_thread(self._check_size)
            # Twice, since of a ticket that is there twice the later is meant.
            last = await asyncio.to_thread(export.count)
            yield SourceTotal(len(last.resolved))
            rows = export.last_rows(last)
            while batch := await asyncio.to_thread(_some, rows):
                for row in batch:
                    yield FailedItem(row.uri, row.reason) if isinstance(row, UnreadableTicket) else _item(row)
        except OSError as error:
            raise SourceUnavailable(f"The export cannot be read: {error.strerror}.") from error

    async def close(self) -> None:
        pass

    def _check_size(self) -> None:
        size = self._path.stat().st_size
        if size > self._max_bytes:
            raise SourceUnavailable(f"The export has {size // 1_000_000} MB, which is more than is read. Split it.")


@dataclass(frozen=True)
class _TicketDocument:
    uri: str
    title: str
    markdown: str
    link: str | None


def _item(ticket: ExportedTicket) -> SourceItem:
    markdown = as_document(ticket)
    uri = "".join(character if character.isprintable() else "_" for character in ticket.id)[:200]
    written = _TicketDocument(uri, ticket.subject or f"Ticket {uri}", markdown, ticket.link)
    return SourceItem(uri, sha256(markdown.encode("utf-8", "replace")).hexdigest()[:32], partial(_bring, written))


async def _bring(written: _TicketDocument) -> RawDocument:
    return as_markdown(written.uri, written.markdown, title=written.title, link=written.link)


def as_document(ticket: ExportedTicket) -> str:
    """Lines of the ticket that look like a heading are set in by a space, so that they are none of the document's."""
    subject = " ".join(ticket.subject.split()) or f"Ticket {ticket.id}"
    problem = "\n\n".join(_plain(message) for message in ticket.messages if message.strip())
    when = f"Resolved: {ticket.resolved_at.strip()}\n\n" if ticket.resolved_at and ticket.resolved_at.strip() else ""
    asked = f"## Problem\n\n{problem}\n\n" if problem else ""
    return f"# {subject}\n\n{when}{asked}## Resolution\n\n{_plain(ticket.resolution)}\n"


def _plain(words: str) -> str:
    lines = words.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    return "\n".join(f"\\{line}" if line.startswith("#") else line for line in lines)


def _some(rows: Iterator[ExportedTicket | UnreadableTicket]) -> Sequence[ExportedTicket | UnreadableTicket]:
    return [row for _, row in zip(range(_BATCH), rows, strict=False)]
