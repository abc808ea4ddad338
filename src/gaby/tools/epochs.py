"""Policy epochs: a count that moves with every change to what may be done, and the fence that intents stand behind."""

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite

from gaby.audit import Fence
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.tools.models import PolicyEpoch

_SUM = "SELECT COALESCE(SUM(epoch), 0) FROM policy_epochs WHERE workspace_id IN (?, ?)"


async def move_on(session: WriteSession) -> None:
    """Whatever was decided before this transaction must be decided anew."""
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    statement = insert(PolicyEpoch).values(workspace_id=session.workspace_id, epoch=1)
    await session.execute(
        statement.on_conflict_do_update(index_elements=["workspace_id"], set_={"epoch": PolicyEpoch.epoch + 1})
    )


async def current(session: ReadSession) -> int:
    query = select(PolicyEpoch.epoch).where(PolicyEpoch.workspace_id == session.workspace_id)
    return (await session.scalars(query)).one_or_none() or 0


def fence(workspace_id: WorkspaceId, epoch: int, also: Fence | None = None) -> Fence:
    """Holds as long as neither the workspace's policy nor the installation's has changed, and `also` holds."""
    places = (workspace_id.hex, SYSTEM.hex)
    if also is None:
        return Fence(_SUM, places, epoch)
    both = f"SELECT CASE WHEN ({also.statement}) = {also.expected:d} THEN ({_SUM}) ELSE -1 END"
    return Fence(both, (*also.parameters, *places), epoch)
