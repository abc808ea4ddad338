"""A run that a worker holds, and its next transition."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gaby.agent.memory import MemoryDelta, WorkingMemory
from gaby.agent.persona import Persona
from gaby.agent.states import State
from gaby.agent.transitions import NOT_ENDED, Ending, Lease, TimelineStep
from gaby.kernel.crypto import SubjectSealer
from gaby.kernel.database.raw_sql import SqlStatement
from gaby.kernel.ids import RunId, WorkspaceId
from gaby.llm.results import SkillContext
from gaby.llm.untrusted_text import PromptRedactor
from gaby.safety import PERSONAL_KINDS, Reader
from gaby.tickets.intake import subject_of
from gaby.tickets.models import Ticket
from gaby.tools import Run
from gaby.tools.redacted_view import real_arguments
from gaby.usage.limits import SpendCap


@dataclass
class InvestigationContext:
    """Everything about one run that its worker holds in hand."""

    lease: Lease
    state: State
    memory: WorkingMemory
    edges: int
    sealing: SubjectSealer
    tools: Run
    persona: Persona
    cap: SpendCap
    """What models may cost in this run."""
    ticket: Ticket
    """As it was when the run was taken up, or looked at last."""
    created_at: datetime
    taken_up_at: float
    """When this worker began the present move, by a clock that nobody sets."""
    failures: int = 0
    """How often in a row it failed by itself."""
    halt: str | None = None
    fresh: bool = True
    """Nothing was done since it was taken up, so an action may have been cut off."""
    known_placeholders: int = 0
    instructed: bool = False
    """An operator's own instruction is carried out, with the operator's authority."""
    on_token: Callable[[str | None], None] | None = None
    """Hears the reply while it is written; None means that it begins anew."""

    @property
    def workspace_id(self) -> WorkspaceId:
        return self.lease.workspace_id

    @property
    def run_id(self) -> RunId:
        return self.lease.run_id

    @property
    def occasion(self) -> SkillContext:
        """For skills: what models see of outside texts is redacted with this run's placeholders."""
        subject = subject_of(self.ticket.id)
        return SkillContext(
            self.workspace_id, self.run_id, PromptRedactor(self.conceal, self.redact_own), self.reveal, subject
        )

    def reveal(self, value: Any) -> Any:
        return real_arguments(value, self.tools)

    def restored(self, text: str, reader: Reader) -> str:
        """The text with personal values put back for whoever may read them. Secrets stay hidden from everybody."""
        reading = self.tools.ledger.reading
        return self.tools.placeholders.restore(
            text,
            allow=PERSONAL_KINDS,
            may_read=lambda value: not reading.disclosures(value, reader),
            hidden="(hidden)",
        )

    def conceal(self, text: str) -> str:
        return self.tools.redactor.redact(text, self.tools.placeholders, from_outside=True).text

    def redact_own(self, text: str) -> str:
        """The same for what Gaby writes: placeholders in it are its own."""
        return self.tools.redactor.redact(text, self.tools.placeholders).text


@dataclass(frozen=True)
class NextTransition:
    state: State
    steps: tuple[TimelineStep, ...]
    delta: MemoryDelta = field(default_factory=MemoryDelta)
    rest_until: datetime | None = None
    """Nothing to do before that: the lease is given back."""
    ending: Ending = NOT_ENDED
    also: tuple[SqlStatement, ...] = ()
    audit: dict[str, Any] = field(default_factory=dict[str, Any])
    """More for the row of the audit log."""
