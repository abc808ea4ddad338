"""Sessions: one request or task is one transaction. Reading and writing differ in type, so a reader cannot write."""

from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from sqlalchemy.orm import Session

from gaby.kernel.database.guard import SCOPE_OPTION
from gaby.kernel.database.scope import AllWorkspaces, Scope
from gaby.kernel.errors import GabyError
from gaby.kernel.events import Event
from gaby.kernel.ids import WorkspaceId


class ReadOnly(GabyError):
    """Something tried to write in a session that only reads. This is a bug in Gaby; nothing was written."""


class _ReadingSession(Session):
    def flush(self, objects: Any = None) -> None:
        if self.new or self.deleted or any(self.is_modified(each) for each in self.dirty):
            raise ReadOnly


class ReadSession(AsyncSession):
    """Sees one moment of the database. A `WriteSession` can be passed where this is asked for."""

    sync_session_class: type[Session] = _ReadingSession

    def __init__(self, engine: AsyncEngine, scope: Scope) -> None:
        super().__init__(engine, expire_on_commit=False, autoflush=False)
        self.scope = scope

    @property
    def workspace_id(self) -> WorkspaceId:
        if isinstance(self.scope, AllWorkspaces):
            raise GabyError(f"This session is across workspaces ({self.scope.reason}) and has no workspace of its own.")
        return self.scope

    async def enter(self) -> None:
        await self.connection(execution_options={SCOPE_OPTION: self.scope})


class WriteSession(ReadSession):
    """Collects one unit of work. Services change it and never commit; whoever opened it commits."""

    sync_session_class: type[Session] = Session

    def __init__(self, engine: AsyncEngine, scope: Scope) -> None:
        super().__init__(engine, scope)
        self.open = False
        self.events: list[Event] = []
        self._before_commit: list[BeforeCommit] = []

    def emit(self, event: Event) -> None:
        """Tell what happened. Listeners in the transaction hear it just before commit, the others just after."""
        self.events.append(event)

    def before_commit(self, hook: "BeforeCommit") -> None:
        self._before_commit.append(hook)

    async def run_before_commit(self) -> None:
        await self.flush()
        for hook in self._before_commit:
            await hook(self)


BeforeCommit = Callable[[WriteSession], Awaitable[None]]
InTransaction = Callable[[WriteSession, list[Event]], Awaitable[None]]
