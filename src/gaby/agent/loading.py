"""Loading: a run as it stands, folded out of all the edges it took."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from gaby.agent.memory import Delta, Memory, unpack
from gaby.agent.models import InvestigationEdge
from gaby.agent.states import Created, State
from gaby.kernel.crypto import CannotOpen, Vault
from gaby.kernel.database import ReadSession
from gaby.kernel.ids import RunId

PURPOSE = "run"
_PAGE = 200


@dataclass(frozen=True)
class Loaded:
    state: State
    memory: Memory
    edges: int


@dataclass(frozen=True)
class Taken:
    """One edge of a run."""

    n: int
    at: datetime
    state: State
    delta: Delta


def subject(run_id: RunId) -> str:
    return f"run:{run_id}"


async def load(session: ReadSession, vault: Vault, run_id: RunId) -> Loaded:
    memory, state, edges = Memory(), _NEW, 0
    async for edge in edges_of(session, vault, run_id):
        memory.add(edge.delta)
        state, edges = edge.state, edge.n
    return Loaded(state, memory, edges)


async def edges_of(session: ReadSession, vault: Vault, run_id: RunId) -> AsyncIterator[Taken]:
    """In order. Nothing for a run that has not begun."""
    try:
        sealing = await vault.opening(session, subject(run_id), PURPOSE)
    except CannotOpen:
        return
    after = 0
    mine = (InvestigationEdge.workspace_id == session.workspace_id, InvestigationEdge.run_id == run_id)
    while True:
        query = select(InvestigationEdge).where(*mine, InvestigationEdge.n > after)
        rows = (await session.scalars(query.order_by(InvestigationEdge.n).limit(_PAGE))).all()
        for row in rows:
            state, delta = unpack(sealing.open(row.delta))
            yield Taken(row.n, row.at, state, delta)
            after = row.n
        if len(rows) < _PAGE:
            return


_NEW: State = Created()
