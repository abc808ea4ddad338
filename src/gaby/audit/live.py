"""Verification of the running database: the same walk as over an export, and an alarm when something is wrong."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from gaby.audit.export import export_lines
from gaby.audit.findings import Report
from gaby.audit.reading import read_lines
from gaby.audit.rows import timestamp
from gaby.audit.source import snapshot
from gaby.audit.verify import verify_lines
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.ids import WorkspaceId
from gaby.kernel.log import get_log
from gaby.kernel.metrics import Metrics

_log = get_log(__name__)
_SHOWN = 20


async def verify_live(
    db: Database,
    clock: Clock,
    *,
    anchors: Path | None = None,
    trusted: str | None = None,
    metrics: Metrics | None = None,
) -> Report:
    """Walk the whole log. Findings are logged as errors and the gauge `audit_verified` falls to 0."""
    report = await asyncio.to_thread(_walk, db, clock, anchors, trusted)
    if metrics is not None:
        metrics.audit_verified.set(1 if report.ok else 0)
    for finding in report.findings[:_SHOWN]:
        _log.error("audit.damaged", **finding.as_dict())
    _log.info("audit.verified", ok=report.ok, rows=report.rows, findings=report.finding_count)
    return report


def export_to(path: Path, db: Database, clock: Clock, *, only: WorkspaceId | None = None) -> None:
    """Write an export to a new file. Synchronous: call it in a thread, or from the command line."""
    with path.open("xb") as file, snapshot(db) as source:
        file.writelines(export_lines(source, created=timestamp(clock.now()), only=only))


def _walk(db: Database, clock: Clock, anchors: Path | None, trusted: str | None) -> Report:
    # The anchors are read first: what is anchored meanwhile would look like rows that are missing.
    kept = None if anchors is None else _lines_now(anchors)
    with snapshot(db) as source:
        return verify_lines(export_lines(source, created=timestamp(clock.now())), anchors=kept, trusted=trusted)


def _lines_now(path: Path) -> Iterator[bytes]:
    """The lines that the file has at this moment. A file that is not there has none."""
    size = path.stat().st_size if path.exists() else 0
    return _lines_up_to(path, size)


def _lines_up_to(path: Path, size: int) -> Iterator[bytes]:
    if not size:
        return
    read = 0
    with path.open("rb") as file:
        for line in read_lines(file):
            read += len(line)
            if read > size:
                return
            yield line
