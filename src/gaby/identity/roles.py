"""Roles and what each may do. A role holds all that the ones below it hold."""

from enum import StrEnum

from gaby.kernel.actors import Permission


class Role(StrEnum):
    VIEWER = "viewer"
    OPERATOR = "operator"
    CURATOR = "curator"
    ADMIN = "admin"
    OWNER = "owner"

    @property
    def rank(self) -> int:
        return list(Role).index(self)

    @property
    def permissions(self) -> frozenset[Permission]:
        return frozenset[Permission]().union(*(_ADDS[role] for role in Role if role.rank <= self.rank))

    def may_grant(self, other: "Role") -> bool:
        """Nobody hands out more than they hold."""
        return other.rank <= self.rank


_ADDS: dict[Role, frozenset[Permission]] = {
    Role.VIEWER: frozenset(
        {
            Permission.WORKSPACE_READ,
            Permission.PEOPLE_READ,
            Permission.CONNECTORS_READ,
            Permission.MODELS_READ,
            Permission.USAGE_READ,
            Permission.KNOWLEDGE_READ,
            Permission.TICKETS_READ,
        }
    ),
    Role.OPERATOR: frozenset({Permission.APPROVALS_DECIDE, Permission.TOOLS_STOP, Permission.TICKETS_WORK}),
    Role.CURATOR: frozenset({Permission.KNOWLEDGE_CURATE}),
    Role.ADMIN: frozenset(
        {
            Permission.PEOPLE_MANAGE,
            Permission.KEYS_MANAGE,
            Permission.AUDIT_READ,
            Permission.WORKSPACE_MANAGE,
            Permission.CONNECTORS_MANAGE,
            Permission.MODELS_MANAGE,
            Permission.KNOWLEDGE_MANAGE,
            Permission.DESKS_MANAGE,
        }
    ),
    Role.OWNER: frozenset(),
}
