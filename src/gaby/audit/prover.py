"""Makes proofs from the running database, reading a handful of tiles however long the log is."""

from gaby.audit.proofs import prove_consistency, prove_inclusion
from gaby.audit.source import DatabaseSource
from gaby.audit.statements import Checkpoint
from gaby.audit.tiles import Tiles, for_consistency, for_inclusion
from gaby.kernel.errors import Conflict, NotFound
from gaby.kernel.ids import AuditRowId, WorkspaceId


def inclusion_proof(source: DatabaseSource, workspace_id: WorkspaceId, row_id: AuditRowId) -> bytes:
    """Proof that a row is in the log that the newest checkpoint signs."""
    row = source.row(workspace_id, row_id)
    if row is None:
        raise NotFound("There is no such audit row in this workspace.")
    checkpoint = source.last_checkpoint(workspace_id)
    if checkpoint is None or checkpoint.size <= row.seq:
        raise Conflict("No checkpoint covers this row yet. Try again in a minute.")
    tiles = Tiles(source.tiles(workspace_id, for_inclusion(row.seq, checkpoint.size)))
    return prove_inclusion(row, checkpoint, tiles.node, source.keys())


def consistency_proof(source: DatabaseSource, workspace_id: WorkspaceId, first: int, second: int) -> bytes:
    """Proof that the log at the first size is the beginning of the log at the second."""
    older, newer = _at(source, workspace_id, first), _at(source, workspace_id, second)
    if not 0 < first <= second:
        raise Conflict("The first size must be at least 1 and not larger than the second.")
    tiles = Tiles(source.tiles(workspace_id, for_consistency(first, second)))
    return prove_consistency(older, newer, tiles.node, source.keys())


def _at(source: DatabaseSource, workspace_id: WorkspaceId, size: int) -> Checkpoint:
    checkpoint = source.checkpoint_at(workspace_id, size)
    if checkpoint is None:
        raise NotFound(f"There is no checkpoint of size {size} in this workspace.")
    return checkpoint
