"""Checkpoints: every log that grew is signed, the system's log covers them all, and anchors leave the database."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest

from gaby.audit import (
    AnchorFile,
    Anchors,
    AnchorWebhook,
    Appender,
    AuditLog,
    AuditWouldWaitForItself,
    Checkpointer,
    CheckpointSchedule,
    CheckpointTaker,
    ConfiguredKey,
    KeyFile,
    Rotation,
    SigningKeyUnusable,
    check_consistency,
    check_inclusion,
    consistency_proof,
    inclusion_proof,
    verify_live,
)
from gaby.audit.anchors import anchor_line
from gaby.audit.signing_key import SigningKey, load
from gaby.audit.source import snapshot
from gaby.audit.statements import Anchor, sign_checkpoint
from gaby.kernel import failpoints
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.kernel.errors import Conflict, NotFound
from gaby.kernel.ids import SYSTEM, AuditRowId, IdFactory
from tests.audit.logs import ACME, BYTE
from tests.audit.tampering import tamper
from tests.audit.test_writer import stored
from tests.support.receiver import receiving

pytestmark = pytest.mark.promise("A3")

ACTOR = system_actor("test")


async def _append(audit: AuditLog, count: int) -> None:
    await asyncio.gather(*(audit.append(ACME if n % 3 else BYTE, ACTOR, "test.row", {"n": n}) for n in range(count)))


async def test_a_round_signs_what_grew_and_the_system_log_last(
    db: Database, audit: AuditLog, checkpointer: Checkpointer, anchor_file: AnchorFile, clock: ManualClock
) -> None:
    await _append(audit, 30)
    taken = await checkpointer.checkpoint()
    assert [(c.workspace_id, c.size) for c in taken.checkpoints] == [(ACME, 20), (BYTE, 10), (SYSTEM, 2)]
    assert [row.event for row in stored(db, SYSTEM)] == ["audit.checkpoint"] * 2
    clock.advance(timedelta(seconds=60))
    assert (await checkpointer.checkpoint()).checkpoints == []
    await audit.append(BYTE, ACTOR, "test.row", {})
    again = await checkpointer.checkpoint()
    assert [(c.workspace_id, c.size) for c in again.checkpoints] == [(BYTE, 11), (SYSTEM, 3)]
    assert len(anchor_file.path.read_bytes().splitlines()) == 2
    report = await verify_live(db, clock, anchors=anchor_file.path)
    assert report.findings == []
    assert (report.rows, report.unsigned_rows, report.anchors) == (34, 0, 2)


async def test_a_checkpoint_inside_a_transaction_is_refused_at_once(db: Database, checkpointer: Checkpointer) -> None:
    async with db.write(ACME):
        with pytest.raises(AuditWouldWaitForItself):
            await checkpointer.checkpoint()


async def test_a_quiet_log_has_a_heartbeat(
    db: Database, checkpointer: Checkpointer, anchor_file: AnchorFile, clock: ManualClock
) -> None:
    first = await checkpointer.checkpoint()
    assert [(c.workspace_id, c.size) for c in first.checkpoints] == [(SYSTEM, 0)]
    clock.advance(timedelta(minutes=14))
    assert (await checkpointer.checkpoint()).checkpoints == []
    clock.advance(timedelta(minutes=1))
    assert [c.size for c in (await checkpointer.checkpoint()).checkpoints] == [0]
    assert (await verify_live(db, clock, anchors=anchor_file.path)).ok


async def test_rows_wake_the_checkpointer_and_stopping_signs_the_rest(
    db: Database, audit: AuditLog, appender: Appender, clock: ManualClock, key_file: KeyFile, anchor_file: AnchorFile
) -> None:
    taker = CheckpointTaker(key_file, appender, clock)
    pace = CheckpointSchedule(rows=10, every=timedelta(hours=1))
    checkpointer = Checkpointer(db, taker, Anchors(anchor_file), clock, pace)
    audit.on_rows(checkpointer.grew)
    await checkpointer.start()
    await _append(audit, 12)
    for _ in range(200):
        with snapshot(db) as source:
            if source.last_checkpoint(ACME):
                break
        await asyncio.sleep(0.02)
    await _append(audit, 3)
    await checkpointer.stop()
    report = await verify_live(db, clock, anchors=anchor_file.path)
    assert report.ok
    assert report.unsigned_rows == 0
    assert report.checkpoints >= 5


async def test_a_checkpoint_that_fails_leaves_nothing_and_is_made_up_for(
    db: Database, audit: AuditLog, checkpointer: Checkpointer, clock: ManualClock, anchor_file: AnchorFile
) -> None:
    await _append(audit, 9)
    failpoints.configure("audit.before_checkpoint_commit=error@1")
    with pytest.raises(failpoints.FailpointError):
        await checkpointer.checkpoint()
    assert stored(db, SYSTEM) == []
    assert not anchor_file.path.exists()
    assert len((await checkpointer.checkpoint()).checkpoints) == 3
    assert (await verify_live(db, clock, anchors=anchor_file.path)).ok


async def test_two_checkpointers_do_not_disturb_each_other(
    db: Database, audit: AuditLog, clock: ManualClock, key_file: KeyFile, anchor_file: AnchorFile
) -> None:
    pair = [
        Checkpointer(
            db, CheckpointTaker(key_file, Appender(clock, IdFactory(clock)), clock), Anchors(anchor_file), clock
        )
        for _ in range(2)
    ]
    await pair[0].checkpoint()
    for _ in range(5):
        await _append(audit, 6)
        clock.advance(timedelta(seconds=1))
        await asyncio.gather(*(each.checkpoint() for each in pair))
    report = await verify_live(db, clock, anchors=anchor_file.path)
    assert report.findings == []
    assert report.unsigned_rows == 0


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_rows SET payload = '{}' WHERE seq = 12",
        "DELETE FROM audit_rows WHERE seq >= 5",
        "DELETE FROM audit_rows WHERE seq = 12",
        "UPDATE audit_rows SET event = 'x.y' WHERE seq = 14",
    ],
)
async def test_a_log_that_contradicts_itself_is_not_signed_again_but_the_others_are(
    db: Database, audit: AuditLog, checkpointer: Checkpointer, statement: str
) -> None:
    for n in range(15):
        await audit.append(ACME, ACTOR, "test.row", {"n": n})
        if n == 9:
            await checkpointer.checkpoint()
    tamper(db, statement)
    await audit.append(BYTE, ACTOR, "test.row", {})
    taken = await checkpointer.checkpoint()
    assert len(taken.refused) == 1
    assert str(ACME) in taken.refused[0].message
    assert [c.workspace_id for c in taken.checkpoints] == [BYTE, SYSTEM]


@pytest.mark.parametrize("damage", ["DELETE FROM audit_tiles", "UPDATE audit_tiles SET hashes = substr(hashes, 33)"])
async def test_damaged_tiles_are_built_again_from_the_rows(
    db: Database, audit: AuditLog, checkpointer: Checkpointer, clock: ManualClock, damage: str
) -> None:
    await _append(audit, 300)
    await checkpointer.checkpoint()
    tamper(db, damage)
    await _append(audit, 9)
    taken = await checkpointer.checkpoint()
    assert taken.refused == []
    assert (await verify_live(db, clock)).ok
    with snapshot(db) as source:
        row = stored(db, ACME)[3]
        assert check_inclusion(inclusion_proof(source, ACME, row.id)) == row


async def test_damaged_tiles_do_not_hide_damaged_rows(
    db: Database, audit: AuditLog, checkpointer: Checkpointer
) -> None:
    await _append(audit, 30)
    await checkpointer.checkpoint()
    tamper(db, "DELETE FROM audit_tiles", "UPDATE audit_rows SET payload = '{}' WHERE seq = 3")
    await audit.append(ACME, ACTOR, "test.row", {})
    (refused,) = (await checkpointer.checkpoint()).refused
    assert str(ACME) in refused.message


@pytest.mark.promise("A4")
async def test_proofs_come_from_the_database(
    db: Database, audit: AuditLog, checkpointer: Checkpointer, key_file: KeyFile
) -> None:
    await _append(audit, 400)
    await checkpointer.checkpoint()
    await _append(audit, 400)
    row = await audit.append(ACME, ACTOR, "test.row", {"n": "last"})
    with snapshot(db) as source, pytest.raises(Conflict, match="No checkpoint covers"):
        inclusion_proof(source, ACME, row.id)
    await checkpointer.checkpoint()
    trusted = key_file.current(None).id
    with snapshot(db) as source:
        for each in [*stored(db, ACME)[::97], row]:
            proof = inclusion_proof(source, ACME, each.id)
            assert check_inclusion(proof, trusted=trusted) == each
            assert len(proof) < 2048
        sizes = [checkpoint.size for checkpoint in source.checkpoints(ACME)]
        first, second = check_consistency(consistency_proof(source, ACME, *sizes), trusted=trusted)
        assert [first.size, second.size] == sizes
        with pytest.raises(NotFound):
            inclusion_proof(source, BYTE, row.id)
        with pytest.raises(NotFound):
            inclusion_proof(source, ACME, AuditRowId(SYSTEM))
        with pytest.raises(NotFound):
            consistency_proof(source, ACME, 5, 6)
        with pytest.raises(Conflict):
            consistency_proof(source, ACME, sizes[1], sizes[0])


async def test_a_new_key_takes_over_with_both_signatures(
    db: Database,
    audit: AuditLog,
    checkpointer: Checkpointer,
    appender: Appender,
    clock: ManualClock,
    key_file: KeyFile,
    anchor_file: AnchorFile,
    tmp_path: Path,
) -> None:
    await _append(audit, 5)
    await checkpointer.checkpoint()
    old = load(tmp_path / "keys" / "audit.pem")
    rotation = await Rotation(db, key_file, appender, clock).run(ACTOR)
    new = load(tmp_path / "keys" / "audit.pem")
    assert (rotation.old, rotation.new) == (old.public_key, new.public_key)
    assert stored(db, SYSTEM)[-1].event == "audit.key_rotated"
    await _append(audit, 5)
    await checkpointer.checkpoint()
    for trusted in (old.id, new.id):
        report = await verify_live(db, clock, anchors=anchor_file.path, trusted=trusted)
        assert report.findings == []
    assert report.key_ids == [old.id, new.id]


async def test_a_rotation_that_a_crash_interrupted_is_finished(
    db: Database, checkpointer: Checkpointer, appender: Appender, clock: ManualClock, key_file: KeyFile, tmp_path: Path
) -> None:
    await checkpointer.checkpoint()
    path = tmp_path / "keys" / "audit.pem"
    old = path.read_bytes()
    rotation = await Rotation(db, key_file, appender, clock).run(ACTOR)
    # As if the process had died after the log recorded the new key and before the file was replaced.
    path.replace(path.with_name("audit.pem.next"))
    path.write_bytes(old)
    path.chmod(0o600)
    await checkpointer.checkpoint()
    assert load(path).public_key == rotation.new


async def test_a_rotation_that_was_not_recorded_changes_nothing(
    db: Database, checkpointer: Checkpointer, appender: Appender, clock: ManualClock, key_file: KeyFile, tmp_path: Path
) -> None:
    await checkpointer.checkpoint()
    before = load(tmp_path / "keys" / "audit.pem").id
    failpoints.configure("audit.before_insert=error@1")
    with pytest.raises(failpoints.FailpointError):
        await Rotation(db, key_file, appender, clock).run(ACTOR)
    await checkpointer.checkpoint()
    assert load(tmp_path / "keys" / "audit.pem").id == before


async def test_another_key_does_not_sign_on(db: Database, checkpointer: Checkpointer, clock: ManualClock) -> None:
    await checkpointer.checkpoint()
    taker = CheckpointTaker(ConfiguredKey(SigningKey.generate()), Appender(clock, IdFactory(clock)), clock)
    with pytest.raises(SigningKeyUnusable, match="signed by key"):
        await Checkpointer(db, taker, Anchors(), clock).start()


def _anchor(size: int, second: int = 0) -> Anchor:
    key = SigningKey.generate()
    checkpoint = sign_checkpoint(key, SYSTEM, size, bytes(32), f"2030-01-01T00:00:{second:02}.000000Z")
    return Anchor(checkpoint=checkpoint, public_key=key.public_key)


async def test_a_line_torn_by_a_crash_is_dropped(anchor_file: AnchorFile) -> None:
    first, second = _anchor(1), _anchor(2)
    await anchor_file.store(first)
    with anchor_file.path.open("ab") as file:
        file.write(anchor_line(second)[:50])
    await anchor_file.store(second)
    assert anchor_file.path.read_bytes() == anchor_line(first) + anchor_line(second)


async def test_a_late_anchor_is_covered_by_a_newer_one_but_a_smaller_newer_one_tells(anchor_file: AnchorFile) -> None:
    newer, late, shrunk = _anchor(7, second=2), _anchor(5, second=1), _anchor(6, second=3)
    for anchor in (newer, late, shrunk):
        await anchor_file.store(anchor)
    assert anchor_file.path.read_bytes() == anchor_line(newer) + anchor_line(shrunk)


async def test_a_webhook_that_fails_is_asked_again_and_holds_nobody_up(anchor_file: AnchorFile) -> None:
    with receiving(503, 503) as siem:
        async with httpx2.AsyncClient() as client:
            anchors = Anchors(AnchorWebhook(siem.url, client), anchor_file)
            await anchors.publish(_anchor(1))
            await anchors.publish(_anchor(2))
            assert len(anchor_file.path.read_bytes().splitlines()) == 2
            assert siem.accepted == []
            await anchors.publish(_anchor(3))
    assert [json.loads(body)["checkpoint"]["size"] for body in siem.accepted] == [1, 2, 3]


async def test_an_anchor_file_that_cannot_be_written_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    anchors = Anchors(AnchorFile(tmp_path / "file" / "anchors.jsonl"))
    await anchors.publish(_anchor(1))
