"""HTTP routes of identity. Only `gaby.api` imports them."""

from gaby.identity.routes import entry, groups, keys, people, session, workspaces

routers = (session.router, people.router, groups.router, keys.router, workspaces.router, entry.router)

__all__ = ["routers"]
