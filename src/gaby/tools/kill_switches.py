"""Kill switches: for everything, a workspace or a connector. They take effect at the next step and survive restarts."""

from collections.abc import Sequence

from sqlalchemy import select

from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Invalid, NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import ConnectorId, IdFactory
from gaby.tools import epochs
from gaby.tools.models import KillSwitch


class KillSwitches:
    """The session's workspace is what stops; in the installation's own workspace that is everything."""

    def __init__(self, clock: Clock, ids: IdFactory) -> None:
        self._clock = clock
        self._ids = ids

    async def pull(
        self, session: WriteSession, actor: Actor, reason: str, connector_id: ConnectorId | None = None
    ) -> KillSwitch:
        if not reason.strip():
            raise Invalid("Say why, for those who find everything stopped.")
        kill_switch = await self._find(session, connector_id)
        if kill_switch is not None:
            return kill_switch
        switch = KillSwitch(
            workspace_id=session.workspace_id,
            id=self._ids.new(),
            connector_id=connector_id,
            reason=reason.strip()[:500],
            pulled_by=actor.id,
            pulled_at=self._clock.now(),
        )
        session.add(switch)
        await session.flush()
        await epochs.move_on(session)
        payload = {"reason": switch.reason, "connector_id": str(connector_id) if connector_id else None}
        session.emit(Event("kill_switch.pulled", session.workspace_id, actor, payload))
        return switch

    async def lift(self, session: WriteSession, actor: Actor, connector_id: ConnectorId | None = None) -> None:
        kill_switch = await self._find(session, connector_id)
        if kill_switch is None:
            raise NotFound("Nothing is stopped here.")
        await session.delete(kill_switch)
        await epochs.move_on(session)
        payload = {"connector_id": str(connector_id) if connector_id else None}
        session.emit(Event("kill_switch.lifted", session.workspace_id, actor, payload))

    async def list(self, session: ReadSession) -> Sequence[KillSwitch]:
        query = select(KillSwitch).where(KillSwitch.workspace_id == session.workspace_id)
        return (await session.scalars(query.order_by(KillSwitch.pulled_at))).all()

    async def _find(self, session: ReadSession, connector_id: ConnectorId | None) -> KillSwitch | None:
        query = select(KillSwitch).where(
            KillSwitch.workspace_id == session.workspace_id, KillSwitch.connector_id == connector_id
        )
        return (await session.scalars(query)).one_or_none()
