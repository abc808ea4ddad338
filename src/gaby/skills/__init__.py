"""The skills that every organ of Gaby shares: one small file each, with a prompt and an answer without a model."""

from collections.abc import Iterable
from typing import Any

from gaby.llm.skill import Skill, Skills


def _load() -> Iterable[Skill[Any, Any]]:
    from gaby.skills import (
        plan,
        rank_passages,
        review,
        search_queries,
        summarise,
        triage,
    )

    rooms = (
        plan,
        rank_passages,
        review,
        search_queries,
        summarise,
        triage,
    )
    return [room.skill for room in rooms]


SKILLS = Skills(_load)
