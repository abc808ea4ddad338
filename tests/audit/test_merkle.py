"""The Merkle tree agrees with RFC 6962 as written there, word for word, for every size and index."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.audit.errors import CheckpointRefused
from gaby.audit.merkle import (
    EMPTY_ROOT,
    Accumulator,
    consistency_holds,
    consistency_path,
    inclusion_holds,
    inclusion_path,
    leaf_hash,
    node_hash,
    peaks,
    root,
)
from gaby.audit.tiles import HASH, WIDTH, TileBuilder, TileCoordinate, Tiles, edge, for_consistency, for_inclusion

pytestmark = pytest.mark.promise("A3")

LEAVES = st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=130)


def rfc_root(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    k = _k(len(leaves))
    return sha256(b"\x01" + rfc_root(leaves[:k]) + rfc_root(leaves[k:])).digest()


def rfc_path(m: int, leaves: list[bytes]) -> list[bytes]:
    """RFC 6962, section 2.1.1."""
    if len(leaves) == 1:
        return []
    k = _k(len(leaves))
    if m < k:
        return [*rfc_path(m, leaves[:k]), rfc_root(leaves[k:])]
    return [*rfc_path(m - k, leaves[k:]), rfc_root(leaves[:k])]


def rfc_proof(m: int, leaves: list[bytes], *, whole: bool = True) -> list[bytes]:
    """RFC 6962, section 2.1.2."""
    if m == len(leaves):
        return [] if whole else [rfc_root(leaves)]
    k = _k(len(leaves))
    if m <= k:
        return [*rfc_proof(m, leaves[:k], whole=whole), rfc_root(leaves[k:])]
    return [*rfc_proof(m - k, leaves[k:], whole=False), rfc_root(leaves[:k])]


def _k(n: int) -> int:
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def some_leaves(count: int) -> list[bytes]:
    return [sha256(b"%d" % number).digest() for number in range(count)]


def grown(leaves: list[bytes], steps: list[int] | None = None) -> dict[TileCoordinate, bytes]:
    """The tiles of a tree that grew in several steps, each loading only the right edge."""
    stored: dict[TileCoordinate, bytes] = {}
    size = 0
    for end in [*(steps or []), len(leaves)]:
        grower = TileBuilder(size, {at: stored[at] for at in edge(size)})
        for leaf in leaves[size:end]:
            grower.append(leaf)
        stored |= {at: bytes(hashes) for at, hashes in grower.changed.items()}
        size = end
    return stored


def test_the_empty_tree_has_the_root_of_the_rfc() -> None:
    assert Accumulator().root() == EMPTY_ROOT == root(Tiles({}).node, 0)


@given(LEAVES)
def test_the_accumulator_knows_the_root_at_every_size(leaves: list[bytes]) -> None:
    tree = Accumulator()
    for size, leaf in enumerate(leaves, start=1):
        tree.append(leaf)
        assert (tree.size, tree.root()) == (size, rfc_root(leaves[:size]))


@given(LEAVES, st.data())
def test_proofs_are_those_of_the_rfc_and_hold(leaves: list[bytes], data: st.DataObject) -> None:
    nodes, size = Tiles(grown(leaves)).node, len(leaves)
    index = data.draw(st.integers(0, size - 1))
    path = inclusion_path(nodes, index, size)
    assert path == rfc_path(index, leaves)
    assert inclusion_holds(leaf_hash(leaves[index]), index, size, path, rfc_root(leaves))

    first = data.draw(st.integers(1, size))
    proof = consistency_path(nodes, first, size)
    assert proof == rfc_proof(first, leaves)
    assert consistency_holds(first, size, proof, rfc_root(leaves[:first]), rfc_root(leaves))


@given(LEAVES, st.data())
def test_a_proof_of_anything_else_does_not_hold(leaves: list[bytes], data: st.DataObject) -> None:
    nodes, size = Tiles(grown(leaves)).node, len(leaves)
    index = data.draw(st.integers(0, size - 1))
    path, leaf, top = inclusion_path(nodes, index, size), leaf_hash(leaves[index]), rfc_root(leaves)
    wrong = sha256(b"wrong").digest()
    assert not inclusion_holds(wrong, index, size, path, top)
    assert not inclusion_holds(leaf, index, size, path, wrong)
    assert not inclusion_holds(leaf, index, size, [*path, wrong], top)
    assert not inclusion_holds(leaf, size, size, path, top)
    for at in range(len(path)):
        assert not inclusion_holds(leaf, index, size, [*path[:at], wrong, *path[at + 1 :]], top)
        assert not inclusion_holds(leaf, index, size, path[:at] + path[at + 1 :], top)

    first = data.draw(st.integers(1, size))
    proof, old = consistency_path(nodes, first, size), rfc_root(leaves[:first])
    assert not consistency_holds(first, size, proof, wrong, top)
    assert not consistency_holds(first, size, [*proof, wrong], old, top)
    assert not consistency_holds(0, size, proof, old, top)
    if proof:
        assert not consistency_holds(first, size, proof[1:], old, top)
        assert not consistency_holds(first, size, proof, old, wrong)


@given(st.integers(0, 3000), st.lists(st.integers(1, 3000), max_size=4))
def test_a_tree_grown_in_steps_has_the_same_tiles(size: int, steps: list[int]) -> None:
    leaves = some_leaves(size)
    tree = Accumulator()
    tree.extend(leaves)
    stored = grown(leaves, sorted(step for step in steps if step < size))
    assert stored == grown(leaves)
    assert root(Tiles(stored).node, size) == tree.root()
    assert Accumulator(size, peaks(Tiles(stored).node, size)).root() == tree.root()


def test_a_proof_over_a_large_log_reads_a_handful_of_tiles() -> None:
    for index in (0, 255, 256, 65_535, 65_536, 500_000, 999_999):
        assert len(for_inclusion(index, 1_000_000)) <= 6
        assert len(for_consistency(index + 1, 1_000_000)) <= 9
    assert sum(hashes <= WIDTH * HASH for hashes in map(len, grown(some_leaves(700)).values())) == 4


def test_proofs_from_only_the_tiles_they_name() -> None:
    leaves = some_leaves(70_000)
    stored = grown(leaves)
    tree = Accumulator()
    tree.extend(leaves)
    index, size = 66_000, 70_000
    loaded = Tiles({at: stored[at] for at in for_inclusion(index, size)})
    assert inclusion_holds(leaf_hash(leaves[index]), index, size, inclusion_path(loaded.node, index, size), tree.root())


def test_a_missing_tile_is_told_and_not_guessed() -> None:
    with pytest.raises(CheckpointRefused):
        root(Tiles({}).node, 5)
    with pytest.raises(CheckpointRefused):
        TileBuilder(5, {}).append(bytes(32))


@pytest.mark.parametrize(("index", "size"), [(5, 5), (-1, 5), (0, 0)])
def test_there_is_no_proof_for_a_leaf_that_is_not_there(index: int, size: int) -> None:
    with pytest.raises(ValueError, match="no leaf"):
        inclusion_path(Tiles({}).node, index, size)
    with pytest.raises(ValueError, match="no proof"):
        consistency_path(Tiles({}).node, size + 1, size)
    assert node_hash(b"a", b"b") == sha256(b"\x01ab").digest()
