"""Compares the system's log with the checkpoints of it that were kept outside the database."""

from collections.abc import Iterable, Iterator

from gaby.audit.errors import Malformed
from gaby.audit.findings import Finding, FindingKind, VerificationReport
from gaby.audit.line_reader import parse
from gaby.audit.log_verifier import LogVerifier
from gaby.audit.statements import Anchor, Checkpoint, understand
from gaby.audit.trust import TrustedKeys
from gaby.kernel.ids import SYSTEM

ANCHORS_RESTARTED_EVENT = "audit.anchors_restarted"


class AnchorComparison:
    """Anchors are in the order they were made, so one pass over both files is enough.

    An anchor covers all rows before it, so one that is missing in the middle takes nothing away. What counts is where
    the anchors begin, since a file that was put in the place of another begins late, and how far they reach.
    """

    def __init__(
        self, lines: Iterable[bytes], *, report: VerificationReport, ring: TrustedKeys, anchored_until: str = ""
    ) -> None:
        self._report = report
        self._ring = ring
        self._anchored_until = anchored_until
        self._term = 0
        self._begin: int | None = None
        self._reach = -1
        self._may_begin: set[int] = set()
        self._is_restarting = True
        self._expected_reach = -1
        self._anchors = self._read(lines)
        self._waiting = next(self._anchors, None)
        self.next_size = -1
        self._advance_size()

    def compare(self, verifier: LogVerifier) -> None:
        """Call whenever the system's log has `next_size` rows."""
        while self._waiting is not None and self._waiting.size <= verifier.next_seq:
            anchor = self._waiting
            if anchor.size < verifier.next_seq:
                self._add_finding(FindingKind.ROLLED_BACK, f"The anchors go back to size {anchor.size} at {anchor.ts}.")
            elif verifier.sound and verifier.root() != anchor.root:
                text = f"The first {anchor.size} rows are not those that were anchored at {anchor.ts}."
                self._add_finding(FindingKind.ANCHOR_MISMATCH, text)
            self._waiting = next(self._anchors, None)
        self._advance_size()

    def restarted(self) -> None:
        """The log says that the anchors begin anew: the next checkpoint may be their first."""
        self._is_restarting = True

    def expect(self, checkpoint: Checkpoint) -> None:
        """A checkpoint of the system's log, each of which is anchored."""
        if self._is_restarting:
            self._may_begin.add(checkpoint.size)
            self._is_restarting = False
        if checkpoint.ts <= self._anchored_until:
            self._expected_reach = max(self._expected_reach, checkpoint.size)

    def finish(self, verifier: LogVerifier | None) -> None:
        """What is left speaks of rows that are not there."""
        furthest = self._waiting
        for anchor in self._anchors:
            if furthest is None or anchor.size >= furthest.size:
                furthest = anchor
        self._waiting, self.next_size = None, -1
        if verifier is None:
            if self._report.anchors:
                text = "The export has no system log, so its anchors say nothing. Export all workspaces together."
                self._add_finding(FindingKind.ANCHOR_UNCHECKED, text)
        elif furthest is not None:
            text = (
                f"The system's log ends after {verifier.next_seq} rows, but had {furthest.size} at {furthest.ts}: "
                "its end was cut off or an old backup stands in its place."
            )
            self._add_finding(FindingKind.ROLLED_BACK, text)
        if verifier is not None:
            self._check_extent()

    def _check_extent(self) -> None:
        advice = (
            "Put the file back from where you keep copies. If it is lost for a reason that you know, "
            "`gaby audit restart-anchors` records the reason and begins a new one."
        )
        if not self._may_begin:
            return
        if self._begin is None:
            text = f"No checkpoint is anchored, though the log has some: the anchors are missing. {advice}"
        elif self._begin > min(self._may_begin) and self._begin not in self._may_begin:
            text = (
                f"The anchors begin at size {self._begin}, but checkpoints were signed before: the file was cut, or "
                f"another stands in its place. {advice}"
            )
        elif self._reach < self._expected_reach:
            text = (
                f"The anchors end at size {self._reach}, but size {self._expected_reach} was signed: the file was cut, "
                f"or it cannot be written. {advice}"
            )
        else:
            return
        self._add_finding(FindingKind.ANCHORS_MISSING, text)

    def _read(self, lines: Iterable[bytes]) -> Iterator[Checkpoint]:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                # Still being written, or torn by a crash: it was never acknowledged.
                continue
            try:
                anchor = understand(Anchor, parse(line[:-1]))
            except Malformed as error:
                self._add_finding(FindingKind.MALFORMED, f"Line {number} of the anchors: {error.message}")
                continue
            self._report.anchors += 1
            if self._is_good(anchor, number):
                size = anchor.checkpoint.size
                self._begin = size if self._begin is None else self._begin
                self._reach = max(self._reach, size)
                yield anchor.checkpoint

    def _is_good(self, anchor: Anchor, number: int) -> bool:
        checkpoint = anchor.checkpoint
        problem = self._ring.problem(checkpoint, since_term=self._term)
        if problem is None and self._ring.public_key(checkpoint.key_id) != anchor.public_key:
            problem = FindingKind.KEY_UNKNOWN, "is signed by a key that the log does not know."
        if problem is None and checkpoint.workspace_id != SYSTEM:
            problem = FindingKind.CHECKPOINT_FORGED, "is not of the system's log."
        if problem is not None:
            self._add_finding(problem[0], f"The anchor in line {number} {problem[1]}")
            return False
        self._term = self._ring.term(checkpoint.key_id)
        return True

    def _advance_size(self) -> None:
        self.next_size = -1 if self._waiting is None else self._waiting.size

    def _add_finding(self, kind: FindingKind, text: str) -> None:
        self._report.add(Finding(kind, text, SYSTEM))
