"""The trace of a model call: what was asked and answered in one attempt, and what came of it.

Recording never fails and never waits: an answer is worth more than its trace.
"""

from dataclasses import dataclass
from typing import Protocol

from gaby.kernel.ids import ModelCallId, WorkspaceId
from gaby.llm.messages import ModelRequest, ModelResponse

ANSWERED = "answered"
CANCELLED = "cancelled"


@dataclass(frozen=True)
class CallTrace:
    call_id: ModelCallId
    workspace_id: WorkspaceId
    subject: str | None
    """Whose key it is sealed with; None for the workspace's."""
    request: ModelRequest
    """As the model saw it: redacted."""
    outcome: str
    """`answered`, `unacceptable`, `refusal`, `cancelled`, or the code of the error."""
    answer: ModelResponse | None = None
    problem: str | None = None
    """What was wrong with the answer, as the model was told, or why there was none."""


class TraceStore(Protocol):
    def record(self, trace: CallTrace) -> None:
        """Stores it soon. Never raises."""
        ...


class NoTraces:
    def record(self, trace: CallTrace) -> None:
        pass


NO_TRACES: TraceStore = NoTraces()
