"""Tickets that were resolved, and what the tests do with them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import select

from gaby.audit.models import AuditRowRecord
from gaby.knowledge.learning.gate import GateResult, Resolution
from gaby.knowledge.models import KnowledgeCandidate
from tests.knowledge.scenes import KnowledgeScene

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)

SCANNER = Resolution(
    origin="ticket inbox-17, run 1",
    title="The scanner of the warehouse beeps twice",
    problem="The handheld scanner beeps twice and reads nothing since the firmware was updated.",
    resolution="Hold the trigger for ten seconds until the scanner restarts, then pair it with the dock again.",
    verdict="auto_resolved",
    resolved_at=NOW - timedelta(days=1),
    trace=("devices.find serial SC-2210: firmware 7.1",),
    rating=5,
)
INVOICE = replace(
    SCANNER,
    origin="ticket inbox-30, run 2",
    title="Invoices arrive without the purchase order",
    problem="The customer's bookkeeping refuses invoices since they lack the number of the purchase order.",
    resolution="Turn on `show order reference` in the settings of the contract; the next invoice has it.",
    trace=(),
)


async def staged(
    docs: KnowledgeScene, resolution: Resolution = SCANNER
) -> tuple[GateResult, KnowledgeCandidate | None]:
    async with docs.gaby.database.write(docs.workspace_id) as session:
        return await docs.components.candidates.stage(session, docs.actor, resolution)


async def candidate(docs: KnowledgeScene, resolution: Resolution = SCANNER) -> KnowledgeCandidate:
    _, row = await staged(docs, resolution)
    assert row is not None
    return row


async def listed(docs: KnowledgeScene, state: str | None = "staged") -> Sequence[KnowledgeCandidate]:
    async with docs.gaby.database.read(docs.workspace_id) as session:
        return await docs.components.candidates.list(session, state)


async def accept(docs: KnowledgeScene, candidate_id: UUID, **edited: str) -> KnowledgeCandidate:
    async with docs.gaby.database.write(docs.workspace_id) as session:
        row = await docs.components.candidates.get(session, candidate_id)
        return await docs.components.candidates.accept(session, docs.actor, row, **edited)


async def reject(docs: KnowledgeScene, candidate_id: UUID, reason: str = "Only once.") -> KnowledgeCandidate:
    async with docs.gaby.database.write(docs.workspace_id) as session:
        row = await docs.components.candidates.get(session, candidate_id)
        return await docs.components.candidates.reject(session, docs.actor, row, reason)


async def unlearn(docs: KnowledgeScene, candidate_id: UUID, reason: str = "It was wrong.") -> KnowledgeCandidate:
    async with docs.gaby.database.write(docs.workspace_id) as session:
        row = await docs.components.candidates.get(session, candidate_id)
        return await docs.components.candidates.unlearn(session, docs.actor, row, reason)


async def audited(docs: KnowledgeScene, begins: str = "knowledge.candidate_") -> list[tuple[str, dict[str, Any]]]:
    """Events of the workspace's log, in order."""
    query = select(AuditRowRecord).where(AuditRowRecord.workspace_id == docs.workspace_id).order_by(AuditRowRecord.seq)
    async with docs.gaby.database.read(docs.workspace_id) as session:
        rows = [(row.event, orjson.loads(row.payload)) for row in await session.scalars(query)]
    return [(event.removeprefix(begins), payload) for event, payload in rows if event.startswith(begins)]
