"""Checkpoints: the key signs how far each log has come, after looking at the rows it has not signed yet."""

from dataclasses import dataclass, field

from gaby.audit.canonical import canonical_payload
from gaby.audit.crosslinks import CHECKPOINT_EVENT, checkpoint_payload
from gaby.audit.errors import CheckpointRefused
from gaby.audit.keys import CHECKPOINT_LOCK, KeyHolder, current_key
from gaby.audit.merkle import root
from gaby.audit.notes import checkpoint_body, origin_of, sign_note
from gaby.audit.rows import FIRST_PREV_HASH, RowDraft, row_hash, timestamp
from gaby.audit.signing_key import SigningKey
from gaby.audit.source import DatabaseSource
from gaby.audit.statements import Anchor, Checkpoint, KeyEntry, sign_checkpoint
from gaby.audit.store import Appender, store_tiles
from gaby.audit.tiles import TileBuilder, TileCoordinate, Tiles, edge, has_root
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.database.raw_sql import Connection, Dialect, SqlRunner
from gaby.kernel.failpoints import failpoint
from gaby.kernel.ids import SYSTEM, WorkspaceId

_STEP = 1000
_AUDITOR = system_actor("audit")


@dataclass(slots=True)
class CheckpointRound:
    """What one round of checkpoints did."""

    checkpoints: list[Checkpoint] = field(default_factory=list[Checkpoint])
    refused: list[CheckpointRefused] = field(default_factory=list[CheckpointRefused])
    """Logs that contradict what was signed before. They are not signed again; the others are."""
    anchor: Anchor | None = None
    """The newest checkpoint of the system's log, which covers all the others; also when another process took it."""
    keys: list[KeyEntry] = field(default_factory=list[KeyEntry])
    """All that signed so far, in the order they served."""
    note: bytes | None = None
    """The same checkpoint in the form that witnesses sign, if it was taken now."""


class CheckpointTaker:
    def __init__(self, holder: KeyHolder, appender: Appender, clock: Clock) -> None:
        self._holder = holder
        self._appender = appender
        self._clock = clock

    def take(self, connection: Connection, dialect: Dialect, *, heartbeat: bool) -> CheckpointRound:
        """Sign every log that grew, and with `heartbeat` the system's log in any case. One process at a time."""
        sql = SqlRunner(connection, dialect)
        if dialect == "postgresql" and sql.one("SELECT pg_try_advisory_xact_lock(?)", CHECKPOINT_LOCK) != (True,):
            return CheckpointRound()
        source = DatabaseSource(connection, dialect)
        ts = timestamp(self._clock.now())
        signer = _Signer(sql, source, current_key(source, sql, self._holder, ts), ts)
        for log in source.sizes():
            if log.workspace_id != SYSTEM:
                signer.sign(log.workspace_id, log.size)
        # Each checkpoint becomes a row of the system's log, whose own checkpoint comes last and covers them all.
        drafts = [_draft(checkpoint) for checkpoint in signer.round.checkpoints]
        if drafts:
            self._appender.append(connection, dialect, drafts)
        size = next((log.size for log in source.sizes() if log.workspace_id == SYSTEM), 0)
        signer.sign(SYSTEM, size, heartbeat=heartbeat)
        signer.round.keys = source.keys()
        signer.find_anchor()
        failpoint("audit.before_checkpoint_commit")
        return signer.round


