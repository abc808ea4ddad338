"""The export: an audit log as JSON lines that can be verified with nothing else at hand."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, Field

from gaby.audit.canonical import canonical
from gaby.audit.rows import AuditRow
from gaby.audit.statements import Checkpoint, Digest, KeyEntry, Size, Timestamp, Workspace
from gaby.kernel.ids import SYSTEM, WorkspaceId

FORMAT = "gaby audit export v1"

ROW_START, ROW_MIDDLE, ROW_END = b'{"hash":"', b'","row":', b"}\n"
LOG_START, CHECKPOINT_START, END_START = b'{"log":', b'{"checkpoint":', b'{"end":'


class LogSize(BaseModel, frozen=True, extra="forbid", strict=True):
    workspace_id: Workspace
    size: Size


class ExportHeader(BaseModel, frozen=True, extra="forbid", strict=True):
    format: Literal["gaby audit export v1"] = FORMAT
    created: Timestamp
    logs: Annotated[list[LogSize], Field(max_length=50_000)]
    keys: Annotated[list[KeyEntry], Field(max_length=10_000)]


class ExportFooter(BaseModel, frozen=True, extra="forbid", strict=True):
    rows: Size
    checkpoints: Size
    header: Digest
    """Of the first line, which no key signs."""


class CheckpointLine(BaseModel, frozen=True, extra="forbid", strict=True):
    checkpoint: Checkpoint


class LogLine(BaseModel, frozen=True, extra="forbid", strict=True):
    log: Workspace


class EndLine(BaseModel, frozen=True, extra="forbid", strict=True):
    end: ExportFooter


class LogSource(Protocol):
    """Where an export comes from: one moment of the log."""

    def keys(self) -> list[KeyEntry]: ...

    def sizes(self) -> list[LogSize]:
        """Every log there is, also one of which only checkpoints are left."""
        ...

    def rows(self, workspace_id: WorkspaceId) -> Iterable[AuditRow]: ...

    def checkpoints(self, workspace_id: WorkspaceId) -> Iterable[Checkpoint]:
        """By size, then by time."""
        ...


def export_lines(source: LogSource, *, created: str, only: WorkspaceId | None = None) -> Iterator[bytes]:
    """The lines of an export, each with its line feed. `only` leaves out the other workspaces and the system's log."""
    sizes = [log for log in source.sizes() if only in {None, log.workspace_id}]
    # The system's log goes last: it speaks of the checkpoints of all the others.
    sizes.sort(key=lambda log: (log.workspace_id == SYSTEM, log.workspace_id))
    header = _line(ExportHeader(created=created, logs=sizes, keys=source.keys()))
    yield header
    rows = checkpoints = 0
    for log in sizes:
        yield LOG_START + canonical(log.workspace_id) + b"}\n"
        waiting = iter(source.checkpoints(log.workspace_id))
        checkpoint = next(waiting, None)
        for row in source.rows(log.workspace_id):
            while checkpoint is not None and checkpoint.size <= row.seq:
                yield checkpoint_line(checkpoint)
                checkpoints += 1
                checkpoint = next(waiting, None)
            yield row_line(row)
            rows += 1
        while checkpoint is not None:
            yield checkpoint_line(checkpoint)
            checkpoints += 1
            checkpoint = next(waiting, None)
    yield (
        b'{"end":'
        + _line(ExportFooter(rows=rows, checkpoints=checkpoints, header=sha256(header).digest()))[:-1]
        + b"}\n"
    )


def row_line(row: AuditRow) -> bytes:
    """The row's canonical bytes stand in the line as they were hashed."""
    return b"".join((ROW_START, row.hash.hex().encode(), ROW_MIDDLE, row.canonical(), ROW_END))


def checkpoint_line(checkpoint: Checkpoint) -> bytes:
    return CHECKPOINT_START + _line(checkpoint)[:-1] + b"}\n"


def _line(statement: BaseModel) -> bytes:
    return canonical(statement.model_dump(mode="json")) + b"\n"
