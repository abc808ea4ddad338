"""Escalations: where a workspace wants to be told that a person has to look, and the telling."""

import json
from typing import Any

import httpx2

from gaby.agent.models import AgentConfig
from gaby.kernel.actors import Actor, Permission
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.events import Event
from gaby.kernel.ids import WorkspaceId
from gaby.tickets.adapters.adapter import DeskRefused
from gaby.tickets.escalation import Escalation, EscalationTarget, open_channel
from gaby_connectors.sdk.address_guard import AddressPolicy

_PURPOSE = "escalation"


class Escalations:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        vault: Vault,
        http: httpx2.AsyncClient,
        public_url: str,
        outside: AddressPolicy | None = None,
    ) -> None:
        self._outside = outside or AddressPolicy()
        self._database = database
        self._clock = clock
        self._vault = vault
        self._http = http
        self._public_url = public_url

    async def set_target(self, session: WriteSession, actor: Actor, target: EscalationTarget | None) -> None:
        row = await session.get(AgentConfig, session.workspace_id)
        if row is None:
            row = AgentConfig(workspace_id=session.workspace_id, config={}, changed_at=self._clock.now())
            session.add(row)
        if target is not None:
            any_address = actor.may(Permission.INSTALLATION_MANAGE)
            if not any_address:
                target.check(self._outside)
            target = target.model_copy(update={"any_address": any_address})
        row.secrets = None if target is None else await self._seal(session, target)
        row.changed_at = self._clock.now()
        kind = None if target is None else target.kind
        session.emit(Event("agent.escalation_target", session.workspace_id, actor, {"kind": kind}))

    async def target(self, session: ReadSession) -> EscalationTarget | None:
        row = await session.get(AgentConfig, session.workspace_id)
        if row is None or row.secrets is None:
            return None
        text = await self._vault.open(session, _subject(session.workspace_id), row.secrets, _PURPOSE)
        return EscalationTarget.model_validate_json(text)

    async def has_target(self, workspace_id: WorkspaceId) -> bool:
        async with self._database.read(workspace_id) as session:
            row = await session.get(AgentConfig, workspace_id)
        return row is not None and row.secrets is not None

    async def send(self, workspace_id: WorkspaceId, marker: str, content: dict[str, Any]) -> None:
        async with self._database.read(workspace_id) as session:
            target = await self.target(session)
        if target is None:
            raise DeskRefused("There is nobody to escalate to any more. Set a target with `gaby agent escalate`.")
        escalation = Escalation(
            id=marker,
            verdict=content["verdict"],
            title=content["title"],
            link=f"{self._public_url}/runs/{content['run_id']}",
            reasons=tuple(content["reasons"]),
            summary=content["summary"],
            steps=tuple(content["steps"]),
            investigation=json.dumps(content),
        )
        await open_channel(target, self._http, self._clock, self._outside).send(escalation)

    async def _seal(self, session: WriteSession, target: EscalationTarget) -> str:
        plain = target.model_dump(mode="json")
        plain["address"] = target.address.get_secret_value()
        plain["secret"] = target.secret.get_secret_value()
        if target.smtp is not None:
            plain["smtp"]["password"] = target.smtp.password.get_secret_value()
        return await self._vault.seal(session, _subject(session.workspace_id), json.dumps(plain), _PURPOSE)


def _subject(workspace_id: WorkspaceId) -> str:
    return f"escalation:{workspace_id}"
