"""The sample company with its handbook, investigated without a model: the loop reduced to its bones.

The tools are the real ones. Searching the handbook is a plain ranking by words and meaning.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from gaby.llm.embeddings.embed import Embed
from gaby.mind import (
    FoundPassage,
    NextStep,
    PastCall,
    ProposedCall,
    RuleConclusion,
    Situation,
    ToolCard,
    conclude,
    next_step,
)
from gaby.mind.bm25 import Bm25Ranker
from gaby.mind.declarations import ToolDeclaration
from gaby.mind.runbooks import is_runbook
from gaby.mind.words import terms
from gaby_connectors.sample_company.tools import connector
from gaby_connectors.sdk.manifest import TOOL_META, ToolManifest
from tests.connectors.sample_company.world import NOW, config
from tests.connectors.talk import Talk, talking

TOOLS = frozenset(connector.tools)
MOST_STEPS = 20
FOUND = 6

Spoil = Callable[[ProposedCall, Any], Any]


@cache
def handbook() -> tuple[FoundPassage, ...]:
    folder = files("gaby_connectors.sample_company") / "handbook"
    passages: list[FoundPassage] = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".md"):
            text = file.read_text(encoding="utf-8")
            title = next(line for line in text.splitlines() if line.startswith("# ")).strip("# ")
            citation = f"doc:handbook/{file.name}#L1-L{text.count(chr(10))}"
            passages.append(FoundPassage(citation, title, text, runbook=is_runbook(text, TOOLS)))
    return tuple(passages)


def search(queries: Sequence[str], embed: Embed, passages: Sequence[FoundPassage]) -> list[FoundPassage]:
    """The best documents for all queries together."""
    ranker = Bm25Ranker([terms(f"{each.title} {each.title} {each.text}") for each in passages])
    vectors = np.asarray(embed([*queries, *(each.text[:600] for each in passages)]), dtype=np.float64)
    best = np.zeros(len(passages))
    for place, query in enumerate(queries):
        by_words = ranker.scores(dict(Counter(terms(query))))
        by_words = by_words / (by_words.max() or 1.0)
        best = np.maximum(best, by_words + vectors[len(queries) :] @ vectors[place])
    return [passages[int(place)] for place in np.argsort(-best, kind="stable")[:FOUND]]


@dataclass(frozen=True)
class PlayedInvestigation:
    """How an investigation went."""

    steps: list[NextStep]
    situation: Situation
    conclusion: RuleConclusion

    @property
    def called(self) -> list[str]:
        return [call.tool.removeprefix("company.") for call in self.situation.calls]

    @property
    def changed(self) -> list[tuple[str, str]]:
        return [
            (call.tool.removeprefix("company."), call.outcome)
            for call in self.situation.calls
            if call.access == "write"
        ]

    @property
    def verdict(self) -> str:
        return self.conclusion.judgement.verdict

    @property
    def reply(self) -> str:
        return " ".join(each.text for each in self.conclusion.sentences)

    @property
    def notes(self) -> str:
        return " ".join(each.text for each in self.conclusion.notes)


@dataclass(frozen=True)
class Run:
    """Whoever stands between the investigator and the tools."""

    talk: Talk
    cards: Sequence[ToolCard]
    dangerous: frozenset[str]
    denies: frozenset[str] = frozenset()
    agrees: bool = False
    """A person lets every change happen at once, as after an approval."""
    spoil: Spoil | None = None
    """Puts something else into a result."""

    async def call(self, planned: ProposedCall, number: int) -> PastCall:
        card = next(card for card in self.cards if card.name == planned.tool)
        name = planned.tool.removeprefix("company.")
        seen = PastCall(number, planned.tool, planned.arguments, "done", card.access)
        if name in self.denies:
            return replace(seen, outcome="denied", reason="The policy forbids it.")
        if card.access == "write" and not self.agrees and (name in self.dangerous or planned.consent):
            return replace(seen, outcome="asked")
        key: Mapping[str, Any] = {"idempotency_key": uuid4().hex} if card.access == "write" else {}
        result = await self.talk.call(name, **{**planned.arguments, **key})
        if result.is_error:
            return replace(seen, outcome="failed", reason=str(result.content))
        value = result.structured_content
        return replace(seen, result=self.spoil(planned, value) if self.spoil else value)


@dataclass(frozen=True)
class Office:
    """The company in a folder, where changes stay."""

    folder: Path
    embed: Embed

    async def investigate(
        self,
        title: str,
        text: str,
        requester: str | None,
        *,
        passages: Sequence[FoundPassage] | None = None,
        more: Sequence[ToolCard] = (),
        verified: bool = True,
        ticket_id: str | None = None,
        **how: Any,
    ) -> PlayedInvestigation:
        """`how` the run goes: what is denied, whether a person agrees, what is put into results."""
        async with talking(connector, config(self.folder)) as talk:
            cards, dangerous = await offered(talk)
            run = Run(talk, [*cards, *more], dangerous, **how)
            situation = Situation(title, text, requester, verified, tools=run.cards, ticket_id=ticket_id, now=NOW)
            return await self._finish(situation, run, handbook() if passages is None else passages)

    async def _finish(self, situation: Situation, run: Run, passages: Sequence[FoundPassage]) -> PlayedInvestigation:
        steps: list[NextStep] = []
        while len(steps) < MOST_STEPS:
            step = next_step(situation, self.embed)
            steps.append(step)
            if step.kind == "conclude":
                return PlayedInvestigation(steps, situation, conclude(situation, self.embed))
            if step.kind == "retrieve":
                found = {each.citation: each for each in search(step.queries, self.embed, passages)}
                found |= {each.citation: each for each in situation.passages}
                asked = (*situation.queries, *step.queries)
                situation = replace(situation, searched=True, passages=list(found.values()), queries=asked)
            for planned in step.calls:
                call = await run.call(planned, len(situation.calls) + 1)
                situation = replace(situation, calls=[*situation.calls, call])
                if call.outcome == "asked":
                    break
        raise AssertionError("It does not come to an end.")


async def offered(talk: Talk) -> tuple[list[ToolCard], frozenset[str]]:
    """The tools as the planner sees them, and which of them are dangerous."""
    cards: list[ToolCard] = []
    dangerous: set[str] = set()
    for tool in (await talk.client.list_tools()).tools:
        manifest = ToolManifest.model_validate((tool.meta or {})[TOOL_META])
        access = "write" if manifest.scope == "write" else "read"
        declared = ToolDeclaration(
            owner=manifest.owner,
            owner_argument=manifest.owner_argument,
            argument_kinds=manifest.argument_kinds,
            result_kinds=manifest.result_kinds,
            content=manifest.content,
            output_schema=tool.output_schema,
        )
        cards.append(ToolCard(f"company.{tool.name}", tool.description or "", tool.input_schema, access, declared))
        if manifest.dangerous:
            dangerous.add(tool.name)
    return cards, frozenset(dangerous)
