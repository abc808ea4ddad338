"""Personal values in the audit log are sealed by the vault, under the key of the person they are about."""

from typing import Any

from gaby.kernel.crypto import SubjectShredded, Vault
from gaby.kernel.database import Database, WriteSession
from gaby.kernel.ids import WorkspaceId

PURPOSE = "audit"


class VaultSealer:
    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault

    async def seal(
        self, workspace_id: WorkspaceId, subject: str, value: str, session: WriteSession | None
    ) -> dict[str, Any]:
        if session is None:
            async with self._database.write(workspace_id) as own:
                return await self.seal(workspace_id, subject, value, own)
        try:
            sealed = await self._vault.seal(session, subject, value, PURPOSE, workspace_id=workspace_id)
        except SubjectShredded:
            # Forgotten stays forgotten; that something happened is still recorded.
            return {"subject": subject, "shredded": True}
        return {"subject": subject, "sealed": sealed}
