"""Every service of Gaby, built in order, each from those before it."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx2
from fastapi import FastAPI

import gaby
from gaby.agent.escalations import Escalations
from gaby.agent.service import Agent
from gaby.api import ApiDependencies
from gaby.app import checks
from gaby.app.background import repeating
from gaby.app.build_agent import AgentDependencies, build_agent, build_jobs, build_runner, build_tickets
from gaby.app.build_knowledge import build_knowledge
from gaby.app.build_models import build_models
from gaby.app.ciphers import PageCipher, VaultSealer
from gaby.app.installation import configured_url, open_configured_database
from gaby.app.installed_models import usual_limits
from gaby.audit import (
    AnchorFile,
    Anchors,
    AnchorTarget,
    AnchorWebhook,
    Appender,
    AuditLog,
    Checkpointer,
    CheckpointSchedule,
    CheckpointTaker,
    ConfiguredKey,
    CosignatureFile,
    ExternalEvidence,
    KeyFile,
    KeyHolder,
    PinFile,
    VerificationReport,
    Witnesses,
    parse_witnesses,
    read_pem,
    verify_live,
)
from gaby.identity import Identity, build_identity
from gaby.kernel.checks import RunCheck
from gaby.kernel.clock import Clock, SystemClock
from gaby.kernel.crypto import MasterKeys, Vault
from gaby.kernel.database import AllWorkspaces, Database
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory, Random, WorkspaceId
from gaby.kernel.metrics import Metrics
from gaby.knowledge.service import Knowledge
from gaby.llm.service import Models
from gaby.mcp import HostLimits, McpHost, SpillFolder
from gaby.safety import parse_profile
from gaby.settings import Settings
from gaby.tickets.postings import try_at_once
from gaby.tickets.service import Tickets
from gaby.tools import ToolDependencies, Tools, ToolSettings, build_tools
from gaby.tools.device_code import OAuthHttp
from gaby.tools.tokens import TokenRefresher
from gaby.usage.budget_ledger import StoredBudgetLedger
from gaby.usage.budgets import Budgets
from gaby.usage.call_traces import CallTraces
from gaby.usage.service import UsageService
from gaby.worker.runner import Runner, worker_name
from gaby.worker.schedules import Schedule, Schedules, schedule_health
from gaby_connectors.sdk.address_guard import AddressPolicy

_SOON = timedelta(seconds=10)
_POLL = timedelta(seconds=5)
_MINUTE = timedelta(minutes=1)
_SWEEP = timedelta(hours=1)
_FIRST_VERIFICATION = timedelta(minutes=10)
"""Soon enough for a server that is restarted every day, late enough not to slow the start."""


@dataclass(frozen=True)
class Gaby:
    settings: Settings
    clock: Clock
    ids: IdFactory
    database: Database
    metrics: Metrics
    master_keys: MasterKeys
    vault: Vault
    appender: Appender
    audit: AuditLog
    audit_key: KeyHolder
    checkpointer: Checkpointer
    witnesses: Witnesses
    identity: Identity
    host: McpHost
    spill: SpillFolder
    tools: Tools
    models: Models
    knowledge: Knowledge
    usage: UsageService
    tickets: Tickets
    agent: Agent
    runner: Runner
    http: httpx2.AsyncClient
    _tellers: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    _crowded: set[WorkspaceId] = field(default_factory=set[WorkspaceId])
    """Where tickets ever waited, so that the gauge goes back to zero there."""

    @asynccontextmanager
    async def running(self, *, background: bool = True) -> AsyncGenerator[None]:
        """Everything started; on the way out stopped in the opposite order. Commands run without the background."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.database.close)
            stack.push_async_callback(self.http.aclose)
            stack.push_async_callback(self.checkpointer.stop if background else self._sign_own_rows)
            stack.push_async_callback(self.audit.stop)
            stack.push_async_callback(self.agent.writer.stop)
            stack.push_async_callback(self.tickets.desks.close)
            stack.push_async_callback(self.usage.budget_ledger.stop)
            stack.push_async_callback(self.usage.traces.stop)
            stack.push_async_callback(self.models.close)
            stack.push_async_callback(self.tools.launcher.finish)
            stack.push_async_callback(self.host.aclose)
            stack.push_async_callback(self.tools.keep_logs)
            if background:
                await self.checkpointer.start()
                mode = self.settings.worker.mode
                for background_task in self._background():
                    await stack.enter_async_context(background_task)
                if mode != "procrastinate":
                    await stack.enter_async_context(self._leading())
                if mode == "embedded":
                    await stack.enter_async_context(self._investigating())
                elif mode == "procrastinate":
                    await stack.enter_async_context(self._telling())
            yield

    def _background(self) -> list[AbstractAsyncContextManager[None]]:
        """What each server does for itself."""
        check_interval = self.settings.connectors.check_every
        return [
            repeating("connector checks", self._check_connectors, first=check_interval, every=check_interval),
            repeating("queue depth", self._count_queue, first=_SOON, every=_SOON),
            repeating("old results", self._sweep_results, first=_FIRST_VERIFICATION, every=_SWEEP),
        ]

    def schedules(self) -> list[Schedule]:
        """What one process does for the whole installation, be it a server or one of many workers."""
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

    def _leading(self, *more: Schedule) -> AbstractAsyncContextManager[None]:
        schedules = [*self.schedules(), *more]
        return Schedules(
            self.database, self.clock, worker_name(), schedules, on_set_back=self._clock_was_set_back
        ).running()

    async def _clock_was_set_back(self) -> None:
        """What rests until a time of day is looked at now, and rests again if it must."""
        async with self.database.write(AllWorkspaces("the clock is the same for every workspace")) as session:
            await try_at_once(session, self.clock.now())
        await self.tickets.receiver.poll_all()
        await self.agent.queue.wake_resting()
        self.runner.schedule()

    @asynccontextmanager
    async def run_worker(self) -> AsyncGenerator[None]:
        """A worker: investigations and schedules of the whole installation, shared with all other workers."""
        jobs = build_jobs(self.database, self.runner)
        dead = Schedule("dead jobs", _MINUTE, jobs.forget_dead, first=_MINUTE)
        async with self.running(background=False), jobs.open(), self._leading(dead):
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
        """News that may mean work for the runner."""
        if event.name.startswith(("ticket.", "approval.", "investigation.")):
            self.runner.schedule()
            for tell in self._tellers:
                tell()

    async def _check_connectors(self) -> None:
        await self.host.health_check()
        await self.tools.keep_logs()

    async def _count_queue(self) -> None:
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
        if self.checkpointer.has_news:
            await self.checkpointer.checkpoint()

    async def verify_audit_log(self) -> VerificationReport:
        """Check the whole log; a finding raises the alarm in the log and in the metrics."""
        # A worker that keeps no anchors of its own has none to compare with.
        anchors = self.settings.anchor_path if self.checkpointer.is_running else None
        outside = ExternalEvidence(
            pins=PinFile(anchors) if anchors is not None else None,
            cosignatures=CosignatureFile(self.settings.anchor_path),
            witnesses=[address.key for address in parse_witnesses(self.settings.audit.witnesses)],
        )
        return await verify_live(self.database, self.clock, anchors=anchors, metrics=self.metrics, outside=outside)

    def checks(self) -> list[RunCheck]:
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

    def api_dependencies(self) -> ApiDependencies:
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
    async def _lifespan(self, _app: FastAPI) -> AsyncGenerator[None]:
        async with self.running():
            yield


