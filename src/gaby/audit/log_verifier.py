"""Verifies one workspace's log from its first row to its last and names everything that is wrong with it."""

from hashlib import sha256
from typing import Any

from gaby.audit.errors import Malformed
from gaby.audit.export import ROW_END, ROW_MIDDLE, ROW_START
from gaby.audit.findings import Finding, FindingKind, VerificationReport
from gaby.audit.gaps import SequenceGaps
from gaby.audit.merkle import Accumulator
from gaby.audit.row_batches import good_run, time_of
from gaby.audit.rows import FIRST_PREV_HASH, read_row, row_hash
from gaby.audit.statements import Checkpoint
from gaby.audit.trust import TrustedKeys
from gaby.kernel.ids import SYSTEM, WorkspaceId

_AROUND = ROW_START + ROW_MIDDLE + ROW_END


class LogVerifier:
    """With `rows_only`, somebody else looks at the tree and the signatures."""

    def __init__(
        self,
        workspace_id: WorkspaceId,
        *,
        report: VerificationReport,
        ring: TrustedKeys,
        workspaces: list[str],
        latest: str,
        rows_only: bool = False,
    ) -> None:
        self._rows_only = rows_only
        self._latest = latest
        self._first_late: tuple[int, str] | None = None
        self.workspace_id = workspace_id
        self.next_seq = 0
        self.sound = True
        """False once the rows read can no longer have the right Merkle root; comparing would only echo the finding."""
        self.checkpoints_sound = True
        self.is_system = workspace_id == SYSTEM
        self._text = str(workspace_id)
        self._workspaces = workspaces
        self._report = report
        self._ring = ring
        self._tree = Accumulator()
        self._last: bytes | None = FIRST_PREV_HASH
        self._last_ts = ""
        self._gaps = SequenceGaps()
        self._unreadable = 0
        self._claimed = 0
        self._signed = 0
        self._ahead: int | None = None
        self._unsigned_since: str | None = None
        self._term = 0

    def rows(self, lines: list[bytes]) -> None:
        """Takes many rows' lines at once, for speed."""
        run = None
        if self.sound and self._last is not None:
            run = good_run(
                lines, workspace=self._text.encode(), seq=self.next_seq, last=self._last, last_ts=self._last_ts.encode()
            )
        if run is None:
            for line in lines:
                self.row(line)
            return
        digests, first_ts, last_ts = run
        if last_ts.decode() > self._latest:
            for offset, line in enumerate(lines):
                self._check_date(self.next_seq + offset, time_of(line))
        self._report.rows += len(lines)
        self._unsigned_since = self._unsigned_since or first_ts.decode()
        if not self._rows_only:
            self._tree.extend(digests)
        self.next_seq += len(digests)
        self._last, self._last_ts = digests[-1], last_ts.decode()

    def row(self, line: bytes) -> dict[str, Any] | None:
        """Takes a row's line; gives its fields when it stands where it belongs."""
        self._report.rows += 1
        raw = line[81:-2]
        if line[:9] + line[73:81] + line[-2:] != _AROUND:
            self._altered("Its line cannot be read.")
            return None
        try:
            fields = read_row(raw)
        except Malformed as error:
            self._unreadable_row(line, raw, error)
            return None
        prev = bytes.fromhex(fields["prev_hash"])
        digest = row_hash(prev, raw)
        if digest.hex().encode() != line[9:73]:
            self._wrong_hash(line, raw, prev)
        elif fields["workspace_id"] != self._text:
            text = f"This row belongs to workspace {fields['workspace_id']}, where it is row {fields['seq']}."
            self._add_finding(FindingKind.ROW_MOVED, text, seq=self.next_seq)
        elif fields["seq"] == self.next_seq or self._out_of_place(fields["seq"]):
            self._accept(fields, digest, follows=self._last in {None, prev})
            return fields
        return None

    def checkpoint(self, checkpoint: Checkpoint) -> bool:
        """Takes a checkpoint where its rows end; gives whether it was really signed for this log."""
        problem = None if self._rows_only else self._problem(checkpoint)
        if problem is not None:
            self.checkpoints_sound = False
            kind, what = problem
            self._add_finding(kind, f"The checkpoint of size {checkpoint.size} {what}")
            return False
        if not self._rows_only:
            self._term = self._ring.term(checkpoint.key_id)
        self._claimed = max(self._claimed, checkpoint.size)
        if checkpoint.size > self.next_seq:
            self._ahead = min(checkpoint.size, self._ahead or checkpoint.size)
        elif self.sound:
            self._signed = checkpoint.size
            self._unsigned_since = None
        return True

    def root(self) -> bytes:
        return self._tree.root()

    def claim(self, size: int) -> None:
        """Somebody else says that the log was this long."""
        self._claimed = max(self._claimed, size)

    def finish(self, signed_until: str) -> None:
        """All rows were read. Those older than `signed_until` should have been signed long ago."""
        for first, last in self._gaps.open():
            what = f"Row {first} is" if first == last else f"Rows {first} to {last} are"
            self._add_finding(FindingKind.ROW_MISSING, f"{what} missing.", seq=first)
        if self._gaps.lost:
            self._add_finding(FindingKind.ROW_MISSING, f"{self._gaps.lost} further stretches of rows are missing.")
        self._report.unsigned_rows += max(0, self.next_seq - self._signed)
        if self._first_late is not None:
            seq, ts = self._first_late
            text = (
                f"Row {seq} is dated {ts}, which is yet to come. Either it was forged, so that nobody would miss a "
                "checkpoint over it, or the clock was wrong: compare it and the rows behind it with what happened."
            )
            self._add_finding(FindingKind.TIME_AHEAD, text, seq=seq)
        if self.sound:
            self._check_signed(signed_until)

    def check_tail(self) -> None:
        """When all that speaks of this log was read: is anything missing at its end?"""
        if self._claimed > self.next_seq + self._unreadable:
            text = f"The log ends after {self.next_seq} rows, but it had {self._claimed}."
            self._add_finding(FindingKind.TAIL_MISSING, text, seq=self.next_seq)

    def _check_signed(self, signed_until: str) -> None:
        if self._ahead is not None and self._ahead <= self.next_seq:
            text = f"The checkpoint of size {self._ahead} stands before its rows and vouches for none of them."
            self._add_finding(FindingKind.CHECKPOINT_MISMATCH, text)
        if self._unsigned_since is not None and self._unsigned_since < signed_until:
            text = (
                f"The rows from {self._signed} on, since {self._unsigned_since}, are signed by no checkpoint. "
                "If Gaby was killed then, run `gaby audit checkpoint` and export again."
            )
            self._add_finding(FindingKind.CHECKPOINT_MISSING, text, seq=self._signed)

    def _accept(self, fields: dict[str, Any], digest: bytes, *, follows: bool) -> None:
        seq, ts = fields["seq"], fields["ts"]
        if not follows:
            text = f"Row {seq} does not follow the row before it: one of the two was rewritten."
            self._broken(FindingKind.ROW_ALTERED, text, seq=seq)
        if ts < self._last_ts:
            text = f"Row {seq} is dated {ts}, before the row it follows."
            self._add_finding(FindingKind.TIME_REVERSED, text, seq=seq)
        self._check_date(seq, ts)
        self._last, self._last_ts = digest, ts
        self._unsigned_since = self._unsigned_since or ts
        self._unreadable = 0
        if self.sound and not self._rows_only:
            self._tree.append(digest)
        self.next_seq = seq + 1

    def _check_date(self, seq: int, ts: str) -> None:
        if ts > self._latest and self._first_late is None:
            self._first_late = (seq, ts)

    def _out_of_place(self, seq: int) -> bool:
        """A row with another number than the next; gives whether reading goes on from it."""
        if seq > self.next_seq:
            self.sound = False
            self._last = None
            first_missing = self.next_seq + self._unreadable
            if seq > first_missing:
                self._gaps.add(first_missing, seq - 1)
            self.next_seq = seq
            return True
        if self._gaps.fill(seq):
            self._add_finding(FindingKind.ROW_REORDERED, f"Row {seq} stands behind row {self.next_seq - 1}.", seq=seq)
        else:
            self._add_finding(FindingKind.ROW_DUPLICATED, f"There is a second row {seq}.", seq=seq)
        return False

    def _wrong_hash(self, line: bytes, raw: bytes, prev: bytes) -> None:
        for other in self._workspaces:
            if other == self._text:
                continue
            original = b"".join((raw[:-38], other.encode(), b'"}'))
            if sha256(prev + original).hexdigest().encode() == line[9:73]:
                text = f"The row at place {self.next_seq} was written in workspace {other}."
                self._consume(FindingKind.ROW_MOVED, text)
                return
        self._altered("Its content does not have its hash.")

    def _unreadable_row(self, line: bytes, raw: bytes, error: Malformed) -> None:
        if self._last is not None and sha256(self._last + raw).hexdigest().encode() == line[9:73]:
            self._consume(FindingKind.MALFORMED, f"Row {self.next_seq} has its hash, but: {error.message}")
        else:
            self._altered(error.message)

    def _altered(self, why: str) -> None:
        self._consume(FindingKind.ROW_ALTERED, f"Row {self.next_seq + self._unreadable} was altered. {why}")

    def _consume(self, kind: FindingKind, text: str) -> None:
        """A row that is there but cannot be used: its place counts as taken."""
        self._broken(kind, text, seq=self.next_seq + self._unreadable)
        self._last = None
        self._unreadable += 1

    def _broken(self, kind: FindingKind, text: str, *, seq: int) -> None:
        self.sound = False
        self._add_finding(kind, text, seq=seq)

    def _problem(self, checkpoint: Checkpoint) -> tuple[FindingKind, str] | None:
        problem = self._ring.problem(checkpoint, since_term=self._term)
        if problem is not None:
            return problem
        if checkpoint.workspace_id != self.workspace_id:
            return FindingKind.CHECKPOINT_MISMATCH, f"is of workspace {checkpoint.workspace_id}."
        if checkpoint.size < self.next_seq:
            return FindingKind.CHECKPOINT_MISMATCH, f"stands behind row {self.next_seq - 1}."
        if checkpoint.size == self.next_seq and self.sound and self._tree.root() != checkpoint.root:
            return FindingKind.CHECKPOINT_MISMATCH, "has another Merkle root than its rows: they were rewritten."
        return None

    def _add_finding(self, kind: FindingKind, text: str, *, seq: int | None = None) -> None:
        self._report.add(Finding(kind, text, self.workspace_id, seq))
