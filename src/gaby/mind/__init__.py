"""The offline mind: plain functions that stand in for every skill of a model, and never pretend to be one."""

from gaby.mind.cited import Cited, cited_sentences
from gaby.mind.concluding import conclude
from gaby.mind.entities import Entity, EntityKind, extract
from gaby.mind.handover import wants_person
from gaby.mind.planning import next_step
from gaby.mind.search_queries import queries
from gaby.mind.sentences import Sentence, split
from gaby.mind.showing import shown
from gaby.mind.situations import Conclusion, Found, NextStep, PlannedCall, SeenCall, Situation
from gaby.mind.summaries import CitedSentence, Passage, Summary, summarise
from gaby.mind.support import Support, support
from gaby.mind.tool_choice import Choice, ToolCard, choose
from gaby.mind.triage import Intent, Triage, triage
from gaby.mind.urgency import Urgency
from gaby.mind.verdicts import Case, Finding, Judgement, Step, judge

__all__ = [
    "Case",
    "Choice",
    "Cited",
    "CitedSentence",
    "Conclusion",
    "Entity",
    "EntityKind",
    "Finding",
    "Found",
    "Intent",
    "Judgement",
    "NextStep",
    "Passage",
    "PlannedCall",
    "SeenCall",
    "Sentence",
    "Situation",
    "Step",
    "Summary",
    "Support",
    "ToolCard",
    "Triage",
    "Urgency",
    "choose",
    "cited_sentences",
    "conclude",
    "extract",
    "judge",
    "next_step",
    "queries",
    "shown",
    "split",
    "summarise",
    "support",
    "triage",
    "wants_person",
]
