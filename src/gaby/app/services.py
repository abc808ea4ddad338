"""Every service of Gaby, each built when it is first used, from those it needs.

Most commands use few of them, and to load the code of all takes several times as long as what a command does.
"""

from functools import cached_property
from typing import TYPE_CHECKING

import gaby
from gaby.app.installation import configured_url, open_configured_database
from gaby.identity.models import Workspace
from gaby.kernel.clock import Clock
from gaby.kernel.database import WriteSession, assign_references
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory, Random
from gaby.settings import Settings

if TYPE_CHECKING:
    import httpx2

    from gaby.agent.escalations import Escalations
    from gaby.agent.run_queries import RunQueries
    from gaby.agent.run_start import RunStarter
    from gaby.agent.service import Agent
    from gaby.audit import Appender, AuditLog, Checkpointer, KeyHolder, Witnesses
    from gaby.identity import Identity
    from gaby.identity.workspaces import Workspaces
    from gaby.kernel.crypto import MasterKeys, Vault
    from gaby.kernel.metrics import Metrics
    from gaby.knowledge.service import Knowledge
    from gaby.llm.service import Models
    from gaby.mcp import McpHost, SpillFolder
    from gaby.tickets.desk_queries import DeskQueries
    from gaby.tickets.service import Tickets
    from gaby.tickets.ticket_queries import TicketQueries
    from gaby.tools import ToolDependencies, Tools
    from gaby.tools.stored_approvals import StoredApprovals
    from gaby.usage.budget_ledger import StoredBudgetLedger
    from gaby.usage.call_traces import CallTraces
    from gaby.usage.service import UsageService
    from gaby.worker.runner import Runner

_REFERRED_TABLES = (Workspace,)
"""Most tables refer to it, and SQLAlchemy has to know it to write a row of any of them."""


