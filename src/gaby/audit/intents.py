"""Intents: the written word that something is about to be done, without which nothing may be done."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, final

from gaby.audit.errors import IntentClosed
from gaby.kernel.ids import AuditRowId, WorkspaceId


class IntentOutcome(StrEnum):
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """Nobody can say: the code did not, or was stopped in the middle. A person has to look."""


_MAKER = object()


@final
class Intent:
    """Proof that an effect is in the log before it happens. A function with effects demands one as a parameter."""

    def __init__(self, maker: object, row_id: AuditRowId, workspace_id: WorkspaceId, event: str) -> None:
        if maker is not _MAKER:
            raise TypeError("An Intent comes only from `async with audit.effect(...)`.")
        self.id = row_id
        self.workspace_id = workspace_id
        self.event = event
        self._said: tuple[IntentOutcome, Mapping[str, Any]] | None = None

    def succeeded(self, detail: Mapping[str, Any] | None = None) -> None:
        self._say(IntentOutcome.SUCCEEDED, detail)

    def failed(self, detail: Mapping[str, Any] | None = None) -> None:
        self._say(IntentOutcome.FAILED, detail)

    def outcome(
        self, otherwise: IntentOutcome, detail: Mapping[str, Any] | None = None
    ) -> tuple[IntentOutcome, Mapping[str, Any]]:
        """What was said, or `otherwise`. Nothing can be said after this."""
        said = self._said or (otherwise, detail or {})
        self._said = said
        return said

    def _say(self, outcome: IntentOutcome, detail: Mapping[str, Any] | None) -> None:
        if self._said is not None:
            raise IntentClosed
        self._said = (outcome, detail or {})


@dataclass(frozen=True)
class PendingIntent:
    """An effect that began and whose outcome is not in the log: it runs at this moment, or its process died."""

    id: AuditRowId
    workspace_id: WorkspaceId
    seq: int
    ts: str
    event: str
    payload: Mapping[str, Any]


def make_intent(row_id: AuditRowId, workspace_id: WorkspaceId, event: str) -> Intent:
    """For the audit log alone; the package does not offer it to others."""
    return Intent(_MAKER, row_id, workspace_id, event)
