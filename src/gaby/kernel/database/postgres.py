"""Postgres: for several machines. Every connection acts as a role that row-level security binds."""

import re
from typing import Any

from sqlalchemy import URL, Engine, event, make_url, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from gaby.kernel.database.engines import Dialect
from gaby.kernel.database.faults import DatabaseRoleMissing
from gaby.kernel.database.guard import install_guard
from gaby.kernel.database.scope import scope_setting
from gaby.kernel.database.sessions import ReadSession
from gaby.kernel.errors import Misconfigured

WORKSPACE_SETTING = "gaby.workspace_id"
# A server that cannot be reached, or a line that went dead, is noticed in seconds and not in the kernel's minutes.
CONNECT_ARGS: dict[str, Any] = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
}
_NO_ROLE = ("22023", "42501")  # It does not exist, or it is not granted to the login.


class PostgresEngine:
    dialect: Dialect = "postgresql"

    def __init__(self, url: str, *, role: str, migration_url: str | None = None, pool_size: int = 20) -> None:
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", role):
            raise Misconfigured(f"GABY_DATABASE_ROLE must be a plain lower-case role name, not {role!r}.")
        self.role = role
        self.login = make_url(url).username
        self.url = make_url(url).set(drivername="postgresql+psycopg")
        self._migration_url = (
            make_url(migration_url).set(drivername="postgresql+psycopg") if migration_url else self.url
        )
        self.writer = self._engine(pool_size)
        self.reader = self.writer.execution_options(postgresql_readonly=True, isolation_level="REPEATABLE READ")

    @property
    def driver_errors(self) -> tuple[type[Exception], ...]:
        import psycopg

        return (psycopg.Error, OSError)

    async def enter(self, session: ReadSession) -> None:
        await session.enter()
        await session.execute(
            text("SELECT set_config(:setting, :scope, true)"),
            {"setting": WORKSPACE_SETTING, "scope": scope_setting(session.scope)},
        )

    def raw_connection(self) -> Any:
        import psycopg  # 10 MB that an installation on SQLite does without.

        url = self.url.set(drivername="postgresql").render_as_string(hide_password=False)
        connection = psycopg.connect(url, **CONNECT_ARGS)
        try:
            _act_as(connection, self.role)
        except BaseException:
            connection.close()
            raise
        return connection

    def migration_url(self) -> str:
        return self._migration_url.render_as_string(hide_password=False)

    def _engine(self, pool_size: int) -> AsyncEngine:
        engine = create_async_engine(
            self.url,
            pool_size=pool_size,
            max_overflow=0,  # To open another one costs more than to keep it.
            pool_timeout=10,
            pool_pre_ping=True,
            hide_parameters=True,  # Values are people's data; errors end up in logs.
            connect_args=CONNECT_ARGS,
        )
        _on_connect(engine.sync_engine, self.role)
        install_guard(engine.sync_engine)
        return engine


def _on_connect(engine: Engine, role: str) -> None:
    def connected(connection: Any, _record: object) -> None:
        _act_as(connection, role)

    event.listen(engine, "connect", connected)


def _act_as(connection: Any, role: str) -> None:
    cursor = connection.cursor()
    try:
        cursor.execute(f'SET ROLE "{role}"')
    except Exception as error:
        if getattr(error, "sqlstate", None) in _NO_ROLE:
            raise DatabaseRoleMissing from error
        raise
    finally:
        cursor.close()
    connection.commit()


def is_postgres(url: str) -> bool:
    return URL.create("postgresql").get_backend_name() == make_url(url).get_backend_name()
