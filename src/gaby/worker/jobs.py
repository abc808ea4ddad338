"""Procrastinate: how workers on any number of machines hear of work, over the Postgres that they share anyway.

The queue is the table of investigations, and a job carries none of them: it says that there is something to do, and
whoever gets it looks at once. Every worker looks every few seconds anyway. So a job that is lost, or comes twice, loses
and repeats nothing, and one workspace's thousand tickets do not stand before another's one.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import procrastinate
import psycopg
from procrastinate.exceptions import AlreadyEnqueued, ProcrastinateException
from procrastinate.jobs import Status
from procrastinate.schema import SchemaManager
from psycopg import sql

from gaby.kernel.database import Database
from gaby.kernel.database.faults import DatabaseUnavailable, UpgradeForbidden
from gaby.kernel.database.postgres import CONNECT_ARGS, PostgresEngine
from gaby.kernel.errors import Misconfigured
from gaby.kernel.log import get_log
from gaby.worker.runner import Runner

SCHEMA = "gaby_queue"
_PAUSE = 1.0
_POLL = 2.0
_LOCK = 0x47414259_51554555
_log = get_log(__name__)


def postgres_of(database: Database) -> PostgresEngine:
    if not isinstance(database.engine, PostgresEngine):
        raise Misconfigured(
            "GABY_WORKER_MODE=procrastinate needs Postgres, which workers on several machines share. "
            "Set GABY_DATABASE_URL=postgresql://USER:PASSWORD@HOST/NAME, or GABY_WORKER_MODE=embedded."
        )
    return database.engine


def prepare(database: Database) -> None:
    """Make Procrastinate's own tables, in a schema of their own, and let Gaby's role use them."""
    engine = postgres_of(database)
    url = engine.migration_url().replace("postgresql+psycopg://", "postgresql://", 1)
    names = {"schema": sql.Identifier(SCHEMA), "role": sql.Identifier(engine.role)}
    try:
        with psycopg.connect(url, **CONNECT_ARGS) as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {schema}").format(**names))
            connection.execute(sql.SQL("SET LOCAL search_path TO {schema}").format(**names))
            row = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.procrastinate_jobs",)).fetchone()
            if row is None or row[0] is None:
                connection.execute(SchemaManager.get_schema().encode())
            for grant in (
                "GRANT USAGE ON SCHEMA {schema} TO {role}",
                "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
                "GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {role}",
                "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {role}",
            ):
                connection.execute(sql.SQL(grant).format(**names))
    except psycopg.errors.InsufficientPrivilege as error:
        raise UpgradeForbidden from error
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable from error


class Jobs:
    """The same `schedule` as the embedded runner, heard by every worker."""

    def __init__(self, database: Database, runner: Runner) -> None:
        self._database = database
        self._runner = runner
        self._app: procrastinate.App | None = None
        self._telling: set[asyncio.Task[None]] = set()

    def schedule(self) -> None:
        """There is something to do. Without a connection nobody is told, and whoever looks next finds it."""
        if self._app is not None and not self._telling:
            task = asyncio.create_task(self._tell(self._app))
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Connected, to tell workers of work."""
        app = self._make()
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(app.open_async())
            except (ProcrastinateException, psycopg.Error, OSError) as error:
                raise DatabaseUnavailable from error
            self._app = app
            try:
                yield
            finally:
                self._app = None
                await asyncio.gather(*self._telling, return_exceptions=True)

    async def run(self) -> None:
        """Until cancelled; then what is under way finishes its present move."""
        if self._app is None:
            raise RuntimeError("open the jobs first")
        working = asyncio.create_task(self._runner.run(), name="runner")
        try:
            while True:
                await self._listen(self._app)
                _log.warning("jobs.interrupted", again_in=_PAUSE)
                await asyncio.sleep(_PAUSE)
        finally:
            await self._runner.stop()
            await working

    async def forget_dead(self) -> int:
        """Delete what workers held that are gone. It says nothing that whoever looks for work would not find."""
        if self._app is None:
            return 0
        manager = self._app.job_manager
        dead = list(await manager.get_stalled_jobs(queue="gaby"))
        for job in dead:
            await manager.finish_job(job, status=Status.FAILED, delete_job=True)
        return len(dead)

    async def _listen(self, app: procrastinate.App) -> None:
        """As long as the database answers. Procrastinate's worker ends when it does not, and so may begin again."""
        try:
            await app.run_worker_async(
                queues=["gaby"],
                concurrency=1,
                fetch_job_polling_interval=_POLL,
                install_signal_handlers=False,
                delete_jobs="always",
            )
        except (ProcrastinateException, psycopg.Error, OSError, RuntimeError) as error:
            _log.warning("jobs.failed", error=repr(error))

    async def _tell(self, app: procrastinate.App) -> None:
        """One worker is to look. As long as none has come, none is called again."""
        try:
            with suppress(AlreadyEnqueued):
                await app.configure_task("look", queue="gaby", queueing_lock="look").defer_async()
        except (ProcrastinateException, OSError) as error:
            _log.warning("jobs.not_told", error=repr(error))

    def _make(self) -> procrastinate.App:
        engine = postgres_of(self._database)
        url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        options = f"-c search_path={SCHEMA} -c role={engine.role}"
        connector = procrastinate.PsycopgConnector(
            conninfo=url, kwargs={**CONNECT_ARGS, "options": options}, max_size=4
        )
        app = procrastinate.App(connector=connector)
        app.task(name="look", queue="gaby", pass_context=False)(self._schedule_runner)
        return app

    async def _schedule_runner(self) -> None:
        self._runner.schedule()
