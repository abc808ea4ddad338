"""Verification: reads an export once, in constant memory, and reports what is wrong with it by name."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from itertools import groupby
from pathlib import Path

from gaby.audit.anchor_comparison import ANCHORS_RESTARTED_EVENT, AnchorComparison
from gaby.audit.crosslinks import CHECKPOINT_EVENT, CheckpointTally, CrossLinks
from gaby.audit.errors import Malformed
from gaby.audit.export import (
    CHECKPOINT_START,
    END_START,
    LOG_START,
    ROW_START,
    CheckpointLine,
    EndLine,
    ExportFooter,
    ExportHeader,
    LogLine,
)
from gaby.audit.findings import Finding, FindingKind, VerificationReport
from gaby.audit.key_pins import KeyPins
from gaby.audit.line_reader import in_blocks, parse, read_blocks, read_lines
from gaby.audit.log_verifier import LogVerifier
from gaby.audit.parallel_verify import first_bytes, is_worth_it, parallel_verification
from gaby.audit.rows import earlier
from gaby.audit.statements import Checkpoint, understand
from gaby.audit.trust import TrustedKeys
from gaby.audit.witness_comparison import WitnessComparison, WitnessedRoot
from gaby.kernel.errors import BadRequest
from gaby.kernel.ids import SYSTEM, WorkspaceId

_NAMES_TRIED = 1000
_SIGNED_WITHIN = timedelta(minutes=10)
"""Gaby signs every minute; older rows without a checkpoint are rows that nobody vouches for."""
_ANCHORED_WITHIN = timedelta(minutes=2)
"""Every process that signs keeps the newest checkpoint outside the database, at its next round at the latest."""
_CLOCKS_DIFFER = timedelta(minutes=5)
"""By how much the clocks of several machines may differ before a date counts as being in the future."""


@dataclass(frozen=True)
class VerificationTargets:
    """What a log is held against, besides itself."""

    trusted: str | None = None
    """The id or the public key (hex) of a key you know. Without it the log vouches for its own keys."""
    pins: KeyPins | None = None
    witnessed: Sequence[WitnessedRoot] = ()
    now: str | None = None
    """What time it is. Without it, the time at which the export says it was made."""


_NOTHING = VerificationTargets()


def verify_file(
    export: Path, *, anchors: Path | None = None, trusted: str | None = None, expected: VerificationTargets = _NOTHING
) -> VerificationReport:
    """Needs neither server, nor key file, nor database."""
    expected = replace(expected, trusted=trusted or expected.trusted)
    try:
        if is_worth_it(export):
            with parallel_verification(export, expected.trusted) as parallel_result:
                report = _verify_file(export, anchors, expected, rows_only=True)
                if report.ok and parallel_result.is_yes():
                    return report
        return _verify_file(export, anchors, expected)
    except OSError as error:
        raise BadRequest(f"{error.filename} cannot be read: {error.strerror}.") from error


def _verify_file(
    export: Path, anchors: Path | None, expected: VerificationTargets, *, rows_only: bool = False
) -> VerificationReport:
    with ExitStack() as files:
        verification = _Verification(
            None if anchors is None else read_lines(files.enter_context(anchors.open("rb"))),
            expected,
            rows_only=rows_only,
        )
        verification.read(read_blocks(files.enter_context(export.open("rb"))))
        return verification.finish()


def verify_lines(
    lines: Iterable[bytes],
    *,
    anchors: Iterable[bytes] | None = None,
    trusted: str | None = None,
    expected: VerificationTargets = _NOTHING,
) -> VerificationReport:
    verification = _Verification(anchors, replace(expected, trusted=trusted or expected.trusted))
    verification.read(in_blocks(lines))
    return verification.finish()


class _Verification:
    """With `rows_only`, the trees and signatures of workspaces are looked at elsewhere."""

    def __init__(
        self, anchors: Iterable[bytes] | None, expected: VerificationTargets, *, rows_only: bool = False
    ) -> None:
        self._rows_only = rows_only
        self._signed_until = ""
        self._latest = ""
        self._report = VerificationReport()
        self._anchor_lines = anchors
        self._expected = expected
        self._witnesses: WitnessComparison | None = None
        self._header: ExportHeader | None = None
        self._workspaces: list[str] = []
        self._header_digest = b""
        self._ring = TrustedKeys(())
        self._anchors: AnchorComparison | None = None
        self._links = CrossLinks()
        self._verifiers: dict[WorkspaceId, LogVerifier] = {}
        self._verifier: LogVerifier | None = None
        self._end: ExportFooter | None = None
        self._number = 0

    def read(self, blocks: Iterable[list[bytes]]) -> None:
        for block in blocks:
            for start, lines in groupby(block, key=first_bytes):
                if start == ROW_START:
                    self._rows(list(lines))
                else:
                    for line in lines:
                        self._line(line)

    def finish(self) -> VerificationReport:
        report = self._report
        if self._header is None:
            self._add_finding(FindingKind.TRUNCATED, "The export has no readable first line.")
            return report
        self._leave_log()
        self._check_end(self._end)
        self._check_logs(self._header)
        self._check_links()
        for verifier in self._verifiers.values():
            verifier.check_tail()
        if self._anchors is not None:
            self._anchors.finish(self._verifiers.get(SYSTEM))
        if self._witnesses is not None:
            self._witnesses.finish(self._verifiers.get(SYSTEM))
        return report

    def _rows(self, lines: list[bytes]) -> None:
        self._number += len(lines)
        if self._verifier is None:
            text = f"{len(lines)} rows up to line {self._number} belong to no log."
            self._add_finding(FindingKind.MALFORMED, text)
        elif self._verifier.is_system:
            for line in lines:
                self._system_row(self._verifier, line)
        else:
            self._verifier.rows(lines)

    def _line(self, line: bytes) -> None:
        self._number += 1
        try:
            self._other(line)
        except Malformed as error:
            where = self._verifier.workspace_id if self._verifier else None
            self._add_finding(FindingKind.MALFORMED, f"Line {self._number} cannot be read. {error.message}", where)

    def _system_row(self, verifier: LogVerifier, line: bytes) -> None:
        fields = verifier.row(line)
        if fields is None:
            return
        if fields["event"] == CHECKPOINT_EVENT:
            try:
                self._links.record(fields["payload"])
            except Malformed as error:
                self._add_finding(FindingKind.MALFORMED, f"Row {fields['seq']}: {error.message}", SYSTEM, fields["seq"])
        self._compare_outside(verifier)
        if self._anchors is not None and fields["event"] == ANCHORS_RESTARTED_EVENT:
            self._anchors.restarted()

    def _compare_outside(self, verifier: LogVerifier) -> None:
        """With what is kept outside the database, whenever the system's log is as long as that speaks of."""
        for outside in (self._anchors, self._witnesses):
            if outside is not None and verifier.next_seq >= outside.next_size >= 0:
                outside.compare(verifier)

    def _other(self, line: bytes) -> None:
        if not line.endswith(b"\n"):
            raise Malformed("It is too long, or the file was cut off in the middle of it.")
        if self._end is not None:
            raise Malformed("It stands behind the end of the export.")
        if self._header is None:
            self._begin(understand(ExportHeader, parse(line[:-1])))
            self._header_digest = sha256(line).digest()
        elif line.startswith(CHECKPOINT_START) and self._verifier is not None:
            self._checkpoint(self._verifier, understand(CheckpointLine, parse(line[:-1])).checkpoint)
        elif line.startswith(LOG_START):
            self._enter_log(understand(LogLine, parse(line[:-1])).log)
        elif line.startswith(END_START):
            self._end = understand(EndLine, parse(line[:-1])).end
            self._leave_log()
        else:
            raise Malformed("This is no line of an export.")

    def _begin(self, header: ExportHeader) -> None:
        self._header = header
        self._signed_until = earlier(header.created, _SIGNED_WITHIN)
        self._workspaces = [str(log.workspace_id) for log in header.logs[:_NAMES_TRIED]]
        self._ring = TrustedKeys(header.keys, trusted=self._expected.trusted)
        self._report.key_ids = [entry.key_id for entry in header.keys]
        pinned = self._expected.pins.problem(header.keys) if self._expected.pins is not None else None
        for problem in [*self._ring.problems, *([pinned] if pinned is not None else [])]:
            self._add_finding(FindingKind.KEY_UNKNOWN, problem)
        if self._anchor_lines is not None:
            anchored_until = earlier(header.created, _ANCHORED_WITHIN)
            self._anchors = AnchorComparison(
                self._anchor_lines, report=self._report, ring=self._ring, anchored_until=anchored_until
            )
        if self._expected.witnessed:
            self._witnesses = WitnessComparison(self._expected.witnessed, self._report)
        self._set_latest(header)

    def _set_latest(self, header: ExportHeader) -> None:
        now = self._expected.now or header.created
        self._latest = earlier(now, -_CLOCKS_DIFFER)
        if header.created > self._latest:
            text = f"The export says it was made at {header.created}, which is yet to come. Export again."
            self._add_finding(FindingKind.TIME_AHEAD, text)

    def _enter_log(self, workspace_id: WorkspaceId) -> None:
        self._leave_log()
        if workspace_id in self._verifiers:
            raise Malformed(f"The log of workspace {workspace_id} begins a second time.")
        self._verifier = LogVerifier(
            workspace_id,
            report=self._report,
            ring=self._ring,
            workspaces=self._workspaces,
            latest=self._latest,
            rows_only=self._rows_only and workspace_id != SYSTEM,
        )
        self._verifiers[workspace_id] = self._verifier
        if workspace_id == SYSTEM:
            self._compare_outside(self._verifier)

    def _leave_log(self) -> None:
        if self._verifier is not None:
            self._verifier.finish(self._signed_until)
            self._verifier = None

    def _checkpoint(self, verifier: LogVerifier, checkpoint: Checkpoint) -> None:
        self._report.checkpoints += 1
        if verifier.checkpoint(checkpoint):
            self._links.find(checkpoint)
            if self._anchors is not None and verifier.is_system:
                self._anchors.expect(checkpoint)

    def _check_end(self, end: ExportFooter | None) -> None:
        rows, checkpoints = self._report.rows, self._report.checkpoints
        if end is None:
            self._add_finding(FindingKind.TRUNCATED, "The export has no last line: it was cut off.")
            return
        if (end.rows, end.checkpoints) != (rows, checkpoints):
            said = f"{end.rows} rows and {end.checkpoints} checkpoints"
            self._add_finding(FindingKind.TRUNCATED, f"The last line says {said}; there are {rows} and {checkpoints}.")
        if end.header != self._header_digest:
            self._add_finding(FindingKind.MALFORMED, "The first line is not the one that the last line speaks of.")

    def _check_logs(self, header: ExportHeader) -> None:
        for log in header.logs:
            verifier = self._verifiers.get(log.workspace_id)
            if verifier is None:
                text = f"The log of workspace {log.workspace_id} with its {log.size} rows is missing."
                self._add_finding(FindingKind.WORKSPACE_MISSING, text, log.workspace_id)
            else:
                verifier.claim(log.size)

    def _check_links(self) -> None:
        system = self._verifiers.get(SYSTEM)
        if system is None:
            return
        for workspace_id, recorded in self._links.recorded.items():
            verifier = self._verifiers.get(workspace_id)
            if verifier is None:
                text = f"The system's log speaks of workspace {workspace_id}, which is not here."
                self._add_finding(FindingKind.WORKSPACE_MISSING, text, workspace_id)
            else:
                verifier.claim(recorded.size)
        for workspace_id, verifier in self._verifiers.items():
            if verifier is not system and verifier.checkpoints_sound and system.sound:
                self._compare(workspace_id)

    def _compare(self, workspace_id: WorkspaceId) -> None:
        tally = self._links.tallies.get(workspace_id, CheckpointTally())
        recorded = self._links.recorded.get(workspace_id, CheckpointTally())
        if tally.count < recorded.count:
            text = f"The system's log speaks of {recorded.count} checkpoints; {tally.count} are here."
            self._add_finding(FindingKind.CHECKPOINT_MISSING, text, workspace_id)
        elif tally.digest != recorded.digest:
            text = "The checkpoints are not those that the system's log speaks of."
            self._add_finding(FindingKind.CHECKPOINT_MISMATCH, text, workspace_id)

    def _add_finding(
        self, kind: FindingKind, text: str, workspace_id: WorkspaceId | None = None, seq: int | None = None
    ) -> None:
        self._report.add(Finding(kind, text, workspace_id, seq))
