"""The sample company with its handbook, investigated without a model: the loop reduced to its bones.

The tools are the real ones. Searching the handbook is a plain ranking by words and meaning.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import numpy as np

from gaby.llm.embeddings.embed import Embed
from gaby.mind import Conclusion, Found, NextStep, PlannedCall, SeenCall, Situation, ToolCard, conclude, next_step
from gaby.mind.bm25 import Ranker
from gaby.mind.words import terms
from gaby_connectors.sample_company.tools import connector
from gaby_connectors.sdk.manifest import TOOL_META, ToolManifest
from tests.connectors.sample_company.world import NOW, config
from tests.connectors.talk import Talk, talking

MOST_STEPS = 20
FOUND = 6

Spoil = Callable[[PlannedCall, Any], Any]


@cache
def handbook() -> tuple[Found, ...]:
    folder = files("gaby_connectors.sample_company") / "handbook"
    found: list[Found] = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".md"):
            text = file.read_text(encoding="utf-8")
            title = text.partition("\n")[0].strip("# ")
            found.append(Found(f"doc:handbook/{file.name}#L1-L{text.count(chr(10))}", title, text))
    return tuple(found)


def search(queries: Sequence[str], embed: Embed, shelf: Sequence[Found] | None = None) -> list[Found]:
    """The best documents for all queries together."""
    shelf = handbook() if shelf is None else shelf
    ranker = Ranker([terms(f"{each.title} {each.title} {each.text}") for each in shelf])
    vectors = np.asarray(embed([*queries, *(each.text[:600] for each in shelf)]), dtype=np.float64)
    best = np.zeros(len(shelf))
    for place, query in enumerate(queries):
        by_words = ranker.scores(dict(Counter(terms(query))))
        by_words = by_words / (by_words.max() or 1.0)
        best = np.maximum(best, by_words + vectors[len(queries) :] @ vectors[place])
    return [shelf[int(place)] for place in np.argsort(-best, kind="stable")[:FOUND]]


@dataclass
class Told:
    """How an investigation went."""

    steps: list[NextStep] = field(default_factory=list[NextStep])
    situation: Situation = field(default_factory=lambda: Situation("", ""))
    conclusion: Conclusion = field(default_factory=lambda: conclude(Situation("", ""), _no_vectors))

    @property
    def called(self) -> list[str]:
        return [call.tool.removeprefix("company.") for call in self.situation.calls]

    @property
    def changed(self) -> list[tuple[str, str]]:
        return [(call.tool.removeprefix("company."), call.outcome) for call in self.situation.calls if call.lane == "write"]

    @property
    def verdict(self) -> str:
        return self.conclusion.judgement.verdict

    @property
    def reply(self) -> str:
        return " ".join(each.text for each in self.conclusion.sentences)

    @property
    def notes(self) -> str:
        return " ".join(each.text for each in self.conclusion.notes)


@dataclass
class Office:
    talk: Talk
    cards: list[ToolCard]
    embed: Embed
    dangerous: frozenset[str]

    async def investigate(
        self,
        title: str,
        text: str,
        requester: str | None,
        *,
        spoil: Spoil | None = None,
        denies: frozenset[str] = frozenset(),
        agrees: bool = False,
        shelf: Sequence[Found] | None = None,
        **known: Any,
    ) -> Told:
        """`agrees`: a person lets dangerous changes happen at once, as after an approval."""
        told = Told()
        situation = Situation(
            title, text, requester, **{"requester_verified": True, "tools": self.cards, "now": NOW, **known}
        )
        for _ in range(MOST_STEPS):
            step = next_step(situation, self.embed)
            told.steps.append(step)
            if step.kind == "conclude":
                break
            if step.kind == "retrieve":
                passages = {each.citation: each for each in (*search(step.queries, self.embed, shelf), *situation.passages)}
                asked = (*situation.queries, *step.queries)
                situation = replace(situation, searched=True, passages=list(passages.values()), queries=asked)
                continue
            for planned in step.calls:
                call = await self._call(planned, len(situation.calls) + 1, denies, agrees=agrees, spoil=spoil)
                situation = replace(situation, calls=[*situation.calls, call])
                if call.outcome == "asked":
                    break
        else:
            raise AssertionError("It does not come to an end.")
        told.situation = situation
        told.conclusion = conclude(situation, self.embed)
        return told

    async def _call(
        self, planned: PlannedCall, number: int, denies: frozenset[str], *, agrees: bool, spoil: Spoil | None
    ) -> SeenCall:
        card = next(card for card in self.cards if card.name == planned.tool)
        name = planned.tool.removeprefix("company.")
        seen = SeenCall(number, planned.tool, planned.arguments, "done", card.lane)
        if name in denies:
            return replace(seen, outcome="denied", reason="The policy forbids it.")
        if card.lane == "write" and not agrees and (name in self.dangerous or planned.consent):
            return replace(seen, outcome="asked")
        extra: Mapping[str, Any] = {"idempotency_key": f"k{number}"} if card.lane == "write" else {}
        result = await self.talk.call(name, **{**planned.arguments, **extra})
        if result.is_error:
            return replace(seen, outcome="failed", reason=str(result.content))
        value = result.structured_content
        return replace(seen, result=spoil(planned, value) if spoil else value)


@asynccontextmanager
async def office(folder: Path, embed: Embed) -> AsyncGenerator[Office]:
    async with talking(connector, config(folder)) as talk:
        cards: list[ToolCard] = []
        dangerous: set[str] = set()
        for tool in (await talk.client.list_tools()).tools:
            manifest = ToolManifest.model_validate((tool.meta or {})[TOOL_META])
            lane = "write" if manifest.scope == "write" else "read"
            schema = cast("dict[str, Any]", tool.input_schema)
            cards.append(ToolCard(f"company.{tool.name}", tool.description or "", schema, lane))
            if manifest.dangerous:
                dangerous.add(tool.name)
        yield Office(talk, cards, embed, frozenset(dangerous))


def _no_vectors(texts: Sequence[str]) -> Any:
    return np.zeros((len(texts), 1), dtype=np.float32)
