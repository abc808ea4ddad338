"""The runbooks of a workspace: checked, listed and tried."""

from collections.abc import Sequence
from dataclasses import dataclass

from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.errors import Invalid
from gaby.kernel.ids import IdFactory, WorkspaceId
from gaby.knowledge.runbook_consents import consents_of_pages
from gaby.knowledge.service import Knowledge
from gaby.llm.embeddings.embed import Embed
from gaby.llm.service import Models
from gaby.mind import FoundPassage, Situation, ToolCard
from gaby.mind.declarations import ToolDeclaration
from gaby.mind.runbooks import Runbook, is_runbook, parse_runbook
from gaby.mind.runbooks.checks import check, tool_names
from gaby.mind.runbooks.draft import draft_runbook
from gaby.mind.tool_names import short_name
from gaby.runbooks.live_choice import search_pages
from gaby.runbooks.schemas import ListedRunbookOut, RunbookDraftOut, RunbookOut, TrialOut
from gaby.runbooks.trial import Trial, TrialTicket
from gaby.tools import Tools
from gaby.tools.catalogue import declarations_of

_CITATION = "doc:trial/runbook.md#L1"


@dataclass(frozen=True)
class Runbooks:
    database: Database
    clock: Clock
    tools: Tools
    models: Models
    knowledge: Knowledge

    async def cards(self, workspace_id: WorkspaceId) -> list[ToolCard]:
        """Every tool that may be used now, as a runbook sees it."""
        snapshot = await self.tools.catalogue.snapshot(workspace_id)
        return [
            ToolCard(
                entry.facts.full_name,
                entry.definition.description,
                entry.schema,
                entry.facts.access,
                ToolDeclaration(**declarations_of(entry)),
            )
            for _, entry in sorted(snapshot.tools.items())
            if not entry.connector.quarantined and entry.connector.policy.autonomy != "off"
        ]

    async def check(self, workspace_id: WorkspaceId, pages: Sequence[tuple[str, str]]) -> list[RunbookOut]:
        """What is understood of each page, by its name and text, and what not."""
        cards = await self.cards(workspace_id)
        return [_checked(name, text, cards) for name, text in pages]

    async def list(self, workspace_id: WorkspaceId) -> list[ListedRunbookOut]:
        """The pages that are followed as runbooks, and those that say they are and have errors."""
        cards = await self.cards(workspace_id)
        pages = self.knowledge.components.runbook_pages
        listed_pages = [*await pages.declared(workspace_id), *await pages.undeclared(workspace_id, tool_names(cards))]
        listed: list[ListedRunbookOut] = []
        for page in (each for each in listed_pages if not each.written_by_customers):
            runbook = _checked(f"{page.source}/{page.uri}", page.text, cards, page.title)
            errors = [each for each in runbook.problems if each.severity == "error"]
            listed.append(
                ListedRunbookOut(
                    page=runbook.name,
                    title=runbook.title,
                    state="with errors" if errors else "declared" if runbook.declared else "recognised",
                    errors=len(errors),
                    warnings=len(runbook.problems) - len(errors),
                    first_error=f"line {errors[0].line}: {errors[0].why}" if errors else "",
                )
            )
        return listed

    async def draft(self, workspace_id: WorkspaceId, text: str) -> RunbookDraftOut:
        drafted = draft_runbook(text, tool_names(await self.cards(workspace_id)))
        return RunbookDraftOut(text=drafted, open_lines=drafted.count("TODO:"))

    async def try_on(self, actor: Actor, title: str, text: str, ticket: TrialTicket, ids: IdFactory) -> TrialOut:
        """Follow it on a ticket: reads are made, and changes are only simulated."""
        cards = await self.cards(actor.workspace_id)
        runbook = parse_runbook(text, tool_names(cards), _CITATION, title)
        if runbook.errors:
            lines = "; ".join(each.message for each in runbook.errors[:3])
            raise Invalid(f"The runbook has errors, so it is not followed: {lines}. `gaby runbook check` shows them.")
        page = FoundPassage(_CITATION, runbook.title, text, runbook=True)

        async def pages(situation: Situation) -> list[FoundPassage]:
            return await search_pages(self.database, self.knowledge, actor.workspace_id, situation, self._embed)

        consents = await self._consents(actor.workspace_id, runbook, cards)
        trial = Trial(self.tools, ids, self.clock, self._embed, cards, pages, consents)
        return await trial.play(actor, page, ticket)

    async def _consents(self, workspace_id: WorkspaceId, runbook: Runbook, cards: Sequence[ToolCard]) -> dict[str, str]:
        changes = {short_name(card.name) for card in cards if card.access == "write"} & runbook.tools
        pages, names = self.knowledge.components.runbook_pages, [card.name for card in cards]
        return await consents_of_pages(pages, workspace_id, changes, names, ())

    @property
    def _embed(self) -> Embed:
        return self.models.runner.embed


def _checked(name: str, text: str, cards: Sequence[ToolCard], title: str = "") -> RunbookOut:
    names = tool_names(cards)
    runbook = parse_runbook(text, names, f"doc:{name}", title)
    return RunbookOut.from_domain(name, runbook, check(runbook, cards), is_runbook=is_runbook(text, names))
