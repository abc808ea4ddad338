"""What the two database engines must offer. One file each; everything above is the same code on both."""

from typing import Any, Literal, Protocol

from sqlalchemy.ext.asyncio import AsyncEngine

from gaby.kernel.database.sessions import ReadSession

Dialect = Literal["sqlite", "postgresql"]


class DatabaseEngine(Protocol):
    dialect: Dialect
    reader: AsyncEngine
    writer: AsyncEngine

    @property
    def driver_errors(self) -> tuple[type[Exception], ...]:
        """What a raw connection raises when the database fails."""
        ...

    async def enter(self, session: ReadSession) -> None:
        """Begin the session's transaction and limit it to its scope."""
        ...

    def raw_connection(self) -> Any:
        """A synchronous DB-API connection with the same rights, for the single-writer paths that bypass the ORM."""
        ...

    def migration_url(self) -> str:
        """Where migrations connect: synchronous, with the rights to change tables."""
        ...
