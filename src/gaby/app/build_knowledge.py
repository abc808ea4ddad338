"""Building everything about knowledge out of the settings."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gaby.knowledge.service import Knowledge
from gaby.llm.service import Models
from gaby.safety import Redactor, parse_profile
from gaby.settings import Settings
from gaby.tools import ToolDependencies

if TYPE_CHECKING:
    from gaby.knowledge.components import KnowledgeComponents


def build_knowledge(dependencies: ToolDependencies, models: Models, settings: Settings) -> Knowledge:
    def make() -> "KnowledgeComponents":
        from gaby.app.past_tickets import PastTickets
        from gaby.knowledge.components import KnowledgeDependencies, build_components

        folders = settings.knowledge.folders
        return build_components(
            KnowledgeDependencies(
                database=dependencies.database,
                clock=dependencies.clock,
                ids=dependencies.ids,
                vault=dependencies.vault,
                metrics=dependencies.metrics,
                models=models,
                random=dependencies.random,
                redactor=Redactor(parse_profile(settings.safety.profile)),
                home=settings.home / "knowledge",
                ask_model=settings.knowledge.ask_model,
                networks=tuple(_listed(settings.knowledge.networks, ",")),
                folders=None if folders is None else tuple(map(Path, _listed(folders, ":"))),
                archive=partial(PastTickets, dependencies.database),
            )
        )

    return Knowledge(dependencies.database, dependencies.clock, make)


def _listed(text: str | None, separator: str) -> list[str]:
    return [each.strip() for each in (text or "").split(separator) if each.strip()]
