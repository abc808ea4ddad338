"""What witnesses signed, kept beside the anchors, one line for each."""

import asyncio
import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel

from gaby.audit.canonical import canonical
from gaby.audit.errors import Malformed
from gaby.audit.findings import Finding, FindingKind, VerificationReport
from gaby.audit.line_reader import parse, read_lines
from gaby.audit.notes import VerifierKey, cosigned_at, parse_checkpoint, parse_note
from gaby.audit.signing_key import sync_folder
from gaby.audit.statements import understand
from gaby.audit.witness_comparison import WitnessedRoot
from gaby.kernel.ids import SYSTEM


class CosignedCheckpoint(BaseModel, frozen=True, extra="forbid", strict=True):
    witness: str
    """The verifier key."""
    note: str
    """The checkpoint with the signatures of the log and of the witness."""


class CosignatureFile:
    def __init__(self, anchors: Path) -> None:
        self.path = anchors.with_name(f"{anchors.stem}.cosignatures.jsonl")

    async def store(self, cosigned: CosignedCheckpoint) -> None:
        await asyncio.to_thread(self._append, canonical(cosigned.model_dump(mode="json")) + b"\n")

    def _append(self, line: bytes) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_new = not self.path.exists()
        with self.path.open("ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # A crash may have torn the last line, which must not spoil the next.
            end = file.seek(0, os.SEEK_END)
            if end and (file.seek(end - 1), file.read(1))[1] != b"\n":
                file.write(b"\n")
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            sync_folder(self.path.parent)

    def lines(self) -> Iterator[bytes]:
        if self.path.exists():
            with self.path.open("rb") as file:
                yield from read_lines(file)


def read_cosignatures(
    lines: Iterable[bytes], witnesses: Sequence[VerifierKey], report: VerificationReport
) -> list[WitnessedRoot]:
    """Those of the witnesses that are trusted. A line that claims to be one of theirs and is not becomes a finding."""
    trusted = {str(key): key for key in witnesses}
    roots: list[WitnessedRoot] = []
    for number, line in enumerate(lines, start=1):
        try:
            cosigned = understand(CosignedCheckpoint, parse(line.removesuffix(b"\n")))
            note = parse_note(cosigned.note.encode())
            head = parse_checkpoint(note.body)
        except Malformed as error:
            _add(report, FindingKind.MALFORMED, f"Line {number} of the cosignatures: {error.message}")
            continue
        key = trusted.get(cosigned.witness)
        time = cosigned_at(note.body, note.signatures, key) if key is not None else None
        if time is not None:
            roots.append(WitnessedRoot(head.size, head.root, cosigned.witness.partition("+")[0], time))
        elif key is not None:
            _add(
                report, FindingKind.CHECKPOINT_FORGED, f"Line {number} of the cosignatures is not signed by {key.name}."
            )
    return roots


def _add(report: VerificationReport, kind: FindingKind, text: str) -> None:
    report.add(Finding(kind, text, SYSTEM))
