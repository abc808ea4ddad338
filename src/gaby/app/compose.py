"""Gaby as a process: its services started, kept going and stopped."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from gaby.app.background import repeating
from gaby.app.services import Services
from gaby.kernel.clock import Clock, SystemClock
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.events import Event
from gaby.kernel.ids import Random, WorkspaceId
from gaby.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from gaby.api import ApiDependencies
    from gaby.audit import VerificationReport
    from gaby.kernel.checks import RunCheck
    from gaby.worker.schedules import Schedule

_SOON = timedelta(seconds=10)
_POLL = timedelta(seconds=5)
_MINUTE = timedelta(minutes=1)
_SWEEP = timedelta(hours=1)
_FIRST_VERIFICATION = timedelta(minutes=10)
"""Soon enough for a server that is restarted every day, late enough not to slow the start."""


class Gaby(Services):
    """The services of one process, and how they are started, kept going and stopped."""

    def __init__(self, settings: Settings, clock: Clock, random: Random, public_url: str | None) -> None:
        super().__init__(settings, clock, random, public_url)
        self._tellers: list[Callable[[], None]] = []
        self._crowded: set[WorkspaceId] = set()
        """Where tickets ever waited, so that the gauge goes back to zero there."""
        self.database.after_commit(self.heard)

    @asynccontextmanager
    async def running(self, *, background: bool = True) -> AsyncGenerator[None]:
        """Everything started; on the way out stopped in the opposite order. Commands run without the background."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.database.close)
            stack.push_async_callback(self._stop, "http", lambda gaby: gaby.http.aclose())
            stack.push_async_callback(self.checkpointer.stop if background else self._sign_own_rows)
            for service, stop in _STOPS:
                stack.push_async_callback(self._stop, service, stop)
            if background:
                await self.checkpointer.start()
                mode = self.settings.worker.mode
                # Its figures are scraped from here.
                depth = repeating("queue depth", self._count_queue, first=_SOON, every=_SOON)
                for background_task in (*self._background(), depth):
                    await stack.enter_async_context(background_task)
                if mode != "procrastinate":
                    await stack.enter_async_context(self._leading())
                if mode == "embedded":
                    await stack.enter_async_context(self._investigating())
                elif mode == "procrastinate":
                    await stack.enter_async_context(self._telling())
            yield

    async def _stop(self, service: str, stop: "_Stop") -> None:
        """What nobody used was never built."""
        if self.is_built(service):
            await stop(self)

    def _background(self) -> list[AbstractAsyncContextManager[None]]:
        """What each process does for itself that calls connectors, be it a server or a worker."""
        check_interval = self.settings.connectors.check_every
        return [
            repeating("connector checks", self._check_connectors, first=check_interval, every=check_interval),
            repeating("old results", self._sweep_results, first=_FIRST_VERIFICATION, every=_SWEEP),
        ]

    def schedules(self) -> "list[Schedule]":
        """What one process does for the whole installation, be it a server or one of many workers."""
        from gaby.worker.schedules import Schedule

        interval = self.settings.audit.verify_every
        return [
            Schedule("audit walk", interval, self.verify_audit_log, first=min(interval, _FIRST_VERIFICATION)),
            Schedule("approvals", _MINUTE, self.tools.expire_approvals, first=_MINUTE),
            Schedule("books", _MINUTE, self.usage.budget_ledger.sweep, first=_MINUTE),
            Schedule("call traces", _SWEEP, self.usage.traces.sweep, first=_FIRST_VERIFICATION),
            Schedule("re-indexing", _SOON, self.models.reindex, first=_SOON),
            Schedule("knowledge", _SOON, self.knowledge.run_due, first=_SOON),
            Schedule("desks", _POLL, self.tickets.receiver.poll_due, first=_POLL),
            Schedule("knowledge checks", _SWEEP, self.knowledge.check_indexes, first=_FIRST_VERIFICATION),
            Schedule("liveness", _MINUTE, self.agent.liveness.repair, first=_MINUTE),
            Schedule("statistics", _SWEEP, self.database.refresh_statistics, first=_FIRST_VERIFICATION),
            Schedule("learning", _FIRST_VERIFICATION, self.agent.learning.weigh_due, first=_FIRST_VERIFICATION),
        ]

    def _leading(self, *more: "Schedule") -> AbstractAsyncContextManager[None]:
        from gaby.worker.runner import worker_name
        from gaby.worker.schedules import Schedules

        schedules = [*self.schedules(), *more]
        return Schedules(
            self.database, self.clock, worker_name(), schedules, on_set_back=self._clock_was_set_back
        ).running()

    async def _clock_was_set_back(self) -> None:
        """What rests until a time of day is looked at now, and rests again if it must."""
        from gaby.tickets.postings import try_at_once

        async with self.database.write(AllWorkspaces("the clock is the same for every workspace")) as session:
            await try_at_once(session, self.clock.now())
        await self.tickets.receiver.poll_all()
        await self.agent.queue.wake_resting()
        self.runner.schedule()

    @asynccontextmanager
    async def run_worker(self) -> AsyncGenerator[None]:
        """A worker: investigations and schedules of the whole installation, shared with all other workers."""
        from gaby.app.build_agent import build_jobs
        from gaby.worker.schedules import Schedule

        jobs = build_jobs(self.database, self.runner)
        dead = Schedule("dead jobs", _MINUTE, jobs.forget_dead, first=_MINUTE)
        async with AsyncExitStack() as stack:
            for context in (self.running(background=False), jobs.open(), self._leading(dead), *self._background()):
                await stack.enter_async_context(context)
            self._tellers.append(jobs.schedule)
            task = asyncio.create_task(jobs.run(), name="worker")
            try:
                yield
            finally:
                self.runner.finish()
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                self._tellers.remove(jobs.schedule)

    @asynccontextmanager
    async def _telling(self) -> AsyncGenerator[None]:
        from gaby.app.build_agent import build_jobs

        jobs = build_jobs(self.database, self.runner)
        async with jobs.open():
            self._tellers.append(jobs.schedule)
            try:
                yield
            finally:
                self._tellers.remove(jobs.schedule)

    @asynccontextmanager
    async def _investigating(self) -> AsyncGenerator[None]:
        task = asyncio.create_task(self.runner.run(), name="runner")
        try:
            yield
        finally:
            await self.runner.stop()
            await task

    async def heard(self, event: Event) -> None:
        """News that may mean work for the runner, or for a service that nobody has used yet."""
        if event.name.startswith("sign_in.ended") and not self.is_built("tools"):
            await self.tools.heard(event)
        if event.name.startswith(("ticket.", "approval.", "investigation.")):
            if self.is_built("runner"):
                self.runner.schedule()
            for tell in self._tellers:
                tell()

    async def _check_connectors(self) -> None:
        await self.host.health_check()
        await self.tools.keep_logs()

    async def _count_queue(self) -> None:
        from gaby.worker.schedules import schedule_health

        waiting = await self.agent.queue.waiting()
        self._crowded.update(waiting)
        for workspace_id in self._crowded:
            depth = self.metrics.ticket_queue_depth.labels(workspace=str(workspace_id))
            depth.set(waiting.get(workspace_id, 0))
        async with self.database.read(AllWorkspaces("schedules serve every workspace")) as session:
            schedules = await schedule_health(session, self.clock.now())
        for each in schedules:
            self.metrics.schedule_late_seconds.labels(schedule=each.name).set(each.late.total_seconds())
        for rule, count in (await self.agent.liveness.broken()).items():
            self.metrics.liveness_broken.labels(rule=rule).set(count)

    async def _sweep_results(self) -> None:
        await self.spill.sweep(self.settings.connectors.keep_results)

    async def _sign_own_rows(self) -> None:
        """A command has no background that would sign what it wrote."""
        if self.is_built("checkpointer") and self.checkpointer.has_news:
            await self.checkpointer.checkpoint()

    async def verify_audit_log(self) -> "VerificationReport":
        """Check the whole log; a finding raises the alarm in the log and in the metrics."""
        from gaby.audit import CosignatureFile, ExternalEvidence, PinFile, parse_witnesses, verify_live

        # A worker that keeps no anchors of its own has none to compare with.
        anchors = self.settings.anchor_path if self.checkpointer.is_running else None
        outside = ExternalEvidence(
            pins=PinFile(anchors) if anchors is not None else None,
            cosignatures=CosignatureFile(self.settings.anchor_path),
            witnesses=[address.key for address in parse_witnesses(self.settings.audit.witnesses)],
        )
        return await verify_live(self.database, self.clock, anchors=anchors, metrics=self.metrics, outside=outside)

    def checks(self) -> "list[RunCheck]":
        from gaby.app import checks

        return [
            checks.database_check(self.database),
            checks.schema_check(self.database),
            checks.disk_check(self.settings.home),
            checks.schedules_check(self.database, self.clock),
            checks.liveness_check(self.agent.liveness),
            checks.from_report("audit log", self.audit.trouble, "Free disk space, or start the database."),
            *([self.witnesses.check] if self.settings.audit.witnesses else []),
            checks.from_report(
                "books", self.usage.budget_ledger.what_is_wrong, "Free disk space, or start the database."
            ),
        ]

    def api_dependencies(self) -> "ApiDependencies":
        from gaby.api import ApiDependencies

        token = self.settings.telemetry.metrics_token
        return ApiDependencies(
            database=self.database,
            identity=self.identity,
            audit=self.audit,
            tools=self.tools,
            models=self.models,
            knowledge=self.knowledge,
            usage=self.usage,
            tickets=self.tickets,
            agent=self.agent,
            metrics=self.metrics,
            clock=self.clock,
            checks=self.checks(),
            max_body_bytes=self.settings.server.max_body_bytes,
            secure=self.identity.public_url.startswith("https://"),
            metrics_token=token.get_secret_value() if token is not None else None,
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _app: "FastAPI") -> AsyncGenerator[None]:
        async with self.running():
            yield


_Stop = Callable[[Gaby], Awaitable[object]]
_STOPS: tuple[tuple[str, _Stop], ...] = (
    ("audit", lambda gaby: gaby.audit.stop()),
    ("agent", lambda gaby: gaby.agent.writer.stop()),
    ("tickets", lambda gaby: gaby.tickets.desks.close()),
    ("budget_ledger", lambda gaby: gaby.budget_ledger.stop()),
    ("traces", lambda gaby: gaby.traces.stop()),
    ("models", lambda gaby: gaby.models.close()),
    ("tools", lambda gaby: gaby.tools.launcher.finish()),
    ("host", lambda gaby: gaby.host.aclose()),
    ("tools", lambda gaby: gaby.tools.keep_logs()),
)
"""What is stopped, the last one first."""


def build(
    settings: Settings,
    *,
    clock: Clock | None = None,
    random: Random = secrets.token_bytes,
    public_url: str | None = None,
) -> Gaby:
    """Nothing is started, and nothing is created before it is used."""
    return Gaby(settings, clock or SystemClock(), random, public_url)
