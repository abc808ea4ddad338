"""A second process verifies the trees and signatures of an export while the first verifies its rows.

It only ever says yes. When it cannot, everything is looked at once more in one process, which finds the words.
"""

import os
import threading
from binascii import unhexlify
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, groupby, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from operator import itemgetter
from pathlib import Path
from uuid import UUID

from gaby.audit.errors import Malformed
from gaby.audit.export import CHECKPOINT_START, LOG_START, ROW_START, CheckpointLine, ExportHeader, LogLine
from gaby.audit.line_reader import parse, read_blocks
from gaby.audit.merkle import Accumulator
from gaby.audit.statements import understand
from gaby.audit.trust import TrustedKeys
from gaby.kernel.ids import SYSTEM

WORTH_IT = 8_000_000
"""Smaller exports are verified before a second process has started."""

first_bytes = itemgetter(slice(0, len(ROW_START)))
_claimed_hash = itemgetter(slice(9, 73))
_ROWS = 4096


@contextmanager
def parallel_verification(export: Path, trusted: str | None) -> Generator["ParallelResult"]:
    """Start the second verification; ask the result for it after the first one."""
    # Forked, since a fresh interpreter would take longer to start than it saves.
    receiving, sending = get_context("fork").Pipe(duplex=False)
    process = get_context("fork").Process(target=_verify_in_child, args=(export, trusted, sending), daemon=True)
    process.start()
    sending.close()
    try:
        yield ParallelResult(receiving)
    finally:
        process.kill()
        process.join()
        receiving.close()


class ParallelResult:
    def __init__(self, receiving: Connection) -> None:
        self._receiving = receiving

    def is_yes(self) -> bool:
        try:
            return self._receiving.recv_bytes() == b"yes"
        except EOFError:
            return False


def is_worth_it(export: Path) -> bool:
    """Only where it helps, and only in a process without other threads, which a fork would not carry over."""
    return export.stat().st_size >= WORTH_IT and (os.cpu_count() or 1) > 1 and threading.active_count() == 1


def _verify_in_child(export: Path, trusted: str | None, sending: Connection) -> None:
    try:
        with export.open("rb") as file:
            good = trees_hold(read_blocks(file), trusted)
    except (Malformed, OSError, ValueError):
        good = False
    sending.send_bytes(b"yes" if good else b"no")


def trees_hold(blocks: Iterable[list[bytes]], trusted: str | None) -> bool:
    """Whether every checkpoint of a workspace is signed, and has the root of the hashes that the rows claim."""
    lines = chain.from_iterable(blocks)
    header = understand(ExportHeader, parse(next(lines, b"")[:-1]))
    verifier = _TreeVerifier(TrustedKeys(header.keys, trusted=trusted))
    runs = groupby(lines, key=first_bytes)
    return not verifier.ring.problems and all(verifier.take(start, run) for start, run in runs)


class _TreeVerifier:
    """One workspace's log after the other. The system's own log is left to the first process, which needs its tree."""

    def __init__(self, ring: TrustedKeys) -> None:
        self.ring = ring
        self._log: UUID | None = None
        self._tree: Accumulator | None = None
        self._term = 0

    def take(self, start: bytes, run: Iterator[bytes]) -> bool:
        """Lines that begin alike, of which only the hashes are kept in memory."""
        if start != ROW_START:
            return all(map(self._line, run))
        while self._tree is not None and (claimed := b"".join(map(_claimed_hash, islice(run, _ROWS)))):
            hashes = unhexlify(claimed)
            self._tree.extend(hashes[at : at + 32] for at in range(0, len(hashes), 32))
        return True

    def _line(self, line: bytes) -> bool:
        if line.startswith(LOG_START):
            log = understand(LogLine, parse(line[:-1])).log
            self._log, self._term = log, 0
            self._tree = None if log == SYSTEM else Accumulator()
        elif line.startswith(CHECKPOINT_START) and self._tree is not None:
            checkpoint = understand(CheckpointLine, parse(line[:-1])).checkpoint
            if self.ring.problem(checkpoint, since_term=self._term) is not None:
                return False
            self._term = self.ring.term(checkpoint.key_id)
            claimed = (checkpoint.workspace_id, checkpoint.size, checkpoint.root)
            return claimed == (self._log, self._tree.size, self._tree.root())
        return True
