"""Takes checkpoints in the background: after enough rows, after some time, and as a heartbeat when nothing happens."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from gaby.audit.anchors import Anchors
from gaby.audit.checkpoints import CheckpointRound, CheckpointTaker
from gaby.audit.key_pins import PinFile
from gaby.audit.statements import Anchor, KeyEntry
from gaby.audit.transactions import in_transaction
from gaby.audit.witness_client import Witnesses
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.errors import GabyError
from gaby.kernel.ids import SYSTEM
from gaby.kernel.log import get_log

_log = get_log(__name__)


@dataclass(frozen=True)
class CheckpointSchedule:
    rows: int = 256
    every: timedelta = timedelta(seconds=60)
    heartbeat: timedelta = timedelta(minutes=15)


class Checkpointer:
    def __init__(
        self,
        db: Database,
        taker: CheckpointTaker,
        anchors: Anchors,
        clock: Clock,
        pace: CheckpointSchedule | None = None,
        *,
        pins: PinFile | None = None,
        witnesses: Witnesses | None = None,
    ) -> None:
        self._db = db
        self._taker = taker
        self._anchors = anchors
        self._clock = clock
        self._pace = pace or CheckpointSchedule()
        self._pins = pins
        self._witnesses = witnesses
        self._unwitnessed: bytes | None = None
        self._published: Anchor | None = None
        self._new_rows = 0
        self._due = asyncio.Event()
        self._beat = float("-inf")
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def grew(self, rows: int) -> None:
        """Listens to `AuditLog.on_rows`."""
        self._new_rows += rows
        if self._new_rows >= self._pace.rows:
            self._due.set()

    @property
    def has_news(self) -> bool:
        """Whether rows were added here that are not signed yet."""
        return self._new_rows > 0

    async def start(self) -> None:
        """Takes the first checkpoint at once, so that a key or database that cannot be used is seen at the start."""
        await self.checkpoint()
        self._task = asyncio.create_task(self._run(), name="audit checkpoints")
        self._task.add_done_callback(_ended)

    async def stop(self) -> None:
        """Takes a last checkpoint, then ends. Call it after `AuditLog.stop`."""
        self._stopping = True
        self._due.set()
        if self._task is not None:
            await self._task
            self._task = None

    async def checkpoint(self) -> CheckpointRound:
        """Sign what grew, and the system's log when its heartbeat is due."""
        self._new_rows = 0
        now = self._clock.monotonic()
        heartbeat = now - self._beat >= self._pace.heartbeat.total_seconds()
        checkpoint_round = await in_transaction(
            self._db,
            lambda connection: self._taker.take(connection, self._db.dialect, heartbeat=heartbeat),
        )
        for refused in checkpoint_round.refused:
            _log.error("audit.checkpoint_refused", error=refused.message)
        self._unwitnessed = checkpoint_round.note or self._unwitnessed
        if any(checkpoint.workspace_id == SYSTEM for checkpoint in checkpoint_round.checkpoints):
            self._beat = now
        # Also what another process took, so that the anchors of every machine reach as far as the log.
        if checkpoint_round.anchor is not None and checkpoint_round.anchor != self._published:
            if self._pins is not None:
                await self._pin(self._pins, checkpoint_round.keys)
            await self._anchors.publish(checkpoint_round.anchor)
            self._published = checkpoint_round.anchor
        return checkpoint_round

    async def send_to_witnesses(self) -> None:
        """What they have not signed yet. Apart from signing, since a witness that is down takes its time."""
        note = self._unwitnessed
        if note is None or self._witnesses is None:
            return
        if await self._witnesses.submit(note) and self._unwitnessed is note:
            self._unwitnessed = None

    @property
    def is_running(self) -> bool:
        """Whether this process signs, and so keeps anchors, by itself."""
        return self._task is not None

    async def _pin(self, pins: PinFile, keys: list[KeyEntry]) -> None:
        try:
            await asyncio.to_thread(pins.follow, keys)
        except OSError as error:
            _log.warning("audit.key_not_pinned", error=repr(error))

    async def _run(self) -> None:
        await self.send_to_witnesses()
        while not self._stopping:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._due.wait(), self._pace.every.total_seconds())
            self._due.clear()
            try:
                await self.checkpoint()
                await self.send_to_witnesses()
            except (GabyError, *self._db.engine.driver_errors) as error:
                _log.error("audit.checkpoint_failed", error=repr(error))


def _ended(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("audit.checkpoints_ended", error=repr(error), exc_info=error)
