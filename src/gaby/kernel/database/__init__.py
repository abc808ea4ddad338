"""Storage: two engines behind one code path, one transaction per request or task, every row owned by a workspace."""

from gaby.kernel.database.database import Database, open_database
from gaby.kernel.database.models import Base, JsonColumn, UtcDateTime, WorkspaceOwned, workspace_tables
from gaby.kernel.database.scope import AllWorkspaces, Scope
from gaby.kernel.database.sessions import ReadSession, WriteSession

__all__ = [
    "AllWorkspaces",
    "Base",
    "Database",
    "JsonColumn",
    "ReadSession",
    "Scope",
    "UtcDateTime",
    "WorkspaceOwned",
    "WriteSession",
    "open_database",
    "workspace_tables",
]
