"""Storage: two engines behind one code path, one transaction per request or task, every row owned by a workspace."""

from gaby.kernel.database.database import Database, open_database
from gaby.kernel.database.models import Base, JsonColumn, UtcDateTime, WorkspaceOwned, workspace_tables
from gaby.kernel.database.references import Referenced, assign_references, wants_reference
from gaby.kernel.database.scope import AllWorkspaces, Scope
from gaby.kernel.database.sessions import ReadSession, WriteSession

__all__ = [
    "AllWorkspaces",
    "Base",
    "Database",
    "JsonColumn",
    "ReadSession",
    "Referenced",
    "Scope",
    "UtcDateTime",
    "WorkspaceOwned",
    "WriteSession",
    "assign_references",
    "open_database",
    "wants_reference",
    "workspace_tables",
]
