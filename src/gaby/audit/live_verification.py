"""Verification of the running database: the same checks as of an export, and an alarm when something is wrong."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gaby.audit.cosignatures import CosignatureFile, read_cosignatures
from gaby.audit.derived_checks import check_derived
from gaby.audit.errors import Malformed
from gaby.audit.export import export_lines
from gaby.audit.findings import Finding, FindingKind, VerificationReport
from gaby.audit.key_pins import KeyPins, PinFile
from gaby.audit.line_reader import read_lines
from gaby.audit.notes import VerifierKey
from gaby.audit.rows import timestamp
from gaby.audit.source import snapshot
from gaby.audit.verify import VerificationTargets, verify_lines
from gaby.audit.witness_comparison import WitnessedRoot
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.kernel.log import get_log
from gaby.kernel.metrics import Metrics

_log = get_log(__name__)
_SHOWN = 20


@dataclass(frozen=True)
class ExternalEvidence:
    """What is kept outside the database, besides the anchors."""

    pins: PinFile | None = None
    given_pins: KeyPins | None = None
    """Instead of those in the file."""
    cosignatures: CosignatureFile | None = None
    witnesses: Sequence[VerifierKey] = ()
    """Whose cosignatures count."""
    witnessed: Sequence[WitnessedRoot] = ()
    """What witnesses answered just now."""


async def verify_live(
    db: Database,
    clock: Clock,
    *,
    anchors: Path | None = None,
    trusted: str | None = None,
    metrics: Metrics | None = None,
    outside: ExternalEvidence | None = None,
) -> VerificationReport:
    """Verify the whole log. Findings are logged as errors and the gauge `audit_verified` falls to 0."""
    report = await asyncio.to_thread(_verify_snapshot, db, clock, anchors, trusted, outside or ExternalEvidence())
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


def _verify_snapshot(
    db: Database, clock: Clock, anchors: Path | None, trusted: str | None, outside: ExternalEvidence
) -> VerificationReport:
    # The anchors are read first: what is anchored meanwhile would look like rows that are missing.
    kept = None if anchors is None else _lines_now(anchors)
    now = timestamp(clock.now())
    outside_findings = VerificationReport()
    witnessed = list(outside.witnessed)
    if outside.cosignatures is not None:
        witnessed += read_cosignatures(outside.cosignatures.lines(), outside.witnesses, outside_findings)
    pins = outside.given_pins
    if pins is None and outside.pins is not None:
        pins = _load_pins(outside.pins, outside_findings)
    with snapshot(db) as source:
        expected = VerificationTargets(trusted=trusted, pins=pins, witnessed=witnessed, now=now)
        report = verify_lines(export_lines(source, created=now), anchors=kept, expected=expected)
        check_derived(source, report)
        keys, is_signed = source.keys(), source.last_checkpoint(SYSTEM) is not None
    for finding in outside_findings.findings:
        report.add(finding)
    if outside.pins is not None and is_signed and not outside.pins.path.exists():
        text = (
            f"No key is pinned: {outside.pins.path} is missing. Compare the ids of the keys below with the one that "
            "you wrote down, then run `gaby audit trust ID`; if it is another, the log was signed anew."
        )
        report.add(Finding(FindingKind.KEY_UNPINNED, text))
    if outside.pins is not None and report.ok:
        outside.pins.follow(keys)
    return report


def _load_pins(file: PinFile, report: VerificationReport) -> KeyPins | None:
    try:
        return file.load()
    except Malformed as error:
        report.add(Finding(FindingKind.MALFORMED, f"{file.path}: {error.message}"))
        return None


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
