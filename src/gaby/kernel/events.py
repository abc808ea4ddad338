"""Events: what happened, for whoever listens. Packages emit without knowing who; the audit log always listens."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gaby.kernel.actors import Actor
from gaby.kernel.ids import WorkspaceId


@dataclass(frozen=True)
class PersonalValue:
    """A value about a person. Whoever stores it encrypts it under that subject's own key, so it can be shredded."""

    subject: str
    value: str


@dataclass(frozen=True)
class Event:
    """Something that happened in a workspace. Values in the payload are JSON, or `PersonalValue`."""

    name: str
    workspace_id: WorkspaceId
    actor: Actor
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])


AfterCommit = Callable[[Event], Awaitable[None]]
