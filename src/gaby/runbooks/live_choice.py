"""Which runbook of the workspace an investigation would follow for a ticket, found as an investigation finds it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gaby.kernel.database import Database
from gaby.kernel.ids import WorkspaceId
from gaby.knowledge.runbook_consents import sources_of_customers
from gaby.knowledge.service import Knowledge
from gaby.llm.embeddings.embed import Embed
from gaby.mind import FoundPassage, Situation, next_step
from gaby.mind.investigation import FittingRunbook, SituationAnalysis
from gaby.mind.runbooks import document_of
from gaby.mind.runbooks.checks import tool_names
from gaby.mind.situation_parts import by_symptom, things, why_unread

_PASSAGES = 6
_CANDIDATES = 30


@dataclass(frozen=True)
class LiveChoice:
    own_fit: float
    """Of the runbook that is tried, among all others."""
    fitting: FittingRunbook | None = None
    """The runbook that would be followed; None: no runbook would be."""
    is_own: bool = False

    @property
    def page(self) -> str:
        return self.fitting.runbook.key.removeprefix("doc:") if self.fitting and not self.is_own else ""


async def search_pages(
    database: Database, knowledge: Knowledge, workspace_id: WorkspaceId, situation: Situation, embed: Embed
) -> list[FoundPassage]:
    """What a search gives for the ticket, runbooks whole: those with a symptom of the ticket come first."""
    asked = next_step(replace(situation, searched=False, follow="", passages=(), calls=()), embed)
    ticket = f"{situation.title}\n{situation.text}"
    components = knowledge.components
    results = await components.searcher.search(
        workspace_id, ticket, rewrites=asked.queries, limit=_CANDIDATES, everything=True
    )
    near = {hit.document_id for hit in results.hits[:_PASSAGES]}
    further = {hit.document_id for hit in results.hits[_PASSAGES:]} - near
    names = tool_names(situation.tools)
    runbook_pages = await components.runbook_pages.select(workspace_id, near | further, ticket, names)
    whole = {
        page.document_id: FoundPassage(
            page.citation,
            page.title,
            page.text,
            trusted=not page.written_by_customers,
            runbook=not page.written_by_customers,
        )
        for page in runbook_pages
    }
    of_customers = await sources_of_customers(database, workspace_id)
    ordered = [
        *(page for key, page in whole.items() if key not in near | further),
        *(
            whole.get(hit.document_id)
            or FoundPassage(hit.citation, hit.title, hit.text, trusted=hit.source not in of_customers)
            for hit in results.hits[:_PASSAGES]
        ),
        *(page for key, page in whole.items() if key in further),
    ]
    return list({page.citation: page for page in ordered}.values())


def live_choice(situation: Situation, pages: Sequence[FoundPassage], embed: Embed) -> LiveChoice:
    """Of the situation behind a trial. The page that is tried stands for the one of the same title, if there is one."""
    own = situation.passages[0]
    others = [each for each in pages if not (each.runbook and each.title == own.title)]
    place = next((place for place, each in enumerate(pages) if each not in others), 0)
    free = replace(situation, follow="", passages=[*others[:place], own, *others[place:]])
    choices = [_chosen_runbook(SituationAnalysis(each, embed)) for each in _looked_into(free, embed)]
    fits = [each.fit for each in SituationAnalysis(free, embed).by_fit if each.runbook.key == document_of(own.citation)]
    fit = fits[0] if fits else 0.0
    own_choice = next((each for each in choices if each and each.runbook.key == document_of(own.citation)), None)
    if own_choice is not None:
        return LiveChoice(max(fit, own_choice.fit), own_choice, is_own=True)
    return LiveChoice(fit, next((each for each in choices if each), None))


def _looked_into(situation: Situation, embed: Embed) -> list[Situation]:
    """The things that a ticket tells of; of one that rules cannot read, no more than what its symptom leads to."""
    if not why_unread(situation):
        return things(situation, embed)
    followed = by_symptom(situation, embed)
    return [followed] if followed is not None else []


def _chosen_runbook(investigation: SituationAnalysis) -> FittingRunbook | None:
    followed = investigation.diagnosis or investigation.undecided
    fitting = investigation.fitting_runbooks
    return next(
        (each for each in fitting if followed and each.runbook == followed.runbook), fitting[0] if fitting else None
    )