def build(
    settings: Settings,
    *,
    clock: Clock | None = None,
    random: Random = secrets.token_bytes,
    public_url: str | None = None,
) -> Gaby:
    """Nothing is started, and nothing but missing key files is created."""
    clock = clock or SystemClock()
    ids = IdFactory(clock, random)
    database = open_configured_database(settings)
    metrics = Metrics()
    metrics.build_info.labels(version=gaby.__version__).set(1)
    master_keys = _master_keys(settings)
    vault = Vault(master_keys, clock, ids, random)
    appender = Appender(clock, ids)
    audit = AuditLog(database, appender, sealer=VaultSealer(database, vault), metrics=metrics)
    database.on_events(audit.record)
    # Desks and webhooks share it, so what one of them sets must not reach another.
    http = httpx2.AsyncClient(cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])))
    audit_key = _audit_key(settings)
    witnesses = _witnesses(settings, http, database, metrics)
    checkpointer = Checkpointer(
        database,
        CheckpointTaker(audit_key, appender, clock),
        Anchors(*_anchor_places(settings, http)),
        clock,
        CheckpointSchedule(
            settings.audit.checkpoint_rows, settings.audit.checkpoint_every, settings.audit.heartbeat_every
        ),
        pins=PinFile(settings.anchor_path),
        witnesses=witnesses,
    )
    audit.on_rows(checkpointer.grew)
    identity = build_identity(
        database,
        clock,
        ids,
        random,
        idle=settings.session.idle,
        absolute=settings.session.absolute,
        public_url=public_url or configured_url(settings),
    )
    spill = SpillFolder(settings.home / "results", PageCipher(master_keys), clock, random)
    host = McpHost(clock, random, metrics, _host_limits(settings), spill)
    dependencies = ToolDependencies(database, audit, vault, clock, ids, random, metrics)
    tools = build_tools(dependencies, host, spill, _tool_settings(settings))
    tools.launcher.renewed_by(TokenRefresher(database, vault, clock, OAuthHttp(http)))
    budget_ledger = StoredBudgetLedger(database, clock, ids, metrics, usual_limits(settings.budget))
    traces = CallTraces(database, vault, clock, settings.models.keep_traces)
    models = build_models(dependencies, budget_ledger, traces, settings.models)
    knowledge = build_knowledge(dependencies, models, settings)
    tickets = build_tickets(dependencies, http, settings)
    outside = AddressPolicy.allowing(settings.safety.inside)
    escalations = Escalations(database, clock, vault, http, public_url or configured_url(settings), outside)
    agent = build_agent(
        dependencies,
        appender,
        AgentDependencies(tickets, tools, models, knowledge, budget_ledger, escalations),
        settings,
    )
    built = Gaby(
        settings=settings,
        clock=clock,
        ids=ids,
        database=database,
        metrics=metrics,
        master_keys=master_keys,
        vault=vault,
        appender=appender,
        audit=audit,
        audit_key=audit_key,
        checkpointer=checkpointer,
        witnesses=witnesses,
        identity=identity,
        host=host,
        spill=spill,
        tools=tools,
        models=models,
        knowledge=knowledge,
        usage=UsageService(budget_ledger, Budgets(), traces, clock),
        tickets=tickets,
        agent=agent,
        runner=build_runner(agent, dependencies, settings),
        http=http,
    )
    database.after_commit(built.heard)
    return built


