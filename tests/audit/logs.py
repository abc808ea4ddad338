"""A whole audit log in memory, and ways to tamper with its export."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from gaby.audit.anchors import anchor_line
from gaby.audit.canonical import canonical_payload
from gaby.audit.crosslinks import CHECKPOINT_EVENT, checkpoint_payload
from gaby.audit.export import LogSize, export_lines
from gaby.audit.findings import FindingKind, VerificationReport
from gaby.audit.merkle import Accumulator
from gaby.audit.rows import AuditRow, LogHead, RowDraft, chain, timestamp
from gaby.audit.signing_key import SigningKey
from gaby.audit.statements import Anchor, Checkpoint, KeyEntry, sign_checkpoint, sign_rotation
from gaby.audit.verify import verify_lines
from gaby.kernel.ids import SYSTEM, IdFactory, WorkspaceId

ACME = WorkspaceId(UUID(int=0xACE))
BYTE = WorkspaceId(UUID(int=0xB17E))
COPA = WorkspaceId(UUID(int=0xC0BA))
START = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)


class MemoryLog:
    """Rows, checkpoints and keys as the database would hold them. Is a `LogSource`."""

    def __init__(self) -> None:
        self.key = SigningKey.generate()
        self.entries = [KeyEntry(public_key=self.key.public_key)]
        self.by_workspace: dict[WorkspaceId, list[AuditRow]] = {}
        self.signed: dict[WorkspaceId, list[Checkpoint]] = {}
        self.anchors: list[bytes] = []
        self.now = START
        self._heads: dict[WorkspaceId, LogHead] = {}
        self._trees: dict[WorkspaceId, Accumulator] = {}
        self._ids = IdFactory()

    def append(self, workspace_id: WorkspaceId, event: str = "tool.call", payload: str = '{"tool":"crm"}') -> AuditRow:
        self.now += timedelta(milliseconds=1)
        self._heads.setdefault(workspace_id, LogHead())
        draft = RowDraft(workspace_id, "agent", "planner", event, payload)
        (row,) = chain([draft], self._heads, now=timestamp(self.now), first_id=self._ids.new())
        self.by_workspace.setdefault(workspace_id, []).append(row)
        self._trees.setdefault(workspace_id, Accumulator()).append(row.hash)
        return row

    def checkpoint(self, workspace_id: WorkspaceId) -> Checkpoint:
        tree = self._trees.setdefault(workspace_id, Accumulator())
        checkpoint = sign_checkpoint(self.key, workspace_id, tree.size, tree.root(), timestamp(self.now))
        self.signed.setdefault(workspace_id, []).append(checkpoint)
        if workspace_id == SYSTEM:
            self.anchors.append(anchor_line(Anchor(checkpoint=checkpoint, public_key=self.key.public_key)))
        else:
            self.append(SYSTEM, CHECKPOINT_EVENT, canonical_payload(checkpoint_payload(checkpoint)))
        return checkpoint

    def checkpoint_all(self) -> None:
        for workspace_id in [each for each in self.by_workspace if each != SYSTEM]:
            if len(self.by_workspace[workspace_id]) > max([c.size for c in self.signed.get(workspace_id, [])] or [0]):
                self.checkpoint(workspace_id)
        self.checkpoint(SYSTEM)

    def rotate(self) -> None:
        new = SigningKey.generate()
        rotation = sign_rotation(self.key, new, timestamp(self.now))
        self.entries.append(KeyEntry(public_key=new.public_key, rotation=rotation))
        self.key = new

    def keys(self) -> list[KeyEntry]:
        return self.entries

    def sizes(self) -> list[LogSize]:
        return [LogSize(workspace_id=each, size=len(rows)) for each, rows in self.by_workspace.items()]

    def rows(self, workspace_id: WorkspaceId) -> list[AuditRow]:
        return self.by_workspace[workspace_id]

    def checkpoints(self, workspace_id: WorkspaceId) -> list[Checkpoint]:
        return self.signed.get(workspace_id, [])

    def export(self, only: WorkspaceId | None = None) -> list[bytes]:
        return list(export_lines(self, created=timestamp(self.now), only=only))


def busy_log(rows: int = 1000) -> MemoryLog:
    """A thousand rows over three workspaces, with checkpoints and anchors on the way."""
    log = MemoryLog()
    for number in range(rows):
        log.append((ACME, BYTE, COPA)[number % 7 % 3], payload=f'{{"n":{number},"text":"naïve \\"quote\\""}}')
        if number % 150 == 149:
            log.checkpoint_all()
    log.checkpoint_all()
    return log


def row_line_at(lines: list[bytes], workspace_id: WorkspaceId, seq: int) -> int:
    """Which line of the export holds the row."""
    start = lines.index(b'{"log":"%b"}\n' % str(workspace_id).encode())
    wanted = b'"seq":%d,' % seq
    return next(at for at in range(start, len(lines)) if lines[at].startswith(b'{"hash"') and wanted in lines[at])


def report_of(
    lines: Iterable[bytes], *, anchors: Iterable[bytes] | None = None, trusted: str | None = None
) -> VerificationReport:
    return verify_lines(lines, anchors=anchors, trusted=trusted)


def names(report: VerificationReport) -> set[str]:
    return {finding.kind.value for finding in report.findings}


def places_of(report: VerificationReport, kind: FindingKind) -> set[tuple[WorkspaceId | None, int | None]]:
    return {(finding.workspace_id, finding.seq) for finding in report.findings if finding.kind is kind}
