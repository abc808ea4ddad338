"""A witness: it remembers how far it has seen each log come, and signs only what grew from there.

The rules are those of C2SP's tlog-witness. A witness on another machine cannot be rolled back together with the log.
"""

import fcntl
import os
import threading
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import IO, Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field

from gaby.audit.canonical import canonical
from gaby.audit.errors import Malformed, WitnessStateUnusable
from gaby.audit.line_reader import parse
from gaby.audit.merkle import EMPTY_ROOT, consistency_holds
from gaby.audit.notes import (
    MAX_NOTE,
    TreeHead,
    VerifierKey,
    cosign,
    decode,
    is_signed_by,
    parse_checkpoint,
    parse_note,
    parse_size,
)
from gaby.audit.signing_key import SigningKey, sync_folder
from gaby.audit.statements import understand
from gaby.kernel.clock import Clock
from gaby.kernel.log import get_log

MAX_REQUEST = MAX_NOTE + 64 * 64
_MAX_PROOF = 63
_TEXT = "text/plain; charset=utf-8"
_log = get_log(__name__)


class WitnessedLogs(BaseModel, frozen=True, extra="forbid", strict=True):
    """The newest checkpoint of each log, with its signatures, by the log's origin."""

    format: Literal["gaby audit witness v1"] = "gaby audit witness v1"
    notes: Annotated[dict[str, str], Field(max_length=10_000)] = {}


class WitnessAnswer(NamedTuple):
    status: int
    body: bytes
    content_type: str = _TEXT


class WitnessFile:
    """What the witness has seen, on disk before it is signed. One process at a time has it open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock: IO[bytes] | None = None

    def create(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.save(WitnessedLogs())

    @property
    def exists(self) -> bool:
        return self._path.exists()

    def open(self) -> WitnessedLogs:
        self._lock = self._path.with_name(self._path.name + ".lock").open("ab")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return understand(WitnessedLogs, parse(self._path.read_bytes()))
        except BlockingIOError as error:
            raise WitnessStateUnusable(f"Another witness has {self._path} open. Stop it first.") from error
        except (OSError, Malformed) as error:
            raise WitnessStateUnusable from error

    def save(self, logs: WitnessedLogs) -> None:
        draft = self._path.with_name(self._path.name + ".tmp")
        with draft.open("wb") as file:
            file.write(canonical(logs.model_dump(mode="json")))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)
        sync_folder(self._path.parent)

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()


class Witness:
    def __init__(
        self, name: str, key: SigningKey, logs: Mapping[str, Sequence[VerifierKey]], file: WitnessFile, clock: Clock
    ) -> None:
        """`logs` holds the keys that may sign for each origin."""
        self._name = name
        self._key = key
        self._logs = logs
        self._file = file
        self._clock = clock
        self._notes = dict(file.open().notes)
        self._one_at_a_time = threading.Lock()

    def add_checkpoint(self, request: bytes) -> WitnessAnswer:
        """Synchronous, since it waits for the disk: call it in a thread."""
        try:
            old_size, proof, note_text = _parse_request(request)
            note = parse_note(note_text)
            head = parse_checkpoint(note.body)
        except Malformed as error:
            return _refused(400, error.message)
        keys = self._logs.get(head.origin)
        if keys is None:
            return _refused(404, "This witness does not watch a log of that origin.")
        signed = [is_signed_by(note, key) for key in keys]
        if False in signed or True not in signed:
            return _refused(403, "The checkpoint is not signed by a key that this witness knows for the log.")
        if old_size > head.size:
            return _refused(400, "The old size is larger than the checkpoint's.")
        with self._one_at_a_time:
            return self._add(old_size, proof, head, note.body, note_text)

    def checkpoint(self, origin_hash: str) -> bytes | None:
        """The newest checkpoint that was signed of a log, by the SHA-256 of its origin."""
        for origin, note in self._notes.items():
            if sha256(origin.encode()).hexdigest() == origin_hash:
                return note.encode()
        return None

    def _add(
        self, old_size: int, proof: Sequence[bytes], head: TreeHead, body: bytes, note_text: bytes
    ) -> WitnessAnswer:
        known = self._known(head.origin)
        if old_size != known.size:
            if head.size < known.size:
                _log.warning("witness.log_went_back", origin=head.origin, known=known.size, offered=head.size)
            return WitnessAnswer(409, b"%d\n" % known.size, "text/x.tlog.size")
        if not _grew(known, head, proof):
            # Signed by the log's own key: this is evidence, so it is told with its roots.
            roots = {"known": known.root.hex(), "offered": head.root.hex()}
            _log.error("witness.log_contradicts_itself", origin=head.origin, size=head.size, **roots)
            return _refused(422, "The checkpoint is not proven to continue the one that this witness knows.")
        line = cosign(body, self._name, self._key, time=int(self._clock.now().timestamp()))
        notes = self._notes | {head.origin: (note_text + line).decode()}
        self._file.save(WitnessedLogs(notes=notes))
        self._notes = notes
        return WitnessAnswer(200, line)

    def _known(self, origin: str) -> TreeHead:
        note = self._notes.get(origin)
        return TreeHead(origin, 0, EMPTY_ROOT) if note is None else parse_checkpoint(parse_note(note.encode()).body)


def _parse_request(request: bytes) -> tuple[int, list[bytes], bytes]:
    """The old size, the proof and the note."""
    start, separator, note = request.partition(b"\n\n")
    try:
        first, *lines = start.decode("ascii").split("\n")
    except UnicodeDecodeError:
        raise Malformed("The request is not in the form that C2SP's tlog-witness describes.") from None
    proof = [decode(line) for line in lines]
    if (
        not separator
        or not first.startswith("old ")
        or len(proof) > _MAX_PROOF
        or any(len(each) != 32 for each in proof)
    ):
        raise Malformed("The request is not in the form that C2SP's tlog-witness describes.")
    return parse_size(first.removeprefix("old ")), proof, note


def _grew(known: TreeHead, head: TreeHead, proof: Sequence[bytes]) -> bool:
    if head.size == 0 and head.root != EMPTY_ROOT:
        return False
    if known.size == 0:
        return not proof
    return consistency_holds(known.size, head.size, proof, known.root, head.root)


def _refused(status: int, text: str) -> WitnessAnswer:
    return WitnessAnswer(status, f"{text}\n".encode())
