"""What the API gives of a drafted manifest."""

from typing import Any, Self

from pydantic import BaseModel, Field

from gaby.tools.manifest_draft import ManifestDraft, ToolDraft
from gaby.tools.manifest_yaml import draft_yaml
from gaby_connectors.sdk.manifest import Access


class ArgumentDraftOut(BaseModel):
    role: str
    reason: str


class ToolDraftOut(BaseModel):
    name: str
    lane: Access
    reason: str = Field(description="Why it is taken for a read or a write.")
    arguments: dict[str, ArgumentDraftOut]
    notes: list[str]
    manifest: dict[str, Any]

    @classmethod
    def from_domain(cls, tool: ToolDraft) -> Self:
        return cls(
            name=tool.name,
            lane=tool.access,
            reason=tool.access_reason,
            arguments={
                name: ArgumentDraftOut(role=each.role, reason=each.reason) for name, each in tool.arguments.items()
            },
            notes=list(tool.notes),
            manifest=tool.manifest.model_dump(mode="json", exclude_defaults=True),
        )


class ManifestDraftOut(BaseModel):
    """A manifest for the tools that have none. Nothing of it holds until somebody sends it as the manifest."""

    connector: str
    fingerprint: str = Field(description="Of the tools that it was drafted from.")
    tools: list[ToolDraftOut]
    yaml: str

    @classmethod
    def from_domain(cls, draft: ManifestDraft) -> Self:
        return cls(
            connector=draft.connector,
            fingerprint=draft.fingerprint,
            tools=[ToolDraftOut.from_domain(tool) for tool in draft.tools],
            yaml=draft_yaml(draft),
        )
