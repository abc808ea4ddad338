"""Gaby's skills: one small file each, with a prompt and an answer without a model."""

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

    modules = (
        plan,
        rank_passages,
        review,
        search_queries,
        summarise,
        triage,
    )
    return [module.skill for module in modules]


SKILLS = Skills(_load)
