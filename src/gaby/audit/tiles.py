"""Tiles: a tree's hashes kept 256 side by side, so that a proof over a million rows reads a handful of records."""

from collections.abc import Mapping
from dataclasses import dataclass

from gaby.audit.errors import CheckpointRefused
from gaby.audit.merkle import consistency_path, inclusion_path, leaf_hash, node_hash, root

HEIGHT = 8
WIDTH = 1 << HEIGHT
HASH = 32


@dataclass(frozen=True, order=True, slots=True)
class TileCoordinate:
    """A tile of level L holds the hashes of subtrees of 256**L leaves: the index-th run of 256 of them."""

    level: int
    index: int


class Tiles:
    """Subtree hashes out of tiles that somebody else loaded."""

    def __init__(self, tiles: Mapping[TileCoordinate, bytes]) -> None:
        self._tiles = tiles
        self._known: dict[tuple[int, int], bytes] = {}

    def node(self, level: int, index: int) -> bytes:
        tile_level, height = divmod(level, HEIGHT)
        if height == 0:
            tile = self._tiles.get(TileCoordinate(tile_level, index >> HEIGHT), b"")
            at = (index & WIDTH - 1) * HASH
            hash_at = tile[at : at + HASH]
            if len(hash_at) != HASH:
                raise CheckpointRefused(f"The Merkle tree lacks node {index} of level {level}.")
            return hash_at
        if (level, index) not in self._known:
            left, right = self.node(level - 1, 2 * index), self.node(level - 1, 2 * index + 1)
            self._known[level, index] = node_hash(left, right)
        return self._known[level, index]


class TileBuilder:
    """Extends tiles by new leaves and remembers which tiles changed."""

    def __init__(self, size: int, edge: Mapping[TileCoordinate, bytes]) -> None:
        self.size = size
        self.changed: dict[TileCoordinate, bytearray] = {}
        self._edge = edge

    def append(self, data: bytes) -> None:
        self._put(0, self.size, leaf_hash(data))
        self.size += 1

    def _put(self, level: int, index: int, node: bytes) -> None:
        at = TileCoordinate(level, index >> HEIGHT)
        tile = self.changed.get(at)
        if tile is None:
            tile = self.changed[at] = bytearray(self._edge.get(at, b""))
        # A tile may be ahead of the last checkpoint when a crash or a rolled-back checkpoint left it so.
        del tile[(index & WIDTH - 1) * HASH :]
        if len(tile) != (index & WIDTH - 1) * HASH:
            raise CheckpointRefused(f"The Merkle tree lacks hashes before node {index} of level {level}.")
        tile += node
        if len(tile) == WIDTH * HASH:
            self._put(level + 1, index >> HEIGHT, tile_top(bytes(tile)))


def edge(size: int) -> list[TileCoordinate]:
    """The tiles at the right edge of a tree of this size: what has to be loaded to make it grow."""
    coordinates: list[TileCoordinate] = []
    level = 0
    while size:
        if size & WIDTH - 1:
            coordinates.append(TileCoordinate(level, size >> HEIGHT))
        size >>= HEIGHT
        level += 1
    return coordinates


def for_inclusion(index: int, size: int) -> list[TileCoordinate]:
    needed = _TileRecorder()
    inclusion_path(needed.node, index, size)
    return sorted(needed.tiles)


def for_consistency(first: int, second: int) -> list[TileCoordinate]:
    needed = _TileRecorder()
    consistency_path(needed.node, first, second)
    return sorted(needed.tiles)


def has_root(tiles: Mapping[TileCoordinate, bytes], size: int, expected: bytes) -> bool:
    """Whether these tiles, which may be damaged or missing, are of a tree with this root."""
    try:
        return root(Tiles(tiles).node, size) == expected
    except CheckpointRefused:
        return False


class _TileRecorder:
    """Stands in for the nodes of a tree and writes down which tiles were asked for."""

    def __init__(self) -> None:
        self.tiles: set[TileCoordinate] = set()

    def node(self, level: int, index: int) -> bytes:
        tile_level, height = divmod(level, HEIGHT)
        self.tiles.add(TileCoordinate(tile_level, (index << height) >> HEIGHT))
        return b""


def tile_top(tile: bytes) -> bytes:
    row = [tile[at : at + HASH] for at in range(0, len(tile), HASH)]
    while len(row) > 1:
        row = [node_hash(row[at], row[at + 1]) for at in range(0, len(row), 2)]
    return row[0]
