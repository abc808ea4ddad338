"""How other packages get at encryption: personal values in the audit log, and large results on disk."""

from typing import Any

from gaby.kernel.crypto import MasterKeys, SubjectShredded, Vault, WrappedKey
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


class PageCipher:
    """Seals pages of large results. They live for days only, so no key of their own need be shredded."""

    def __init__(self, master: MasterKeys) -> None:
        self._master = master

    def seal(self, plain: bytes, context: bytes) -> bytes:
        wrapped = self._master.wrap(plain, context)
        return wrapped.master_key_id.encode() + b"\n" + wrapped.data

    def open(self, sealed: bytes, context: bytes) -> bytes:
        master_key_id, _, data = sealed.partition(b"\n")
        return self._master.unwrap(WrappedKey(master_key_id.decode("ascii", "replace"), data), context)
