"""Ids: uuid7, one type per thing, so that the checker refuses a person's id where a workspace's is meant."""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NewType
from uuid import UUID

from gaby.kernel.clock import Clock, SystemClock

WorkspaceId = NewType("WorkspaceId", UUID)
PersonId = NewType("PersonId", UUID)
GroupId = NewType("GroupId", UUID)
SessionId = NewType("SessionId", UUID)
ApiKeyId = NewType("ApiKeyId", UUID)
AuditRowId = NewType("AuditRowId", UUID)
ConnectorId = NewType("ConnectorId", UUID)
ApprovalId = NewType("ApprovalId", UUID)
RunId = NewType("RunId", UUID)
ModelAccountId = NewType("ModelAccountId", UUID)
ModelCallId = NewType("ModelCallId", UUID)
SourceId = NewType("SourceId", UUID)
DocumentId = NewType("DocumentId", UUID)
CandidateId = NewType("CandidateId", UUID)
GapId = NewType("GapId", UUID)
DeskId = NewType("DeskId", UUID)
TicketId = NewType("TicketId", UUID)

SYSTEM = WorkspaceId(UUID(int=0))
"""Where things live that belong to the installation and not to one workspace."""

Random = Callable[[int], bytes]
"""Gives so many unpredictable bytes."""


def created_before(id_: UUID) -> datetime:
    """The end of the millisecond in which an id was made."""
    return datetime.fromtimestamp(((id_.int >> 80) + 1) / 1000, UTC)


class IdFactory:
    """Makes uuid7 ids (RFC 9562) that sort by creation, also within one millisecond of one process."""

    def __init__(self, clock: Clock | None = None, random: Random = secrets.token_bytes) -> None:
        self._clock = clock or SystemClock()
        self._random = random
        self._last = 0

    def new(self) -> UUID:
        micros = int(self._clock.now().timestamp() * 1_000_000)
        millis, rest = divmod(micros, 1000)
        # 12 bits of sub-millisecond time, as RFC 9562 section 6.2 method 3 allows, then a step if two fall together.
        stamp = max(millis << 12 | rest * 4096 // 1000, self._last + 1)
        self._last = stamp
        tail = int.from_bytes(self._random(8), "big") & ((1 << 62) - 1)
        return UUID(int=(stamp >> 12) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64 | 0b10 << 62 | tail)
