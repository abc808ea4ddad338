"""Search queries: what to look for in the knowledge of the company, out of a long ticket."""

from typing import Annotated

from pydantic import Field

from gaby.llm.embeddings.embed import Embed
from gaby.llm.skill import Skill
from gaby.llm.tiers import Tier
from gaby.llm.untrusted_text import Outside
from gaby.mind import queries
from gaby.skills.base import PROMPTS, SkillInput, SkillOutput


class QueryInput(SkillInput):
    text: Outside
    limit: Annotated[int, Field(ge=1, le=8)] = 3


class Queries(SkillOutput):
    queries: Annotated[list[Annotated[str, Field(min_length=1, max_length=400)]], Field(max_length=8)]


def offline(given: QueryInput, _embed: Embed) -> Queries:
    return Queries(queries=[query[:400] for query in queries(given.text, given.limit)])


skill = Skill(
    name="search_queries",
    does="Turn a long ticket into a few search queries.",
    tier=Tier.SMALL,
    takes=QueryInput,
    gives=Queries,
    prompt_file=PROMPTS / "search_queries.md.j2",
    fallback=offline,
    max_output_tokens=300,
    example=QueryInput(
        text="Hello, since the key rotation on Friday our webhooks to https://hooks.lanternfish.example fail with "
        "HTTP 401. Before that all was well. We need the orders in our ERP by tonight. Kind regards, Ada"
    ),
)
