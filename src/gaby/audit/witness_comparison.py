"""Compares the system's log with what witnesses have seen of it."""

from collections.abc import Sequence
from typing import NamedTuple

from gaby.audit.findings import Finding, FindingKind, VerificationReport
from gaby.audit.log_verifier import LogVerifier
from gaby.kernel.ids import SYSTEM


class WitnessedRoot(NamedTuple):
    """A witness says that the log had this root at this size."""

    size: int
    root: bytes
    witness: str
    time: int
    """When the witness signed, in seconds since 1970."""


class WitnessComparison:
    """One pass over the system's log, since what was witnessed is put in order first."""

    def __init__(self, witnessed: Sequence[WitnessedRoot], report: VerificationReport) -> None:
        self._waiting = sorted(witnessed, reverse=True)
        self._report = report
        self._mismatched: set[str] = set()

    @property
    def next_size(self) -> int:
        return self._waiting[-1].size if self._waiting else -1

    def compare(self, verifier: LogVerifier) -> None:
        """Call whenever the system's log has `next_size` rows."""
        while self._waiting and self._waiting[-1].size <= verifier.next_seq:
            seen = self._waiting.pop()
            if seen.size == verifier.next_seq and verifier.sound:
                self._compare(verifier, seen)

    def finish(self, verifier: LogVerifier | None) -> None:
        if verifier is None:
            text = "The export has no system log, so witnesses say nothing of it. Export all workspaces together."
            self._add_finding(FindingKind.WITNESS_UNCHECKED, text)
        elif self._waiting:
            furthest = self._waiting[0]
            self._report.agreeing.difference_update(each.witness for each in self._waiting)
            text = (
                f"The system's log ends after {verifier.next_seq} rows, but witness {furthest.witness} saw "
                f"{furthest.size}: its end was cut off or an old backup stands in its place, anchors included."
            )
            self._add_finding(FindingKind.ROLLED_BACK, text)

    def _compare(self, verifier: LogVerifier, seen: WitnessedRoot) -> None:
        if verifier.root() != seen.root:
            self._mismatch(seen)
        elif seen.witness not in self._mismatched:
            self._report.agreeing.add(seen.witness)

    def _mismatch(self, seen: WitnessedRoot) -> None:
        self._report.agreeing.discard(seen.witness)
        if seen.witness not in self._mismatched:
            self._mismatched.add(seen.witness)
            text = (
                f"The first {seen.size} rows are not those that witness {seen.witness} saw: the log was rewritten, or "
                "somebody was shown another one. Keep both, and compare them."
            )
            self._add_finding(FindingKind.WITNESS_MISMATCH, text)

    def _add_finding(self, kind: FindingKind, text: str) -> None:
        self._report.add(Finding(kind, text, SYSTEM))
