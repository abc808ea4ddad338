"""Tiles and open intents follow from the rows. Are those in the database what the rows say?"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

import orjson

from gaby.audit.findings import Finding, FindingKind, VerificationReport
from gaby.audit.merkle import leaf_hash
from gaby.audit.source import DatabaseSource
from gaby.audit.store import store_tiles
from gaby.audit.tiles import WIDTH, TileCoordinate, tile_top
from gaby.kernel.database.raw_sql import SqlRunner
from gaby.kernel.ids import WorkspaceId


class _OpenIntent(NamedTuple):
    workspace_id: WorkspaceId
    seq: int
    event: str


def check_derived(source: DatabaseSource, report: VerificationReport) -> None:
    """Findings for tiles from which no proof would hold, and for intents that were hidden or invented."""
    for log in source.sizes():
        checkpoint = source.last_checkpoint(log.workspace_id)
        if checkpoint is not None and checkpoint.size <= log.size:
            _check_tiles(source, log.workspace_id, checkpoint.size, report)
    _check_intents(source, report)


def rebuild_tiles(source: DatabaseSource, sql: SqlRunner) -> int:
    """Make the tiles anew from the rows. The number of tiles written; the rows themselves are not judged here."""
    written = 0
    for log in source.sizes():
        checkpoint = source.last_checkpoint(log.workspace_id)
        size = min(checkpoint.size, log.size) if checkpoint is not None else 0
        # What the last rows of the log would need is added by the next checkpoint.
        tiles = list(_tiles_of(source.hashes(log.workspace_id, size)))
        store_tiles(sql, log.workspace_id, tiles)
        written += len(tiles)
    return written


def _check_tiles(source: DatabaseSource, workspace_id: WorkspaceId, size: int, report: VerificationReport) -> None:
    damaged = 0
    first: TileCoordinate | None = None
    for at, expected in _tiles_of(source.hashes(workspace_id, size)):
        stored = source.tiles(workspace_id, [at]).get(at, b"")
        # A tile may be ahead of the last checkpoint when a process was killed in between.
        if stored[: len(expected)] != expected:
            damaged += 1
            first = first or at
    if first is not None:
        text = (
            f"{damaged} tiles of the stored Merkle tree do not have the hashes of their rows, the first of them tile "
            f"{first.index} of level {first.level}: proofs made here would be refused. If the rows verify, "
            "`gaby audit rebuild-tree` makes it anew."
        )
        report.add(Finding(FindingKind.TREE_DAMAGED, text, workspace_id))


def _tiles_of(hashes: Iterable[bytes]) -> Iterator[tuple[TileCoordinate, bytes]]:
    """Every tile of a tree, each as soon as it is full; those at the right edge last. Keeps one tile of each level."""
    levels: list[list[bytes]] = []
    counts: list[int] = []
    for digest in hashes:
        node, level = leaf_hash(digest), 0
        while True:
            if level == len(levels):
                levels.append([])
                counts.append(0)
            levels[level].append(node)
            if len(levels[level]) < WIDTH:
                break
            tile = b"".join(levels[level])
            yield TileCoordinate(level, counts[level]), tile
            levels[level] = []
            counts[level] += 1
            node, level = tile_top(tile), level + 1
    for level, row in enumerate(levels):
        if row:
            yield TileCoordinate(level, counts[level]), b"".join(row)


def _check_intents(source: DatabaseSource, report: VerificationReport) -> None:
    opened: dict[tuple[WorkspaceId, UUID], _OpenIntent] = {}
    for row in source.intent_rows():
        if row.event.endswith(".intent"):
            opened[row.workspace_id, row.id] = _OpenIntent(row.workspace_id, row.seq, row.event)
        elif (intent := _intent_of(row.payload)) is not None:
            opened.pop((row.workspace_id, intent), None)
    listed = source.open_intents()
    for key, intent in opened.items():
        if listed.pop(key, None) != intent.seq:
            text = (
                f"Row {intent.seq} states {intent.event} and no row its outcome, but it is not listed as open: "
                "somebody took it off the list, so that nobody would ask how it ended. Find out whether it was done."
            )
            report.add(Finding(FindingKind.INTENT_MISSING, text, intent.workspace_id, intent.seq))
    for (workspace_id, intent_id), seq in listed.items():
        text = f"{intent_id} is listed as an open intent, but the rows know no such thing. Somebody put it there."
        report.add(Finding(FindingKind.INTENT_UNKNOWN, text, workspace_id, seq))


def _intent_of(payload: str) -> UUID | None:
    """Which intent an outcome closes. A row that was altered may say anything."""
    try:
        return UUID(orjson.loads(payload)["intent"])
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
        return None
