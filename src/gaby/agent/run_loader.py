"""Loading: a run as it stands, folded from all its transitions."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from gaby.agent.memory import MemoryDelta, WorkingMemory, unpack
from gaby.agent.models import Investigation, InvestigationTransition
from gaby.agent.states import Created, State
from gaby.kernel.crypto import SubjectSealer, Vault
from gaby.kernel.database import ReadSession
from gaby.tickets.intake import subject_of

_PAGE = 200


@dataclass(frozen=True)
class LoadedRun:
    state: State
    memory: WorkingMemory
    edges: int
    sealing: SubjectSealer


@dataclass(frozen=True)
class StoredTransition:
    """One edge of a run."""

    n: int
    at: datetime
    state: State
    delta: MemoryDelta


async def sealing_of(session: ReadSession, vault: Vault, run: Investigation) -> SubjectSealer:
    """With the key of its ticket, so that whoever forgets the ticket forgets what was found out for it."""
    return await vault.opening(session, subject_of(run.ticket_id), f"run:{run.id}")


async def load(session: ReadSession, vault: Vault, run: Investigation) -> LoadedRun:
    sealing = await sealing_of(session, vault, run)
    memory, state, edges = WorkingMemory(), _NEW, 0
    async for edge in edges_of(session, sealing, run):
        memory.add(edge.delta)
        state, edges = edge.state, edge.n
    return LoadedRun(state, memory, edges, sealing)


async def edges_of(session: ReadSession, sealing: SubjectSealer, run: Investigation) -> AsyncIterator[StoredTransition]:
    """In order. Nothing for a run that has not begun."""
    after = 0
    mine = (InvestigationTransition.workspace_id == session.workspace_id, InvestigationTransition.run_id == run.id)
    while after < run.edges:
        query = select(InvestigationTransition).where(*mine, InvestigationTransition.n > after)
        rows = (await session.scalars(query.order_by(InvestigationTransition.n).limit(_PAGE))).all()
        if not rows:
            return
        for row in rows:
            state, delta = unpack(sealing.open(row.delta))
            yield StoredTransition(row.n, row.at, state, delta)
            after = row.n


_NEW: State = Created()
