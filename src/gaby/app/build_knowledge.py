"""Building everything about knowledge out of the settings."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gaby.app.services import Services
from gaby.knowledge.service import Knowledge

if TYPE_CHECKING:
    from gaby.knowledge.components import KnowledgeComponents


def build_knowledge(services: Services) -> Knowledge:
    settings = services.settings

    def make() -> "KnowledgeComponents":
        from gaby.app.past_tickets import PastTickets
        from gaby.knowledge.components import KnowledgeDependencies, build_components
        from gaby.safety import Redactor, parse_profile

        folders = settings.knowledge.folders
        return build_components(
            KnowledgeDependencies(
                database=services.database,
                clock=services.clock,
                ids=services.ids,
                vault=services.vault,
                metrics=services.metrics,
                models=services.models,
                random=services.random,
                redactor=Redactor(parse_profile(settings.safety.profile)),
                home=settings.home / "knowledge",
                ask_model=settings.knowledge.ask_model,
                networks=tuple(_listed(settings.knowledge.networks, ",")),
                folders=None if folders is None else tuple(map(Path, _listed(folders, ":"))),
                archive=partial(PastTickets, services.database),
            )
        )

    return Knowledge(services.database, services.clock, make)


def _listed(text: str | None, separator: str) -> list[str]:
    return [each.strip() for each in (text or "").split(separator) if each.strip()]
