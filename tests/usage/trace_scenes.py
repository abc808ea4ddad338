"""A whole Gaby with a scripted vendor, whose model calls leave traces."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from gaby.app import Gaby
from gaby.kernel.actors import system_actor
from gaby.kernel.ids import SYSTEM, RunId, WorkspaceId
from gaby.llm.accounts import NewAccount
from gaby.llm.results import SkillContext, SkillResult
from gaby.llm.setups import parse_chain
from gaby.llm.skill import Skill
from gaby.llm.trace_format import TraceContent
from gaby.llm.untrusted_text import PromptRedactor
from gaby.safety import ALL_KINDS, Placeholders, Redactor, parse_profile, tag_from
from gaby.usage.call_traces import RunModelCall
from tests.support.models.scripted_vendors import KEY, ScriptedModels


@dataclass
class TracedDesk:
    gaby: Gaby
    workspace_id: WorkspaceId
    vendors: ScriptedModels
    run_id: RunId
    subject: str | None
    placeholders: Placeholders = field(default_factory=lambda: Placeholders(tag_from(b"12345678")))

    @property
    def occasion(self) -> SkillContext:
        return SkillContext(
            self.workspace_id, self.run_id, PromptRedactor(self.conceal, self.conceal), self.reveal, self.subject
        )

    def conceal(self, text: str) -> str:
        redactor = Redactor(parse_profile(self.gaby.settings.safety.profile))
        return redactor.redact(text, self.placeholders, from_outside=True).text

    def reveal(self, value: Any) -> Any:
        return self.placeholders.restore(value, allow=ALL_KINDS)

    async def run(self, skill: Skill[Any, Any], given: Any) -> SkillResult[Any]:
        result = await self.gaby.models.runner.run(skill, given, self.occasion)
        await self.gaby.usage.traces.flush()
        return result

    async def calls(self) -> list[RunModelCall]:
        async with self.gaby.database.read(self.workspace_id) as session:
            return await self.gaby.usage.traces.of_run(session, self.run_id)

    async def content(self, number: int) -> TraceContent:
        traces = self.gaby.usage.traces
        async with self.gaby.database.read(self.workspace_id) as session:
            return await traces.content(session, await traces.call_of_run(session, self.run_id, number))

    async def forget(self) -> bool:
        async with self.gaby.database.write(self.workspace_id) as session:
            return await self.gaby.vault.shred(session, self.subject or "")


@asynccontextmanager
async def traced_desk(gaby: Gaby, vendors: ScriptedModels, *, ticket: bool = True) -> AsyncGenerator[TracedDesk]:
    actor = system_actor("test")
    async with gaby.database.write(SYSTEM) as session:
        made = await gaby.identity.workspaces.create(session, actor, slug="acme", name="Acme")
    workspace_id = WorkspaceId(made.id)
    async with gaby.database.write(workspace_id) as session:
        account = NewAccount("claude", "anthropic", vendors.address("anthropic"), KEY)
        await gaby.models.accounts.add(session, actor, account)
        for tier in ("small", "big"):
            await gaby.models.route(session, actor, tier, parse_chain("claude/claude-test"))
    subject = f"ticket:{gaby.ids.new()}" if ticket else None
    yield TracedDesk(gaby, workspace_id, vendors, RunId(gaby.ids.new()), subject)
