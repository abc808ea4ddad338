"""The offline mind: plain functions that stand in for every skill of a model, and never pretend to be one."""

from gaby.mind.citation_parser import CitingSentence, cited_sentences
from gaby.mind.conclusion import conclude
from gaby.mind.entities import Entity, EntityKind, extract
from gaby.mind.handover import wants_person
from gaby.mind.planning import next_step
from gaby.mind.result_preview import shown
from gaby.mind.search_queries import queries
from gaby.mind.sentences import Sentence, split
from gaby.mind.situations import FoundPassage, NextStep, PastCall, ProposedCall, RuleConclusion, Situation
from gaby.mind.summaries import CitedSentence, ExtractiveSummary, SummaryPassage, summarise
from gaby.mind.support import SupportCheck, support
from gaby.mind.tool_choice import ScoredTool, ToolCard, choose
from gaby.mind.triage import Intent, RuleTriage, triage
from gaby.mind.urgency import Urgency
from gaby.mind.verdicts import CaseFinding, CaseStep, RuleVerdict, VerdictCase, judge

__all__ = [
    "CaseFinding",
    "CaseStep",
    "CitedSentence",
    "CitingSentence",
    "Entity",
    "EntityKind",
    "ExtractiveSummary",
    "FoundPassage",
    "Intent",
    "NextStep",
    "PastCall",
    "ProposedCall",
    "RuleConclusion",
    "RuleTriage",
    "RuleVerdict",
    "ScoredTool",
    "Sentence",
    "Situation",
    "SummaryPassage",
    "SupportCheck",
    "ToolCard",
    "Urgency",
    "VerdictCase",
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