class Services:
    def __init__(self, settings: Settings, clock: Clock, random: Random, public_url: str | None) -> None:
        self.settings = settings
        self.clock = clock
        self.started_at = clock.monotonic()
        self.random = random
        self.ids = IdFactory(clock, random)
        self.database = open_configured_database(settings)
        self.public_url = public_url or configured_url(settings)
        self.database.on_events(self._begin_runs)
        self.database.on_events(assign_references)
        self.database.on_events(self._record)

    def is_built(self, service: str) -> bool:
        if not isinstance(getattr(type(self), service), cached_property):
            # A name that is misspelt would never be built, and so never be stopped.
            raise TypeError(f"{service} is no service")
        return service in self.__dict__

    async def _begin_runs(self, session: WriteSession, events: list[Event]) -> None:
        await self.run_starter.heard(session, events)

    async def _record(self, session: WriteSession, events: list[Event]) -> None:
        await self.audit.record(session, events)

    @cached_property
    def metrics(self) -> "Metrics":
        from gaby.kernel.metrics import Metrics

        metrics = Metrics()
        metrics.build_info.labels(version=gaby.__version__).set(1)
        return metrics

    @cached_property
    def master_keys(self) -> "MasterKeys":
        from gaby.kernel.crypto import MasterKeys

        if self.settings.crypto.master_key is not None:
            return MasterKeys.from_value(self.settings.crypto.master_key.get_secret_value())
        return MasterKeys.load_or_create(self.settings.master_key_path)

    @cached_property
    def vault(self) -> "Vault":
        from gaby.kernel.crypto import Vault

        return Vault(self.master_keys, self.clock, self.ids, self.random)

    @cached_property
    def appender(self) -> "Appender":
        from gaby.audit import Appender

        return Appender(self.clock, self.ids)

    @cached_property
    def audit(self) -> "AuditLog":
        from gaby.app.build_audit import build_audit

        return build_audit(self)

    @cached_property
    def audit_key(self) -> "KeyHolder":
        from gaby.app.build_audit import audit_key

        return audit_key(self.settings)

    @cached_property
    def witnesses(self) -> "Witnesses":
        from gaby.app.build_audit import build_witnesses

        return build_witnesses(self)

    @cached_property
    def checkpointer(self) -> "Checkpointer":
        from gaby.app.build_audit import build_checkpointer

        return build_checkpointer(self)

    @cached_property
    def http(self) -> "httpx2.AsyncClient":
        from http.cookiejar import CookieJar, DefaultCookiePolicy

        import httpx2

        # Desks and webhooks share it, so what one of them sets must not reach another.
        return httpx2.AsyncClient(cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])))

    @cached_property
    def workspaces(self) -> "Workspaces":
        from gaby.identity.workspaces import Workspaces

        return Workspaces(self.clock, self.ids)

    @cached_property
    def identity(self) -> "Identity":
        from gaby.identity import build_identity

        return build_identity(
            self.database,
            self.clock,
            self.ids,
            self.random,
            idle=self.settings.session.idle,
            absolute=self.settings.session.absolute,
            public_url=self.public_url,
        )

    @cached_property
    def spill(self) -> "SpillFolder":
        from gaby.app.ciphers import PageCipher
        from gaby.mcp import SpillFolder

        return SpillFolder(self.settings.home / "results", PageCipher(self.master_keys), self.clock, self.random)

    @cached_property
    def host(self) -> "McpHost":
        from gaby.app.build_tools import build_host

        return build_host(self)

    @cached_property
    def tool_dependencies(self) -> "ToolDependencies":
        from gaby.tools import ToolDependencies

        return ToolDependencies(self.database, self.audit, self.vault, self.clock, self.ids, self.random, self.metrics)

    @cached_property
    def tools(self) -> "Tools":
        from gaby.app.build_tools import build_tools_service

        return build_tools_service(self)

    @cached_property
    def budget_ledger(self) -> "StoredBudgetLedger":
        from gaby.app.installed_models import usual_limits
        from gaby.usage.budget_ledger import StoredBudgetLedger

        limits = usual_limits(self.settings.budget)
        return StoredBudgetLedger(self.database, self.clock, self.ids, self.metrics, limits)

    @cached_property
    def traces(self) -> "CallTraces":
        from gaby.usage.call_traces import CallTraces

        return CallTraces(self.database, self.vault, self.clock, self.settings.models.keep_traces)

    @cached_property
    def usage(self) -> "UsageService":
        from gaby.usage.budgets import Budgets
        from gaby.usage.service import UsageService

        return UsageService(self.budget_ledger, Budgets(), self.traces, self.clock)

    @cached_property
    def models(self) -> "Models":
        from gaby.app.build_models import build_models

        return build_models(self)

    @cached_property
    def knowledge(self) -> "Knowledge":
        from gaby.app.build_knowledge import build_knowledge

        return build_knowledge(self)

    @cached_property
    def tickets(self) -> "Tickets":
        from gaby.app.build_tickets import build_tickets

        return build_tickets(self)

    @cached_property
    def ticket_queries(self) -> "TicketQueries":
        from gaby.tickets.ticket_queries import TicketQueries

        return TicketQueries()

    @cached_property
    def desk_queries(self) -> "DeskQueries":
        from gaby.tickets.desk_queries import DeskQueries

        return DeskQueries()

    @cached_property
    def run_queries(self) -> "RunQueries":
        from gaby.agent.run_queries import RunQueries

        return RunQueries()

    @cached_property
    def stored_approvals(self) -> "StoredApprovals":
        from gaby.tools.stored_approvals import StoredApprovals

        return StoredApprovals(self.vault)

    @cached_property
    def escalations(self) -> "Escalations":
        from gaby.agent.escalations import Escalations
        from gaby_connectors.sdk.address_guard import AddressPolicy

        outside = AddressPolicy.allowing(self.settings.safety.inside)
        return Escalations(self.database, self.clock, self.vault, self.http, self.public_url, outside)

    @cached_property
    def run_starter(self) -> "RunStarter":
        from gaby.agent.run_start import RunStarter

        return RunStarter(self.clock, self.ids)

    @cached_property
    def agent(self) -> "Agent":
        from gaby.app.build_agent import build_agent

        return build_agent(self)

    @cached_property
    def runner(self) -> "Runner":
        from gaby.app.build_agent import build_runner

        return build_runner(self)
