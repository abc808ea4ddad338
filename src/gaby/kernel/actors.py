"""Who does something: a person, an API key, the agent, or the system itself. What they may do travels with them."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from gaby.kernel.ids import SYSTEM, PersonId, WorkspaceId

ActorKind = Literal["user", "key", "agent", "system"]


class Permission(StrEnum):
    """What a role may do. The value is also the scope that an API key can be limited to."""

    WORKSPACE_READ = "workspace:read"
    PEOPLE_READ = "people:read"
    PEOPLE_MANAGE = "people:manage"
    KEYS_MANAGE = "keys:manage"
    AUDIT_READ = "audit:read"
    CONNECTORS_READ = "connectors:read"
    CONNECTORS_MANAGE = "connectors:manage"
    MODELS_READ = "models:read"
    MODELS_MANAGE = "models:manage"
    USAGE_READ = "usage:read"
    KNOWLEDGE_READ = "knowledge:read"
    KNOWLEDGE_CURATE = "knowledge:curate"
    KNOWLEDGE_MANAGE = "knowledge:manage"
    TICKETS_READ = "tickets:read"
    TICKETS_WORK = "tickets:work"
    DESKS_MANAGE = "desks:manage"
    APPROVALS_DECIDE = "approvals:decide"
    TOOLS_STOP = "tools:stop"
    WORKSPACE_MANAGE = "workspace:manage"
    INSTALLATION_MANAGE = "installation:manage"


@dataclass(frozen=True)
class Actor:
    kind: ActorKind
    id: str
    workspace_id: WorkspaceId
    permissions: frozenset[Permission] = field(default_factory=frozenset[Permission])
    person_id: PersonId | None = None

    def may(self, permission: Permission) -> bool:
        return permission in self.permissions


def system_actor(name: str, workspace_id: WorkspaceId = SYSTEM) -> Actor:
    """The installation itself: the command line, a schedule, the first boot."""
    return Actor(kind="system", id=name, workspace_id=workspace_id, permissions=frozenset(Permission))
