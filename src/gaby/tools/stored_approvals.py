"""Approvals as they are stored: listed, found, and what exactly was asked for."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from gaby.kernel.crypto import Vault
from gaby.kernel.database import ReadSession
from gaby.kernel.errors import NotFound
from gaby.kernel.ids import ApprovalId
from gaby.tools.models import Approval

PURPOSE = "approval"


@dataclass(frozen=True)
class SealedCall:
    """The call that was asked for, with its real arguments."""

    id: UUID
    arguments: dict[str, Any]


class StoredApprovals:
    """Apart from who asks and who decides, whose code takes longer to load than most commands take."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    async def list(self, session: ReadSession, state: str | None = "waiting", most: int = 200) -> Sequence[Approval]:
        query = select(Approval).where(Approval.workspace_id == session.workspace_id)
        if state is not None:
            query = query.where(Approval.state == state)
        return (await session.scalars(query.order_by(Approval.id.desc()).limit(most))).all()

    async def count_waiting(self, session: ReadSession) -> int:
        mine = (Approval.workspace_id == session.workspace_id, Approval.state == "waiting")
        return (await session.scalars(select(func.count()).select_from(Approval).where(*mine))).one()

    async def get(self, session: ReadSession, approval_id: ApprovalId) -> Approval:
        found = await session.get(Approval, (session.workspace_id, approval_id))
        if found is None:
            raise NotFound
        return found

    async def call_of(self, session: ReadSession, approval: Approval) -> SealedCall:
        """The real arguments, for whoever may decide and for the call itself."""
        text = await self._vault.open(session, f"run:{approval.run_id}", approval.sealed_call, PURPOSE)
        told = json.loads(text)
        return SealedCall(UUID(told["id"]), told["arguments"])
