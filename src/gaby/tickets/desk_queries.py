"""Desks as they are stored: listed and found; and what is said of a new one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select

from gaby.kernel.database import ReadSession
from gaby.kernel.errors import NotFound
from gaby.tickets.canonical_ticket import Voucher
from gaby.tickets.models import Desk

USUAL_POLL = timedelta(minutes=1)


@dataclass(frozen=True)
class NewDesk:
    name: str
    kind: str
    values: Mapping[str, Any]
    """Its settings, secret ones too."""
    every: timedelta | None = USUAL_POLL
    vouched_by: Voucher | None = None
    """Who is believed about requesters. Left out: whom the kind of desk usually has."""


class DeskQueries:
    """Apart from the desks' adapters, whose code takes longer to load than most commands take."""

    async def list(self, session: ReadSession) -> Sequence[Desk]:
        query = select(Desk).where(Desk.workspace_id == session.workspace_id).order_by(Desk.name)
        return (await session.scalars(query)).all()

    async def find(self, session: ReadSession, name: str) -> Desk | None:
        query = select(Desk).where(Desk.workspace_id == session.workspace_id, Desk.name == name)
        return (await session.scalars(query)).one_or_none()

    async def named(self, session: ReadSession, name: str) -> Desk:
        if (found := await self.find(session, name)) is None:
            raise NotFound(f"There is no desk {name[:60]!r}. `gaby desk list` shows them.")
        return found

    async def get(self, session: ReadSession, desk_id: UUID) -> Desk:
        found = await session.get(Desk, (session.workspace_id, desk_id))
        if found is None:
            raise NotFound("There is no such desk. `gaby desk list` shows them.")
        return found
