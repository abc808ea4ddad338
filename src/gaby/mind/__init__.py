"""The offline mind: plain functions that stand in for every skill of a model, and never pretend to be one."""

from gaby.mind.arguments import Filled, Origin, fill
from gaby.mind.cited import Cited, cited_sentences
from gaby.mind.contradictions import Hint, hints
from gaby.mind.entities import Entity, EntityKind, extract
from gaby.mind.questions import queries
from gaby.mind.sentences import Sentence, split
from gaby.mind.summaries import CitedSentence, Passage, Summary, summarise
from gaby.mind.support import Support, support
from gaby.mind.tool_choice import Choice, ToolCard, choose
from gaby.mind.triage import Intent, Triage, triage
from gaby.mind.urgency import Urgency
from gaby.mind.verdicts import Case, Finding, Judgement, Step, Verdict, judge

__all__ = [
    "Case",
    "Choice",
    "Cited",
    "CitedSentence",
    "Entity",
    "EntityKind",
    "Filled",
    "Finding",
    "Hint",
    "Intent",
    "Judgement",
    "Origin",
    "Passage",
    "Sentence",
    "Step",
    "Summary",
    "Support",
    "ToolCard",
    "Triage",
    "Urgency",
    "Verdict",
    "choose",
    "cited_sentences",
    "extract",
    "fill",
    "hints",
    "judge",
    "queries",
    "split",
    "summarise",
    "support",
    "triage",
]
