"""Escalating: where a workspace wants to be told that a person has to look."""

from typing import Any, Protocol

from gaby.kernel.ids import WorkspaceId


class EscalationSender(Protocol):
    async def send(self, workspace_id: WorkspaceId, marker: str, content: dict[str, Any]) -> None:
        """Raises what desks raise. The marker lets receivers see a second copy."""
        ...