class _Signer:
    def __init__(self, sql: SqlRunner, source: DatabaseSource, key: SigningKey, ts: str) -> None:
        self.round = CheckpointRound()
        self._sql = sql
        self._source = source
        self._key = key
        self._ts = ts

    def sign(self, workspace_id: WorkspaceId, size: int, *, heartbeat: bool = False) -> None:
        last = self._source.last_checkpoint(workspace_id)
        signed, ts = (last.size, max(last.ts, self._ts)) if last else (0, self._ts)
        due = size != signed or (heartbeat and (last is None or ts > last.ts))
        if not due:
            return
        try:
            digest = self._grow(workspace_id, last, size)
        except CheckpointRefused as reason:
            text = f"The log of workspace {workspace_id} is not signed: {reason.message} Run `gaby audit verify`."
            self.round.refused.append(CheckpointRefused(text))
            return
        checkpoint = sign_checkpoint(self._key, workspace_id, size, digest, ts)
        self._store(checkpoint)
        self.round.checkpoints.append(checkpoint)

    def find_anchor(self) -> None:
        last, keys = self._source.last_checkpoint(SYSTEM), {entry.key_id: entry for entry in self.round.keys}
        if last is None or last.key_id not in keys:
            return
        self.round.anchor = Anchor(checkpoint=last, public_key=keys[last.key_id].public_key)
        taken_now = any(last.signature == checkpoint.signature for checkpoint in self.round.checkpoints)
        if taken_now and last.size:
            body = checkpoint_body(origin_of(self.round.keys), last.size, last.root)
            self.round.note = sign_note(body, origin_of(self.round.keys), self._key)

    def _grow(self, workspace_id: WorkspaceId, last: Checkpoint | None, size: int) -> bytes:
        """The Merkle root at this size, with the tiles written for proofs."""
        if last is not None and size < last.size:
            raise CheckpointRefused(f"It has {size} rows, but {last.size} were signed.")
        tiles = self._signed_tiles(workspace_id, last) if last else {}
        grower = TileBuilder(last.size if last else 0, tiles)
        self._append_rows(workspace_id, grower, size)
        changed = {at: bytes(hashes) for at, hashes in grower.changed.items()}
        self._store_tiles(workspace_id, changed)
        return root(Tiles(tiles | changed).node, size)

    def _signed_tiles(self, workspace_id: WorkspaceId, last: Checkpoint) -> dict[TileCoordinate, bytes]:
        """The right edge of the tree as it was signed, built again from the rows when the stored tiles are damaged."""
        tiles = self._source.tiles(workspace_id, edge(last.size))
        if has_root(tiles, last.size, last.root):
            return tiles
        grower = TileBuilder(0, {})
        self._append_rows(workspace_id, grower, last.size)
        rebuilt = {at: bytes(hashes) for at, hashes in grower.changed.items()}
        if not has_root(rebuilt, last.size, last.root):
            raise CheckpointRefused(f"Its first {last.size} rows are not those that were signed.")
        self._store_tiles(workspace_id, rebuilt)
        return rebuilt

    def _append_rows(self, workspace_id: WorkspaceId, grower: TileBuilder, size: int) -> None:
        before = self._source.some_rows(workspace_id, after=grower.size - 2, limit=1) if grower.size else []
        last = before[0].hash if before else FIRST_PREV_HASH
        while grower.size < size:
            step = min(_STEP, size - grower.size)
            rows = self._source.some_rows(workspace_id, after=grower.size - 1, limit=step)
            for row in rows:
                good = (row.seq, row.prev_hash) == (grower.size, last) and row_hash(last, row.canonical()) == row.hash
                if not good:
                    raise CheckpointRefused(f"Row {grower.size} was altered or is missing.")
                grower.append(row.hash)
                last = row.hash
            if len(rows) < step:
                raise CheckpointRefused(f"Row {grower.size} is missing.")

    def _store_tiles(self, workspace_id: WorkspaceId, tiles: dict[TileCoordinate, bytes]) -> None:
        store_tiles(self._sql, workspace_id, tiles.items())

    def _store(self, checkpoint: Checkpoint) -> None:
        self._sql.run(
            "INSERT INTO audit_checkpoints (workspace_id, size, ts, root, key_id, signature) VALUES (?, ?, ?, ?, ?, ?)",
            checkpoint.workspace_id.hex,
            checkpoint.size,
            checkpoint.ts,
            checkpoint.root,
            checkpoint.key_id,
            checkpoint.signature,
        )


def _draft(checkpoint: Checkpoint) -> RowDraft:
    payload = canonical_payload(checkpoint_payload(checkpoint))
    return RowDraft(SYSTEM, _AUDITOR.kind, _AUDITOR.id, CHECKPOINT_EVENT, payload)