def _master_keys(settings: Settings) -> MasterKeys:
    if settings.crypto.master_key is not None:
        return MasterKeys.from_value(settings.crypto.master_key.get_secret_value())
    return MasterKeys.load_or_create(settings.master_key_path)


def _audit_key(settings: Settings) -> KeyHolder:
    if settings.audit.signing_key is not None:
        return ConfiguredKey(read_pem(settings.audit.signing_key.get_secret_value().encode(), "GABY_AUDIT_SIGNING_KEY"))
    return KeyFile(settings.signing_key_path)


def _witnesses(settings: Settings, http: httpx2.AsyncClient, database: Database, metrics: Metrics) -> Witnesses:
    addresses = parse_witnesses(settings.audit.witnesses)
    return Witnesses(addresses, http, database, CosignatureFile(settings.anchor_path), metrics)


def _anchor_places(settings: Settings, http: httpx2.AsyncClient) -> list[AnchorTarget]:
    places: list[AnchorTarget] = [AnchorFile(settings.anchor_path)]
    if settings.audit.anchor_webhook is not None:
        places.append(AnchorWebhook(settings.audit.anchor_webhook.get_secret_value(), http))
    return places


def _host_limits(settings: Settings) -> HostLimits:
    patience = settings.connectors
    return HostLimits(
        start_timeout=patience.start_timeout.total_seconds(),
        call_deadline=patience.call_deadline.total_seconds(),
        idle_stop=patience.idle_stop.total_seconds(),
        ping_every=patience.check_every.total_seconds(),
        cool_down=patience.put_aside.total_seconds(),
    )


def _tool_settings(settings: Settings) -> ToolSettings:
    safety = settings.safety
    folder = settings.home / "connectors"
    return ToolSettings(
        profile=parse_profile(safety.profile),
        approval_ttl=safety.approval_ttl,
        sitting=safety.sitting,
        folder=folder,
        inside=safety.inside or "",
        reads_per_minute=settings.connectors.reads_per_minute,
        writes_per_minute=settings.connectors.writes_per_minute,
    )
