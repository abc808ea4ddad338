"""Choice of tools for a need: by words, by meaning, and by whether the values at hand can fill what a tool needs.

A tool that only reads comes before one that changes something, unless the need clearly asks for a change.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaby.llm.embeddings.embed import Embed
from gaby.mind import vectors
from gaby.mind.arguments.feasibility import unfilled
from gaby.mind.arguments.slots import mapping, sequence
from gaby.mind.bm25 import Bm25Ranker
from gaby.mind.changes import asked_changes
from gaby.mind.declarations import ToolDeclaration
from gaby.mind.entities import Entity
from gaby.mind.synonyms import alike, widened
from gaby.mind.tool_names import short_name
from gaby.mind.words import STOP_WORDS, stem, terms, words
from gaby.safety import Access


@dataclass(frozen=True)
class ToolCard:
    name: str
    """With its connector: `directory.unlock_user`."""
    description: str
    schema: Mapping[str, Any]
    access: Access = "read"
    declares: ToolDeclaration = field(default_factory=ToolDeclaration)
    """What its connector says of its rows and values."""


@dataclass(frozen=True)
class ScoredTool:
    name: str
    score: float
    """Between 0 and 1. Low for all of them when nothing fits."""
    why: str


Scores = NDArray[np.float64]

_BY_WORDS = 0.5
_CLAUSE = re.compile(
    r"(?<=[.!?;])\s+|\n+|,\s+|\s+(?:and|then|also|including|after|before|but|because)\s+", re.IGNORECASE
)
_MOST_CLAUSES = 12
_READ = 4000
_DESCRIPTION = 300
_LOOKED_AT = 20
_UNFILLED = 0.15
_UNASKED_CHANGE = 0.6
_OTHER_CHANGE = 0.75
_ASKED_CHANGE = 1.15
_SHOWN_WORDS = 3
_BEHIND = 0.95
_NEAR = 0.1


def choose(
    need: str, tools: Sequence[ToolCard], entities: Sequence[Entity], embed: Embed, limit: int = 5
) -> list[ScoredTool]:
    """The best first, at most `limit`. The order of `tools` matters only between equals."""
    if not tools or limit <= 0 or not need.strip():
        return []
    need = need[:_READ]
    by_words, fit, asked = _lexical(need, tools)
    by_meaning, closest = _semantic(need, tools, embed)
    base = _BY_WORDS * by_words + (1 - _BY_WORDS) * by_meaning
    # The same factor for all: it tells how well the best of them fits, and changes no order.
    base *= min(1.0, max(fit, closest))
    first = np.argsort(-base, kind="stable")[: max(limit, _LOOKED_AT)]
    verbs = asked_changes(need)
    judge = _ToolScorer(need, asked, entities, verbs)
    choices = [judge.adjust(tools[place], float(base[place])) for place in map(int, first)]
    if not verbs:
        choices = _reads_first(choices, {tool.name for tool in tools if tool.access == "write"})
    return sorted(choices, key=lambda choice: -choice.score)[:limit]


def _reads_first(choices: Sequence[ScoredTool], writes: set[str]) -> list[ScoredTool]:
    """Nobody asked for a change, so whatever changes something comes after the best of those that only look."""
    best = max((choice.score for choice in choices if choice.name not in writes), default=0.0)
    most = best * _BEHIND
    return [
        replace(choice, score=round(min(choice.score, most), 4)) if best and choice.name in writes else choice
        for choice in choices
    ]


def _lexical(need: str, tools: Sequence[ToolCard]) -> tuple[Scores, float, list[str]]:
    """The scores, how much of the need the best of them speaks of, and the need's terms, the rarest first."""
    texts = tuple(_text_of(tool) for tool in tools)
    ranker = _ranker(texts)
    asked = {term: math.sqrt(count) for term, count in Counter(terms(need)).items()}
    scores = ranker.scores(widened(asked, [stem(word) for word in words(need)]))
    total = sum(ranker.rarity(term) for term in asked) or 1.0
    best = set(_terms_of(texts[int(scores.argmax())]))
    heard = sum(ranker.rarity(term) for term in asked if term in best) / total
    highest = float(scores.max())
    ranked = sorted(asked, key=lambda term: (-ranker.rarity(term), term))
    return (scores / highest if highest > 0 else scores), heard, ranked


