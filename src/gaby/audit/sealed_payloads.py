"""Personal values are sealed before they enter the log, so that shredding a key forgets them and no hash changes."""

from collections.abc import Mapping
from typing import Any, Protocol, cast

from gaby.audit.canonical import canonical_payload
from gaby.audit.errors import NotCanonical
from gaby.kernel.database import WriteSession
from gaby.kernel.events import PersonalValue
from gaby.kernel.ids import WorkspaceId


class Sealer(Protocol):
    async def seal(
        self, workspace_id: WorkspaceId, subject: str, value: str, session: WriteSession | None
    ) -> dict[str, Any]:
        """What to write instead of the value. Without a session it opens one of its own."""
        ...


class PayloadEncoder:
    """Turns payloads into the text of a row."""

    def __init__(self, sealer: Sealer | None) -> None:
        self._sealer = sealer

    async def text(
        self, workspace_id: WorkspaceId, payload: Mapping[str, Any], session: WriteSession | None = None
    ) -> str:
        if not _holds_personal(payload):
            return canonical_payload(payload)
        if self._sealer is None:
            raise NotCanonical("A personal value cannot be written to the audit log: nothing is set up to seal it.")
        sealed = await self._sealed(self._sealer, workspace_id, dict(payload), session)
        return canonical_payload(sealed)

    async def _sealed(self, sealer: Sealer, workspace_id: WorkspaceId, value: Any, session: WriteSession | None) -> Any:
        if isinstance(value, PersonalValue):
            return await sealer.seal(workspace_id, value.subject, value.value, session)
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).items()
            return {key: await self._sealed(sealer, workspace_id, item, session) for key, item in items}
        if isinstance(value, list | tuple):
            items = cast("list[Any]", value)
            return [await self._sealed(sealer, workspace_id, item, session) for item in items]
        return value


def _holds_personal(value: Any) -> bool:
    if isinstance(value, str | int | float | None):
        return False
    if isinstance(value, Mapping):
        return any(_holds_personal(item) for item in cast("Mapping[str, Any]", value).values())
    if isinstance(value, list | tuple):
        return any(_holds_personal(item) for item in cast("list[Any]", value))
    return isinstance(value, PersonalValue)
