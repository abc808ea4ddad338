"""What a verification found, each thing by its name."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gaby.kernel.ids import WorkspaceId

MAX_FINDINGS = 1000


class FindingKind(StrEnum):
    ROW_ALTERED = "row_altered"
    ROW_MISSING = "row_missing"
    ROW_REORDERED = "row_reordered"
    ROW_DUPLICATED = "row_duplicated"
    ROW_MOVED = "row_moved"
    TIME_REVERSED = "time_reversed"
    TIME_AHEAD = "time_ahead"
    TAIL_MISSING = "tail_missing"
    WORKSPACE_MISSING = "workspace_missing"
    CHECKPOINT_FORGED = "checkpoint_forged"
    CHECKPOINT_MISMATCH = "checkpoint_mismatch"
    CHECKPOINT_MISSING = "checkpoint_missing"
    ROLLED_BACK = "rolled_back"
    ANCHOR_MISMATCH = "anchor_mismatch"
    ANCHOR_UNCHECKED = "anchor_unchecked"
    ANCHORS_MISSING = "anchors_missing"
    KEY_UNKNOWN = "key_unknown"
    KEY_UNPINNED = "key_unpinned"
    TREE_DAMAGED = "tree_damaged"
    INTENT_MISSING = "intent_missing"
    INTENT_UNKNOWN = "intent_unknown"
    WITNESS_MISMATCH = "witness_mismatch"
    WITNESS_UNCHECKED = "witness_unchecked"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Finding:
    kind: FindingKind
    text: str
    workspace_id: WorkspaceId | None = None
    seq: int | None = None

    def as_dict(self) -> dict[str, Any]:
        workspace = None if self.workspace_id is None else str(self.workspace_id)
        return {"kind": self.kind.value, "workspace": workspace, "seq": self.seq, "text": self.text}


@dataclass(slots=True)
class VerificationReport:
    """The result of a verification. Only the first thousand findings are kept; all are counted."""

    findings: list[Finding] = field(default_factory=list[Finding])
    finding_count: int = 0
    rows: int = 0
    checkpoints: int = 0
    anchors: int = 0
    unsigned_rows: int = 0
    """Rows after their workspace's last good checkpoint: chained, but not yet signed."""
    key_ids: list[str] = field(default_factory=list[str])
    """The keys that signed. Compare them with the one you wrote down, or pass it as the trusted key."""
    agreeing: set[str] = field(default_factory=set[str])
    """Witnesses that saw a root which the log has at that size, and no other."""
    not_asked: list[str] = field(default_factory=list[str])
    """Why witnesses could not be asked. That says nothing about the log, so it is no finding."""

    @property
    def ok(self) -> bool:
        return self.finding_count == 0

    def add(self, finding: Finding) -> None:
        self.finding_count += 1
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)

    def kinds(self) -> set[FindingKind]:
        return {finding.kind for finding in self.findings}

    def as_dict(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "rows": self.rows,
            "checkpoints": self.checkpoints,
            "anchors": self.anchors,
            "unsigned_rows": self.unsigned_rows,
            "keys": self.key_ids,
            "witnesses_agree": sorted(self.agreeing),
            "witnesses_not_asked": self.not_asked,
            "finding_count": self.finding_count,
            "findings": [finding.as_dict() for finding in self.findings],
        }
