"""What the verifier once passed over in silence: each has its name, and its benign twin has none."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from gaby.audit import (
    AnchorFile,
    Anchors,
    Appender,
    AuditLog,
    Checkpointer,
    CheckpointTaker,
    ExternalEvidence,
    FindingKind,
    KeyFile,
    PinFile,
    Rotation,
    VerificationReport,
    export_to,
    snapshot,
    verify_file,
    verify_live,
)
from gaby.audit.anchor_comparison import ANCHORS_RESTARTED_EVENT
from gaby.audit.derived_checks import rebuild_tiles
from gaby.audit.rows import LogHead, RowDraft, chain, timestamp
from gaby.audit.source import DatabaseSource
from gaby.audit.store import insert_rows
from gaby.audit.transactions import in_transaction
from gaby.audit.verify import VerificationTargets
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.kernel.database.raw_sql import Connection, SqlRunner
from gaby.kernel.ids import SYSTEM, IdFactory
from tests.audit.logs import ACME, BYTE, names, places_of
from tests.audit.tampering import tamper

pytestmark = pytest.mark.promise("A3", "A4")

ACTOR = system_actor("test")


@pytest.fixture
def pins(anchor_file: AnchorFile) -> PinFile:
    return PinFile(anchor_file.path)


@pytest.fixture
def signing(
    db: Database, appender: Appender, clock: ManualClock, key_file: KeyFile, anchor_file: AnchorFile, pins: PinFile
) -> Checkpointer:
    return Checkpointer(db, CheckpointTaker(key_file, appender, clock), Anchors(anchor_file), clock, pins=pins)


@pytest.fixture
async def filled(db: Database, audit: AuditLog, signing: Checkpointer, clock: ManualClock) -> Database:
    for _ in range(3):
        await asyncio.gather(*(audit.append(ACME if n % 2 else BYTE, ACTOR, "test.row", {"n": n}) for n in range(20)))
        await signing.checkpoint()
        clock.advance(timedelta(minutes=5))
    return db


async def verified(db: Database, clock: ManualClock, anchor_file: AnchorFile) -> VerificationReport:
    outside = ExternalEvidence(pins=PinFile(anchor_file.path))
    return await verify_live(db, clock, anchors=anchor_file.path, outside=outside)


async def forge_row(db: Database, clock: ManualClock, ahead: timedelta) -> None:
    """With the right number, chain and hash, as whoever may write to the database can make it."""

    def forge(connection: Connection) -> None:
        with snapshot(db) as source:
            *_, last = source.rows(ACME)
        heads = {ACME: LogHead(last.seq + 1, last.hash, last.ts)}
        draft = RowDraft(ACME, "user", "mallory", "person.invited", "{}")
        rows = chain([draft], heads, now=timestamp(clock.now() + ahead), first_id=uuid4())
        insert_rows(SqlRunner(connection, db.dialect), rows)

    await in_transaction(db, forge)


async def test_the_untouched_log_is_whole(filled: Database, clock: ManualClock, anchor_file: AnchorFile) -> None:
    assert (await verified(filled, clock, anchor_file)).findings == []


@pytest.mark.parametrize("ahead", [timedelta(minutes=6), timedelta(days=1), timedelta(days=365 * 900)])
async def test_a_forged_last_row_with_a_future_date_is_found(
    filled: Database, clock: ManualClock, tmp_path: Path, ahead: timedelta
) -> None:
    size = 30
    await forge_row(filled, clock, ahead)
    assert places_of(await verify_live(filled, clock), FindingKind.TIME_AHEAD) == {(ACME, size)}
    await asyncio.to_thread(export_to, tmp_path / "all.jsonl", filled, clock)
    assert places_of(verify_file(tmp_path / "all.jsonl"), FindingKind.TIME_AHEAD) == {(ACME, size)}


async def test_a_future_date_is_found_also_once_it_is_signed_and_followed(
    filled: Database, clock: ManualClock, signing: Checkpointer, audit: AuditLog
) -> None:
    await forge_row(filled, clock, timedelta(days=1))
    await audit.append(ACME, ACTOR, "test.row", {})
    await signing.checkpoint()
    report = await verify_live(filled, clock)
    assert places_of(report, FindingKind.TIME_AHEAD) == {(ACME, 30)}
    clock.advance(timedelta(days=2))
    assert "time_ahead" not in names(await verify_live(filled, clock))


async def test_clocks_that_differ_a_little_are_no_finding(filled: Database, clock: ManualClock) -> None:
    await forge_row(filled, clock, timedelta(minutes=4))
    assert "time_ahead" not in names(await verify_live(filled, clock))


async def test_an_export_cannot_postdate_itself_to_hide_such_a_row(
    filled: Database, clock: ManualClock, tmp_path: Path
) -> None:
    now = timestamp(clock.now())
    await forge_row(filled, clock, timedelta(days=1))
    later = ManualClock(clock.now() + timedelta(days=2))
    await asyncio.to_thread(export_to, tmp_path / "all.jsonl", filled, later)
    report = verify_file(tmp_path / "all.jsonl", expected=VerificationTargets(now=now))
    assert places_of(report, FindingKind.TIME_AHEAD) == {(None, None), (ACME, 30)}


def _remove(path: Path) -> None:
    path.unlink()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _cut_the_end(path: Path) -> None:
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])


def _cut_the_start(path: Path) -> None:
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[-1])


def _tear(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:40])


@pytest.mark.parametrize("change", [_remove, _empty, _cut_the_end, _cut_the_start, _tear])
async def test_anchors_that_are_missing_or_cut_are_found(
    filled: Database, clock: ManualClock, anchor_file: AnchorFile, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    change(anchor_file.path)
    report = await verified(filled, clock, anchor_file)
    assert names(report) == {"anchors_missing"}
    assert "gaby audit restart-anchors" in report.findings[0].text
    if anchor_file.path.exists():
        await asyncio.to_thread(export_to, tmp_path / "all.jsonl", filled, clock)
        assert names(verify_file(tmp_path / "all.jsonl", anchors=anchor_file.path)) == {"anchors_missing"}


async def test_a_new_file_in_the_place_of_the_old_is_found_also_when_it_grows(
    filled: Database, clock: ManualClock, anchor_file: AnchorFile, signing: Checkpointer, audit: AuditLog
) -> None:
    anchor_file.path.unlink()
    for _ in range(2):
        await audit.append(ACME, ACTOR, "test.row", {})
        await signing.checkpoint()
        clock.advance(timedelta(minutes=5))
        assert names(await verified(filled, clock, anchor_file)) == {"anchors_missing"}


async def test_anchors_that_begin_anew_with_a_reason_in_the_log_are_good(
    filled: Database, clock: ManualClock, anchor_file: AnchorFile, signing: Checkpointer, audit: AuditLog
) -> None:
    anchor_file.path.unlink()
    await audit.append(SYSTEM, ACTOR, ANCHORS_RESTARTED_EVENT, {"reason": "the disk broke", "kept_as": None})
    await signing.checkpoint()
    clock.advance(timedelta(minutes=5))
    assert (await verified(filled, clock, anchor_file)).findings == []
    # The reason stands for one beginning, not for every later one.
    await audit.append(ACME, ACTOR, "test.row", {})
    await signing.checkpoint()
    _cut_the_start(anchor_file.path)
    assert names(await verified(filled, clock, anchor_file)) == {"anchors_missing"}


async def test_a_log_that_nobody_signed_yet_needs_no_anchors(
    db: Database, audit: AuditLog, clock: ManualClock, anchor_file: AnchorFile
) -> None:
    await audit.append(ACME, ACTOR, "test.row", {})
    assert (await verified(db, clock, anchor_file)).findings == []


async def test_every_process_that_signs_keeps_what_another_one_signed(
    filled: Database,
    appender: Appender,
    clock: ManualClock,
    key_file: KeyFile,
    tmp_path: Path,
    audit: AuditLog,
    signing: Checkpointer,
) -> None:
    other_file = AnchorFile(tmp_path / "other" / "anchors.jsonl")
    other = Checkpointer(filled, CheckpointTaker(key_file, appender, clock), Anchors(other_file), clock)
    await other.checkpoint()
    clock.advance(timedelta(seconds=30))
    await audit.append(ACME, ACTOR, "test.row", {})
    await signing.checkpoint()
    await other.checkpoint()
    assert len(other_file.path.read_bytes().splitlines()) == 2


TILES = {
    "a hash in it": "UPDATE audit_tiles SET hashes = {bytes} WHERE workspace_id = '{acme}' AND level = 0",
    "gone": "DELETE FROM audit_tiles WHERE workspace_id = '{acme}'",
    "empty": "UPDATE audit_tiles SET hashes = {empty} WHERE workspace_id = '{acme}'",
    "moved": "UPDATE audit_tiles SET idx = 7 WHERE workspace_id = '{acme}' AND level = 0",
}


@pytest.mark.parametrize("statement", TILES.values(), ids=TILES.keys())
async def test_tiles_that_are_not_those_of_the_rows_are_found_and_can_be_made_anew(
    filled: Database, clock: ManualClock, anchor_file: AnchorFile, statement: str
) -> None:
    quoted = ("x'{}'" if filled.dialect == "sqlite" else "'\\x{}'::bytea").format
    tamper(filled, statement.format(acme=ACME.hex, bytes=quoted("00" * 32 * 30), empty=quoted("")))
    report = await verified(filled, clock, anchor_file)
    assert places_of(report, FindingKind.TREE_DAMAGED) == {(ACME, None)}
    assert names(report) == {"tree_damaged"}
    await in_transaction(filled, lambda connection: _rebuild(filled, connection))
    assert (await verified(filled, clock, anchor_file)).findings == []


def _rebuild(db: Database, connection: Connection) -> int:
    return rebuild_tiles(DatabaseSource(connection, db.dialect), SqlRunner(connection, db.dialect))


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_full_tiles_and_those_above_them_are_looked_at_too(
    db: Database, audit: AuditLog, signing: Checkpointer, clock: ManualClock
) -> None:
    await asyncio.gather(*(audit.append(ACME, ACTOR, "test.row", {"n": n}) for n in range(600)))
    await signing.checkpoint()
    assert (await verify_live(db, clock)).findings == []
    for level, index in ((0, 0), (0, 1), (0, 2), (1, 0)):
        kept = tiles(db)
        damage = "UPDATE audit_tiles SET hashes = zeroblob(8192) WHERE level = {} AND idx = {}"
        tamper(db, damage.format(level, index))
        assert "tree_damaged" in names(await verify_live(db, clock)), (level, index)
        await in_transaction(db, lambda connection: _rebuild(db, connection))
        assert tiles(db) == kept


def tiles(db: Database) -> list[tuple[object, ...]]:
    connection = db.raw_connection()
    try:
        return SqlRunner(connection, db.dialect).all("SELECT * FROM audit_tiles ORDER BY workspace_id, level, idx")
    finally:
        connection.close()


async def test_an_open_intent_that_was_taken_off_the_list_is_found(
    filled: Database, audit: AuditLog, clock: ManualClock
) -> None:
    async with audit.effect(ACTOR, "tool.call", {"tool": "refund"}, workspace_id=ACME) as done:
        done.succeeded()
    began = asyncio.Event()

    async def act() -> None:
        async with audit.effect(ACTOR, "tool.call", {"tool": "refund"}, workspace_id=ACME):
            began.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(act())
    await began.wait()
    seq = 32
    assert "intent_missing" not in names(await verify_live(filled, clock))
    tamper(filled, "DELETE FROM audit_intents")
    report = await verify_live(filled, clock)
    assert places_of(report, FindingKind.INTENT_MISSING) == {(ACME, seq)}
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert "intent_missing" not in names(await verify_live(filled, clock))


async def test_an_intent_that_no_row_states_is_found(filled: Database, clock: ManualClock) -> None:
    invent = "INSERT INTO audit_intents (workspace_id, id, seq) VALUES ('{}', '{}', 3)"
    tamper(filled, invent.format(ACME.hex, uuid4().hex))
    assert places_of(await verify_live(filled, clock), FindingKind.INTENT_UNKNOWN) == {(ACME, 3)}


async def signed_anew(
    db: Database, clock: ManualClock, ids: IdFactory, key_file: KeyFile, anchors: Path
) -> Checkpointer:
    """All keys, checkpoints and anchors are replaced by those of another key; the rows stay as they are."""
    for statement in (
        "DELETE FROM audit_keys",
        "DELETE FROM audit_checkpoints",
        "DELETE FROM audit_tiles",
        "DELETE FROM audit_rows WHERE workspace_id = '{system}'",
    ):
        tamper(db, statement.format(system=SYSTEM.hex))
    await asyncio.to_thread(anchors.unlink)
    taker = CheckpointTaker(key_file, Appender(clock, ids), clock)
    forger = Checkpointer(db, taker, Anchors(AnchorFile(anchors)), clock, pins=PinFile(anchors))
    await forger.checkpoint()
    return forger


async def test_a_log_signed_anew_by_another_key_is_told_by_the_pinned_one(
    filled: Database, clock: ManualClock, ids: IdFactory, anchor_file: AnchorFile, pins: PinFile, tmp_path: Path
) -> None:
    pinned = pins.path.read_bytes()
    await signed_anew(filled, clock, ids, KeyFile(tmp_path / "forged.pem"), anchor_file.path)
    assert (await verify_live(filled, clock, anchors=anchor_file.path)).ok
    report = await verified(filled, clock, anchor_file)
    assert names(report) == {"key_unknown"}
    assert pins.path.read_bytes() == pinned
    # Also from a copy of the pins, on an export.
    await asyncio.to_thread(export_to, tmp_path / "all.jsonl", filled, clock)
    expected = VerificationTargets(pins=pins.load())
    assert names(verify_file(tmp_path / "all.jsonl", anchors=anchor_file.path, expected=expected)) == {"key_unknown"}
    # Without the pins it is told that they are missing, and nothing is pinned behind one's back.
    pins.path.unlink()
    assert names(await verified(filled, clock, anchor_file)) == {"key_unpinned"}
    assert not pins.path.exists()


async def test_a_key_that_took_over_properly_is_pinned_and_the_old_one_alone_no_longer_passes(
    filled: Database,
    clock: ManualClock,
    ids: IdFactory,
    key_file: KeyFile,
    anchor_file: AnchorFile,
    pins: PinFile,
    appender: Appender,
    signing: Checkpointer,
    tmp_path: Path,
) -> None:
    retired = (tmp_path / "keys" / "audit.pem").read_bytes()
    await Rotation(filled, key_file, appender, clock).run(ACTOR)
    await signing.checkpoint()
    assert (await verified(filled, clock, anchor_file)).findings == []
    loaded = pins.load()
    assert loaded is not None
    assert len(loaded.keys) == 2
    # Somebody who stole the retired key writes the log again as it was before the new key came.
    stolen = tmp_path / "stolen.pem"
    stolen.write_bytes(retired)
    stolen.chmod(0o600)
    await signed_anew(filled, clock, ids, KeyFile(stolen), anchor_file.path)
    assert "key_unknown" in names(await verified(filled, clock, anchor_file))


@pytest.mark.parametrize("content", [b"", b"{}", b"null\n", b"\xff", b'{"format":"gaby audit keys v1","keys":[]}\n'])
async def test_damaged_pins_are_a_finding_and_stay_as_they_are(
    filled: Database, clock: ManualClock, anchor_file: AnchorFile, pins: PinFile, signing: Checkpointer, content: bytes
) -> None:
    pins.path.write_bytes(content)
    assert names(await verified(filled, clock, anchor_file)) == {"malformed"}
    clock.advance(timedelta(hours=1))
    await signing.checkpoint()
    assert pins.path.read_bytes() == content
