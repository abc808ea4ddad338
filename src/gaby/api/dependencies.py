"""What the application is made of, handed in by the composition root."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from fastapi import FastAPI, Request

from gaby.agent.service import Agent
from gaby.audit import AuditLog
from gaby.identity import Identity
from gaby.kernel.checks import RunCheck
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.metrics import Metrics
from gaby.knowledge.service import Knowledge
from gaby.llm.service import Models
from gaby.tickets.service import Tickets
from gaby.tools import Tools
from gaby.usage.service import UsageService


@dataclass(frozen=True)
class ApiDependencies:
    database: Database
    identity: Identity
    audit: AuditLog
    tools: Tools
    models: Models
    knowledge: Knowledge
    usage: UsageService
    tickets: Tickets
    agent: Agent
    metrics: Metrics
    clock: Clock
    checks: Sequence[RunCheck]
    max_body_bytes: int
    secure: bool
    metrics_token: str | None = None
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None


def dependencies_of(request: Request) -> ApiDependencies:
    return request.app.state.dependencies
