"""Proofs that fit in an e-mail: that one row is in the log, and that a log only grew."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field

from gaby.audit.canonical import canonical
from gaby.audit.errors import Malformed, ProofRejected
from gaby.audit.findings import Finding, FindingKind
from gaby.audit.line_reader import parse
from gaby.audit.merkle import Nodes, consistency_holds, consistency_path, inclusion_holds, inclusion_path, leaf_hash
from gaby.audit.rows import AuditRow, read_row, row_from, row_hash
from gaby.audit.statements import Base64, Checkpoint, KeyEntry, understand
from gaby.audit.trust import TrustedKeys

INCLUSION = "gaby audit inclusion v1"
CONSISTENCY = "gaby audit consistency v1"
MAX_PROOF = 4_000_000

P = TypeVar("P", bound=BaseModel)
Path = Annotated[Base64, Field(max_length=64 * 2 * 32)]


class InclusionProof(BaseModel, frozen=True, extra="forbid", strict=True):
    format: Literal["gaby audit inclusion v1"] = INCLUSION
    row: dict[str, Any]
    path: Path
    checkpoint: Checkpoint
    keys: list[KeyEntry]


class ConsistencyProof(BaseModel, frozen=True, extra="forbid", strict=True):
    format: Literal["gaby audit consistency v1"] = CONSISTENCY
    first: Checkpoint
    second: Checkpoint
    path: Path
    keys: list[KeyEntry]


def prove_inclusion(row: AuditRow, checkpoint: Checkpoint, nodes: Nodes, keys: Sequence[KeyEntry]) -> bytes:
    """The row is number `row.seq` of those the checkpoint signs."""
    path = b"".join(inclusion_path(nodes, row.seq, checkpoint.size))
    fields = read_row(row.canonical())
    return _written(InclusionProof(row=fields, path=path, checkpoint=checkpoint, keys=list(keys)))


def prove_consistency(first: Checkpoint, second: Checkpoint, nodes: Nodes, keys: Sequence[KeyEntry]) -> bytes:
    """The rows the first checkpoint signs are the beginning of those the second signs."""
    path = b"".join(consistency_path(nodes, first.size, second.size))
    return _written(ConsistencyProof(first=first, second=second, path=path, keys=list(keys)))


def check_inclusion(data: bytes, *, trusted: str | None = None) -> AuditRow:
    """The row that the proof is about. A proof that does not hold raises `ProofRejected` with its finding."""
    proof = _read(InclusionProof, data)
    checkpoint = proof.checkpoint
    raw = canonical(proof.row)
    try:
        row = row_from(read_row(raw), b"")
    except Malformed as error:
        raise _rejected(FindingKind.MALFORMED, error.message) from error
    _check_signatures([checkpoint], proof.keys, trusted)
    if row.workspace_id != checkpoint.workspace_id:
        raise _rejected(FindingKind.ROW_MOVED, "The row is of another workspace than the checkpoint.", row)
    digest = row_hash(row.prev_hash, raw)
    if not inclusion_holds(leaf_hash(digest), row.seq, checkpoint.size, _steps(proof.path), checkpoint.root):
        raise _rejected(FindingKind.ROW_ALTERED, "This row is not in the log that the checkpoint signs.", row)
    return row_from(proof.row, digest)


def check_consistency(data: bytes, *, trusted: str | None = None) -> tuple[Checkpoint, Checkpoint]:
    """The two checkpoints that the proof connects. A proof that does not hold raises `ProofRejected`."""
    proof = _read(ConsistencyProof, data)
    first, second = proof.first, proof.second
    _check_signatures([first, second], proof.keys, trusted)
    if first.workspace_id != second.workspace_id:
        raise _rejected(FindingKind.ROW_MOVED, "The two checkpoints are of different workspaces.")
    if not consistency_holds(first.size, second.size, _steps(proof.path), first.root, second.root):
        raise _rejected(FindingKind.CHECKPOINT_MISMATCH, "The later log does not begin with the earlier one.")
    return first, second


def _check_signatures(checkpoints: list[Checkpoint], keys: list[KeyEntry], trusted: str | None) -> None:
    ring = TrustedKeys(keys, trusted=trusted)
    if ring.problems:
        raise _rejected(FindingKind.KEY_UNKNOWN, ring.problems[0])
    for checkpoint in checkpoints:
        problem = ring.problem(checkpoint)
        if problem is not None:
            raise _rejected(problem[0], f"The checkpoint {problem[1]}")


def _read(kind: type[P], data: bytes) -> P:
    data = data.removesuffix(b"\n")
    try:
        if len(data) > MAX_PROOF:
            raise Malformed("The proof is longer than any proof.")
        return understand(kind, parse(data))
    except Malformed as error:
        raise _rejected(FindingKind.MALFORMED, error.message) from error


def _steps(path: bytes) -> list[bytes]:
    return [path[at : at + 32] for at in range(0, len(path), 32)]


def _written(proof: BaseModel) -> bytes:
    return canonical(proof.model_dump(mode="json"))


def _rejected(kind: FindingKind, text: str, row: AuditRow | None = None) -> ProofRejected:
    return ProofRejected(Finding(kind, text, row.workspace_id if row else None, row.seq if row else None))
