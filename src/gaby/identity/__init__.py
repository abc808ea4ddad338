"""Workspaces, people, groups, roles, sign-ins and API keys."""

from gaby.identity.roles import Role
from gaby.identity.service import Identity, build_identity

__all__ = ["Identity", "Role", "build_identity"]
