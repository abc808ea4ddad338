"""Workspaces, people, groups, roles, sign-ins and API keys."""

from typing import TYPE_CHECKING

from gaby.kernel.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from gaby.identity.roles import Role
    from gaby.identity.service import Identity, build_identity

__all__ = ["Identity", "Role", "build_identity"]

__getattr__ = lazy_exports(
    __name__,
    {
        "roles": ("Role",),
        "service": ("Identity", "build_identity"),
    },
)
