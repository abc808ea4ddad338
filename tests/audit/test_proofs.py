"""Proofs: small, self-contained, and a forged one is rejected by name."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.audit.canonical import canonical
from gaby.audit.errors import ProofRejected
from gaby.audit.findings import FindingKind
from gaby.audit.proofs import check_consistency, check_inclusion, prove_consistency, prove_inclusion
from gaby.audit.signing_key import SigningKey
from gaby.audit.statements import Checkpoint
from gaby.audit.tiles import Tiles
from gaby.kernel.errors import GabyError
from tests.audit.logs import ACME, BYTE, MemoryLog, busy_log
from tests.audit.test_merkle import grown

pytestmark = pytest.mark.promise("A4")


@pytest.fixture(scope="module")
def log() -> MemoryLog:
    return busy_log()


def _nodes(log: MemoryLog) -> Tiles:
    return Tiles(grown([row.hash for row in log.rows(ACME)]))


@pytest.fixture(scope="module")
def proof(log: MemoryLog) -> bytes:
    return prove_inclusion(log.rows(ACME)[123], log.signed[ACME][-1], _nodes(log).node, log.entries)


@pytest.fixture(scope="module")
def growth(log: MemoryLog) -> bytes:
    return prove_consistency(log.signed[ACME][0], log.signed[ACME][-1], _nodes(log).node, log.entries)


def _rejected(data: bytes, trusted: str | None = None) -> FindingKind:
    check = check_consistency if b"audit consistency" in data else check_inclusion
    with pytest.raises(ProofRejected) as caught:
        check(data, trusted=trusted)
    return caught.value.finding.kind


def test_a_proof_gives_back_its_row(log: MemoryLog, proof: bytes) -> None:
    assert check_inclusion(proof, trusted=log.key.id) == log.rows(ACME)[123]
    assert check_inclusion(proof + b"\n") == log.rows(ACME)[123]


def test_a_proof_connects_two_checkpoints(log: MemoryLog, growth: bytes) -> None:
    assert check_consistency(growth, trusted=log.key.id) == (log.signed[ACME][0], log.signed[ACME][-1])


def test_every_row_under_every_checkpoint_can_be_proved() -> None:
    log = busy_log(160)
    nodes = _nodes(log).node
    for checkpoint in log.signed[ACME]:
        for row in log.rows(ACME)[: checkpoint.size]:
            assert check_inclusion(prove_inclusion(row, checkpoint, nodes, log.entries)) == row


def test_every_flipped_bit_is_rejected(proof: bytes, growth: bytes) -> None:
    for data in (proof, growth):
        check = check_inclusion if data is proof else check_consistency
        for at in range(len(data)):
            broken = bytearray(data)
            broken[at] ^= 1 << at * 5 % 8
            with pytest.raises(ProofRejected):
                check(bytes(broken))


def test_another_payload_is_an_altered_row(proof: bytes) -> None:
    parts = orjson.loads(proof)
    parts["row"]["payload"] = {"n": 0}
    assert _rejected(canonical(parts)) is FindingKind.ROW_ALTERED


def test_another_place_is_an_altered_row(proof: bytes) -> None:
    parts = orjson.loads(proof)
    parts["row"]["seq"] += 1
    assert _rejected(canonical(parts)) is FindingKind.ROW_ALTERED


def test_a_checkpoint_of_another_workspace_is_a_moved_row(log: MemoryLog, proof: bytes) -> None:
    parts = orjson.loads(proof)
    parts["checkpoint"] = log.signed[BYTE][-1].model_dump(mode="json")
    assert _rejected(canonical(parts)) is FindingKind.ROW_MOVED


def test_a_root_nobody_signed_is_a_forged_checkpoint(proof: bytes, growth: bytes) -> None:
    for data, name in ((proof, "checkpoint"), (growth, "second")):
        parts = orjson.loads(data)
        parts[name]["root"] = "00" * 32
        assert _rejected(canonical(parts)) is FindingKind.CHECKPOINT_FORGED


def test_a_key_of_the_forger_is_unknown_to_who_trusts_another(log: MemoryLog) -> None:
    forged = busy_log(50)
    data = prove_inclusion(forged.rows(ACME)[3], forged.signed[ACME][-1], _nodes(forged).node, forged.entries)
    check_inclusion(data)
    assert _rejected(data, trusted=log.key.id) is FindingKind.KEY_UNKNOWN


def test_a_signature_without_its_key_is_unknown(proof: bytes) -> None:
    parts = orjson.loads(proof)
    parts["keys"] = []
    assert _rejected(canonical(parts)) is FindingKind.KEY_UNKNOWN


def test_two_logs_that_parted_are_not_consistent(log: MemoryLog, growth: bytes) -> None:
    parts = orjson.loads(growth)
    first = Checkpoint.model_validate(parts["first"])
    other = busy_log(60)
    other.key = log.key
    parted = other.checkpoint(ACME).model_copy(update={"size": first.size})
    from_other = parted.model_copy(update={"signature": log.key.sign(parted.note)})
    parts["first"] = from_other.model_dump(mode="json")
    assert _rejected(canonical(parts)) is FindingKind.CHECKPOINT_MISMATCH


def test_checkpoints_of_two_workspaces_prove_nothing(log: MemoryLog, growth: bytes) -> None:
    parts = orjson.loads(growth)
    parts["second"] = log.signed[BYTE][-1].model_dump(mode="json")
    assert _rejected(canonical(parts)) is FindingKind.ROW_MOVED


@given(st.binary(max_size=400))
def test_random_bytes_are_rejected(data: bytes) -> None:
    for check in (check_inclusion, check_consistency):
        with pytest.raises(GabyError):
            check(data)


def test_a_deep_or_spaced_proof_is_malformed(proof: bytes) -> None:
    assert _rejected(b"[" * 100_000) is FindingKind.MALFORMED
    assert _rejected(proof.replace(b":", b": ", 1)) is FindingKind.MALFORMED
    assert SigningKey.generate().id not in proof.decode()
