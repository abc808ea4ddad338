"""An audit log on a real database of each engine."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from gaby.audit import (
    AnchorFile,
    Anchors,
    Appender,
    AuditLog,
    Checkpointer,
    CheckpointSchedule,
    CheckpointTaker,
    KeyFile,
)
from gaby.kernel import failpoints
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.kernel.ids import IdFactory


@pytest.fixture
def appender(clock: ManualClock, ids: IdFactory) -> Appender:
    return Appender(clock, ids)


@pytest.fixture
async def audit(db: Database, appender: Appender) -> AsyncGenerator[AuditLog]:
    log = AuditLog(db, appender)
    db.on_events(log.record)
    yield log
    failpoints.configure(None)
    await log.stop()


@pytest.fixture
def key_file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "keys" / "audit.pem")


@pytest.fixture
def anchor_file(tmp_path: Path) -> AnchorFile:
    return AnchorFile(tmp_path / "elsewhere" / "anchors.jsonl")


@pytest.fixture
def checkpointer(
    db: Database, appender: Appender, clock: ManualClock, key_file: KeyFile, anchor_file: AnchorFile
) -> Checkpointer:
    return Checkpointer(
        db, CheckpointTaker(key_file, appender, clock), Anchors(anchor_file), clock, CheckpointSchedule()
    )