def _semantic(need: str, tools: Sequence[ToolCard], embed: Embed) -> tuple[Scores, float]:
    clauses = [clause for clause in _CLAUSE.split(need) if len(terms(clause)) > 1][:_MOST_CLAUSES]
    asked = np.asarray(embed([need, *clauses]))
    close = asked @ vectors.known.vectors_for(embed, [_short_text_of(tool) for tool in tools]).T
    # A need with several parts is near to the tools of each part.
    mixed = (close[0] + close[1:].max(0)) / 2 if len(clauses) > 1 else close[0]
    low, high = float(mixed.min()), float(mixed.max())
    spread = (mixed - low) / (high - low) if high > low else np.ones_like(mixed)
    return spread.astype(np.float64), max(0.0, high)


class _ToolScorer:
    """Looks closer at the few tools that came first."""

    def __init__(self, need: str, asked: list[str], entities: Sequence[Entity], verbs: frozenset[str]) -> None:
        self._spelled = {stem(word): word for word in words(need) if word not in STOP_WORDS}
        self._asked = asked
        self._entities = entities
        self._verbs = verbs
        self._deeds = frozenset(term for verb in verbs for term in alike(verb))

    def adjust(self, tool: ToolCard, score: float) -> ScoredTool:
        speaks_of = set(_terms_of(_text_of(tool)))
        required = sequence(mapping(tool.schema).get("required"))
        open_ones = unfilled(tool.schema, self._entities)
        score -= _UNFILLED * score * (len(open_ones) / len(required) if required else 0.0)
        does = bool(self._deeds & speaks_of)
        if tool.access == "write":
            score *= _ASKED_CHANGE if does else _OTHER_CHANGE if self._verbs else _UNASKED_CHANGE
        common = [self._spelled[term] for term in self._asked if term in speaks_of][:_SHOWN_WORDS]
        return ScoredTool(
            tool.name, round(min(1.0, score), 4), _why(tool, _heard(common, score), open_ones, asked=does)
        )


def _heard(common: list[str], score: float) -> str:
    if common:
        return f"It speaks of {_listed(common)}"
    return "Its description is near in meaning" if score >= _NEAR else "It hardly fits"


def _why(tool: ToolCard, heard: str, open_ones: Sequence[str], *, asked: bool) -> str:
    needs = f"still needs {_listed(list(open_ones))}" if open_ones else "can be called with what is known"
    if tool.access == "read":
        effect = "it only reads"
    else:
        effect = "it makes the change that is asked for" if asked else "it changes something that nobody asked for yet"
    return f"{heard}, {needs}, and {effect}."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _text_of(tool: ToolCard) -> str:
    parameters = mapping(mapping(tool.schema).get("properties"))
    parameter_texts = (f"{name} {mapping(declared).get('description', '')}" for name, declared in parameters.items())
    # Its name says most, so it counts twice.
    return " ".join((tool.name, short_name(tool.name), tool.description, *parameter_texts))


def _short_text_of(tool: ToolCard) -> str:
    return f"{' '.join(words(tool.name))}. {tool.description[:_DESCRIPTION]}"


@lru_cache(maxsize=8)
def _ranker(texts: tuple[str, ...]) -> Bm25Ranker:
    """A workspace has the same tools from ticket to ticket."""
    return Bm25Ranker([_terms_of(text) for text in texts])


@lru_cache(maxsize=4096)
def _terms_of(text: str) -> tuple[str, ...]:
    return tuple(terms(text))
