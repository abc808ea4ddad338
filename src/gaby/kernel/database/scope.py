"""How far a session sees: one workspace, or, with a reason given, across all of them."""

from dataclasses import dataclass

from gaby.kernel.ids import WorkspaceId


@dataclass(frozen=True)
class AllWorkspaces:
    """Sees every workspace. Only for what cannot know its workspace yet (a sign-in) or serves all (a schedule)."""

    reason: str


Scope = WorkspaceId | AllWorkspaces


def scope_setting(scope: Scope) -> str:
    """What the row-level security policies of Postgres compare with."""
    return "*" if isinstance(scope, AllWorkspaces) else str(scope)
