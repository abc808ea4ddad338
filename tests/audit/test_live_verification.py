"""The running database: whatever somebody with all rights does to it, the daily verification finds and names."""

import asyncio
import shutil
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from gaby.audit import (
    AnchorFile,
    AuditLog,
    Checkpointer,
    FindingKind,
    KeyFile,
    VerificationReport,
    export_to,
    snapshot,
    verify_file,
    verify_live,
)
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database, open_database
from gaby.kernel.database.faults import DatabaseUnavailable
from gaby.kernel.database.sqlite import SqliteEngine
from gaby.kernel.metrics import Metrics
from tests.audit.logs import ACME, BYTE, names, places_of
from tests.audit.tampering import owner_connection, tamper

pytestmark = pytest.mark.promise("A3", "A4")

ACTOR = system_actor("test")


@pytest.fixture
async def filled(db: Database, audit: AuditLog, checkpointer: Checkpointer) -> Database:
    for _ in range(2):
        await asyncio.gather(*(audit.append(ACME if n % 2 else BYTE, ACTOR, "test.row", {"n": n}) for n in range(40)))
        await checkpointer.checkpoint()
    return db


async def test_a_whole_log_is_good_and_the_gauge_says_so(
    filled: Database, clock: ManualClock, anchor_file: AnchorFile, key_file: KeyFile
) -> None:
    metrics = Metrics(CollectorRegistry())
    trusted = key_file.current(None).id
    report = await verify_live(filled, clock, anchors=anchor_file.path, trusted=trusted, metrics=metrics)
    assert report.findings == []
    assert metrics.registry.get_sample_value("gaby_audit_verified") == 1


@pytest.mark.parametrize(
    ("statement", "kind", "seq"),
    [
        ("UPDATE audit_rows SET payload = '{{}}' WHERE workspace_id = '{acme}' AND seq = 7", "row_altered", 7),
        ("UPDATE audit_rows SET payload = 'no json' WHERE workspace_id = '{acme}' AND seq = 7", "row_altered", 7),
        ("UPDATE audit_rows SET actor_id = 'mallory' WHERE workspace_id = '{acme}' AND seq = 0", "row_altered", 0),
        ("UPDATE audit_rows SET event = 'a\"b' WHERE workspace_id = '{acme}' AND seq = 1", "row_altered", 1),
        ("UPDATE audit_rows SET ts = 'yesterday' WHERE workspace_id = '{acme}' AND seq = 1", "row_altered", 1),
        ("DELETE FROM audit_rows WHERE workspace_id = '{acme}' AND seq = 7", "row_missing", 7),
        ("DELETE FROM audit_rows WHERE workspace_id = '{acme}' AND seq > 30", "tail_missing", 31),
        ("DELETE FROM audit_rows WHERE workspace_id = '{acme}'", "tail_missing", 0),
        (
            "UPDATE audit_rows SET seq = CASE seq WHEN 7 THEN 1000 ELSE 7 END WHERE workspace_id = '{acme}' "
            "AND seq IN (7)",
            "row_altered",
            None,
        ),
        (
            "UPDATE audit_rows SET workspace_id = '{byte}', seq = 40 WHERE workspace_id = '{acme}' AND seq = 39",
            "row_altered",
            None,
        ),
        (
            "UPDATE audit_checkpoints SET size = 19 WHERE size = 20 AND workspace_id = '{acme}'",
            "checkpoint_forged",
            None,
        ),
        ("DELETE FROM audit_checkpoints WHERE size = 20 AND workspace_id = '{acme}'", "checkpoint_missing", None),
    ],
)
async def test_what_was_done_to_the_database_is_named(
    filled: Database, clock: ManualClock, statement: str, kind: str, seq: int | None
) -> None:
    tamper(filled, statement.format(acme=ACME.hex, byte=BYTE.hex))
    metrics = Metrics(CollectorRegistry())
    report = await verify_live(filled, clock, metrics=metrics)
    assert kind in names(report), report.findings
    if seq is not None:
        assert (ACME, seq) in places_of(report, FindingKind(kind))
    assert metrics.registry.get_sample_value("gaby_audit_verified") == 0


async def test_a_workspace_erased_with_its_checkpoints_is_missed(filled: Database, clock: ManualClock) -> None:
    for statement in (
        "DELETE FROM audit_rows WHERE workspace_id = '{acme}'",
        "DELETE FROM audit_checkpoints WHERE workspace_id = '{acme}'",
    ):
        tamper(filled, statement.format(acme=ACME.hex))
    assert places_of(await verify_live(filled, clock), FindingKind.WORKSPACE_MISSING) == {(ACME, None)}


async def test_an_old_backup_put_back_is_found_by_the_anchors(
    filled: Database, audit: AuditLog, checkpointer: Checkpointer, clock: ManualClock, anchor_file: AnchorFile
) -> None:
    backup = _sizes(filled)
    await audit.append(ACME, ACTOR, "test.row", {})
    await checkpointer.checkpoint()
    assert (await _verified(filled, clock, anchor_file)).ok
    for statement in (
        "DELETE FROM audit_rows WHERE workspace_id = '{workspace}' AND seq >= {size}",
        "DELETE FROM audit_checkpoints WHERE workspace_id = '{workspace}' AND size > {size}",
    ):
        tamper(filled, *(statement.format(workspace=workspace, size=size) for workspace, size in backup))
    assert (await verify_live(filled, clock)).ok
    assert names(await _verified(filled, clock, anchor_file)) == {"rolled_back"}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_an_old_database_file_put_back_is_found_by_the_anchors(
    filled: Database,
    audit: AuditLog,
    checkpointer: Checkpointer,
    clock: ManualClock,
    anchor_file: AnchorFile,
    tmp_path: Path,
) -> None:
    assert isinstance(filled.engine, SqliteEngine)
    with owner_connection(filled) as connection:
        connection.execute(f"VACUUM INTO '{tmp_path / 'backup.db'}'")
    await audit.append(BYTE, ACTOR, "test.row", {})
    await checkpointer.checkpoint()
    await audit.stop()
    await filled.close()
    for leftover in filled.engine.path.parent.glob("gaby.db-*"):
        leftover.unlink()
    shutil.copyfile(tmp_path / "backup.db", filled.engine.path)
    assert names(await _verified(filled, clock, anchor_file)) == {"rolled_back"}


async def test_an_export_of_the_database_is_verified_offline(
    filled: Database, clock: ManualClock, anchor_file: AnchorFile, tmp_path: Path
) -> None:
    await asyncio.to_thread(export_to, tmp_path / "all.jsonl", filled, clock)
    report = verify_file(tmp_path / "all.jsonl", anchors=anchor_file.path)
    assert report.findings == []
    assert report.rows == 80 + 4
    await asyncio.to_thread(export_to, tmp_path / "one.jsonl", filled, clock, only=ACME)
    assert verify_file(tmp_path / "one.jsonl").rows == 40


async def _verified(db: Database, clock: ManualClock, anchor_file: AnchorFile) -> VerificationReport:
    return await verify_live(db, clock, anchors=anchor_file.path)


def _sizes(db: Database) -> list[tuple[str, int]]:
    with snapshot(db) as source:
        return [(log.workspace_id.hex, log.size) for log in source.sizes()]


async def test_a_database_that_is_gone_is_said_to_be_unavailable() -> None:
    nowhere = open_database("postgresql://postgres@127.0.0.1:1/nothing")
    with pytest.raises(DatabaseUnavailable), snapshot(nowhere):
        pass
