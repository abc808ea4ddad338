"""The log of logs: every checkpoint of a workspace is also a row of the system's log. Do the two agree?"""

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from gaby.audit.statements import Checkpoint, understand
from gaby.kernel.ids import WorkspaceId

CHECKPOINT_EVENT = "audit.checkpoint"


def checkpoint_payload(checkpoint: Checkpoint) -> dict[str, Any]:
    """What the system's log records of a workspace's checkpoint."""
    return checkpoint.model_dump(mode="json")


@dataclass(slots=True)
class CheckpointTally:
    """A run of checkpoints, small however long: how many, how far, and a digest of them in order."""

    count: int = 0
    size: int = 0
    digest: bytes = field(default=b"")

    def add(self, checkpoint: Checkpoint) -> None:
        self.count += 1
        self.size = max(self.size, checkpoint.size)
        self.digest = sha256(self.digest + checkpoint.note + checkpoint.signature).digest()


class CrossLinks:
    def __init__(self) -> None:
        self.tallies: dict[WorkspaceId, CheckpointTally] = {}
        self.recorded: dict[WorkspaceId, CheckpointTally] = {}

    def find(self, checkpoint: Checkpoint) -> None:
        """A checkpoint among its workspace's rows."""
        self.tallies.setdefault(checkpoint.workspace_id, CheckpointTally()).add(checkpoint)

    def record(self, payload: Any) -> None:
        """A checkpoint that the system's log speaks of."""
        checkpoint = understand(Checkpoint, payload)
        self.recorded.setdefault(checkpoint.workspace_id, CheckpointTally()).add(checkpoint)
