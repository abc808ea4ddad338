"""What follows from a situation: who is asking, which runbooks fit, and which of their causes holds."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gaby.llm.embeddings.embed import Embed
from gaby.mind.changes import asked_changes
from gaby.mind.entities import extract
from gaby.mind.key_sentences import gist
from gaby.mind.ownership import Ownership
from gaby.mind.page_units import page_units
from gaby.mind.prompt_injection import orders, pretends, wants_data
from gaby.mind.question_terms import exact_tokens
from gaby.mind.questions import is_plain_question
from gaby.mind.records import Record, RecordView
from gaby.mind.runbooks import Branch, ConditionResult, EvaluationContext, Runbook, evaluate, runbooks
from gaby.mind.runbooks.conditions import RequesterKnown
from gaby.mind.situations import PastCall, Situation
from gaby.mind.summaries import CitedSentence
from gaby.mind.synonyms import widened
from gaby.mind.tool_choice import ToolCard
from gaby.mind.tool_names import short_name
from gaby.mind.words import stem, terms, words

_READ = 4000
_WORDS = re.compile(r"\w+")
FITS = 0.3
"""From here on a runbook is about what the ticket tells."""
_MAY_FIT = 0.12
"""Below this it is about something else. In between it is looked into, and believed only as a guess."""
_SHARE_OF_BEST = 0.75
"""A runbook that fits less than this share of the best one is about something else."""
_FOLLOWED = 4
_GUESSED = 2
_SCANNED = 400
_BY_WORDS = 0.45


@dataclass(frozen=True)
class Diagnosis:
    """A cause whose conditions hold."""

    runbook: Runbook
    branch: Branch
    fit: float
    by: tuple[Record, ...]
    is_a_guess: bool = False
    """The ticket hardly speaks of it, or speaks far more of something else. Nothing is changed because of it."""


@dataclass(frozen=True)
class UndecidedCondition:
    """A condition of a runbook that nobody could evaluate. What comes after it is not looked at."""

    runbook: Runbook
    branch: Branch
    why: str

    @property
    def explanation(self) -> str:
        beginning = f"The runbook “{self.runbook.title}” could not be followed"
        return f"{beginning}: whether “{self.branch.words}” is not known; {self.why.rstrip(' .')}."


@dataclass(frozen=True)
class FittingRunbook:
    runbook: Runbook
    fit: float


class SituationAnalysis:
    """Made anew for every step, from the situation alone."""

    def __init__(self, situation: Situation, embed: Embed) -> None:
        self.situation = situation
        self.embed = embed
        self.calls = sorted(situation.calls, key=lambda call: call.number)
        self.tools: dict[str, list[ToolCard]] = {}
        for tool in situation.tools:
            self.tools.setdefault(short_name(tool.name), []).append(tool)

    @cached_property
    def changes(self) -> list[PastCall]:
        """What was changed, or would have been."""
        return [call for call in self.calls if call.access == "write"]

    @cached_property
    def last_change(self) -> int:
        return max((call.number for call in self.changes if call.outcome == "done"), default=0)

    @cached_property
    def before(self) -> RecordView:
        """What was seen before anything was changed: it tells the cause."""
        first = min((call.number for call in self.changes if call.outcome == "done"), default=None)
        return RecordView([call for call in self.calls if first is None or call.number < first])

    @cached_property
    def after(self) -> RecordView:
        return RecordView(self.calls)

    @cached_property
    def ownership(self) -> Ownership:
        return Ownership(self.before, self._vouched, self.situation.tools)

    @cached_property
    def is_stranger(self) -> bool:
        """The company was asked, and nobody there has the requester's address."""
        return Ownership(self.before, self.situation.requester, self.situation.tools).is_stranger

    @cached_property
    def orders(self) -> tuple[str, str] | None:
        """Orders to the assistant with where they stand: in the ticket, or in what belongs to the requester."""
        if order := orders(self.situation.ticket):
            return order, ""
        for record in self.before.records[:_SCANNED]:
            if self.ownership.whose(record) == "own":
                for value in record.fields.values():
                    if isinstance(value, str) and len(value) > 12 and (order := orders(value)):
                        return order, record.call.citation
        return None

    @cached_property
    def is_dangerous(self) -> bool:
        """Orders to the assistant; or a stranger who wants a change or data and speaks of somebody else."""
        if self.situation.instructed:
            return False
        if self.orders:
            return True
        text = self.situation.ticket
        if self.situation.requester_verified and not self.is_stranger:
            return False
        return (bool(asked_changes(text)) or wants_data(text)) and (pretends(text) or self._names_others)

    @property
    def _names_others(self) -> bool:
        own = (self.situation.requester or "").lower()
        entities = extract(self.situation.ticket[:_READ])
        return any(each.kind == "email" and each.value.lower() != own for each in entities)

    @cached_property
    def all_runbooks(self) -> list[Runbook]:
        """Tools that were called are known as well, though they may have been withdrawn since."""
        names = {*(card.name for card in self.situation.tools), *(call.tool for call in self.calls)}
        trusted = [passage for passage in self.situation.passages if passage.trusted]
        return runbooks(trusted, frozenset({*names, *map(short_name, names)}))

    @cached_property
    def fitting_runbooks(self) -> list[FittingRunbook]:
        """The runbooks that fit, the best first. Where there is danger, only the one that is about strangers; for
        somebody whom nobody knows, none. None at all where the one that fits best has errors."""
        if self.is_dangerous or self.is_stranger:
            about = [each for each in self._ranked if not each.runbook.errors and is_about_strangers(each.runbook)]
            return about[:1] if self.is_dangerous else []
        return self._harmless

    @cached_property
    def broken(self) -> Runbook | None:
        """The runbook that fits best, if it has errors and so is not followed."""
        if self.is_dangerous or self.is_stranger or not self.by_fit:
            return None
        best = self.by_fit[0]
        return best.runbook if best.runbook.errors and best.fit >= FITS else None

    @cached_property
    def _ranked(self) -> list[FittingRunbook]:
        return [
            FittingRunbook(runbook, fit)
            for runbook, fit in zip(self.all_runbooks, self._fits(self.all_runbooks), strict=True)
        ]

    @cached_property
    def by_fit(self) -> list[FittingRunbook]:
        """All runbooks for people who are known, the best first, also those with errors."""
        ranked = [each for each in self._ranked if not is_about_strangers(each.runbook)]
        return sorted(ranked, key=lambda each: (-each.fit, each.runbook.rank))

    @cached_property
    def _harmless(self) -> list[FittingRunbook]:
        if self.situation.follow:
            return [
                each
                for each in self._ranked
                if self.situation.follow in each.runbook.citations and not each.runbook.errors
            ]
        if self.by_fit and self.by_fit[0].runbook.errors and self.by_fit[0].fit >= FITS:
            return []
        ranked = [each for each in self.by_fit if not each.runbook.errors]
        fitting = [each for each in ranked if each.fit >= FITS][:_FOLLOWED]
        if is_plain_question(self.situation.ticket):
            return [each for each in fitting if each.runbook.rank < self._first_page]
        return fitting + [each for each in ranked if _MAY_FIT <= each.fit < FITS][:_GUESSED]

    @property
    def _first_page(self) -> int:
        """Where the first page stands that is no runbook. A question that it answers is not a trouble to look into."""
        followed = {citation for runbook in self.all_runbooks for citation in runbook.citations}
        pages = self.situation.passages
        return next((place for place, page in enumerate(pages) if page.citation not in followed), len(pages))

    @cached_property
    def by_symptom(self) -> list[Runbook]:
        """The runbooks of which the ticket says a symptom word by word, in whatever language."""
        complaint = gist(self.situation.ticket, _READ)
        return [runbook for runbook in self.all_runbooks if says_symptom(complaint, runbook.symptoms)]

    def _fits(self, candidates: Sequence[Runbook]) -> list[float]:
        """By meaning, by words, and a little by the order in which the search gave them."""
        if not candidates:
            return []
        ticket = gist(self.situation.ticket, _READ)
        descriptions = [f"{runbook.title}. {runbook.about}" for runbook in candidates]
        vectors = np.asarray(self.embed([ticket, *descriptions]), dtype=np.float64)
        near = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0)
        asked = widened(dict.fromkeys(terms(ticket), 1.0), [stem(word) for word in words(ticket)])
        shares = [_share(asked, text) for text in descriptions]
        by_symptom = {runbook.key for runbook in self.by_symptom}
        return [
            1.0
            if runbook.key in by_symptom
            else round(float((1 - _BY_WORDS) * close + _BY_WORDS * share) + 0.05 / (1 + runbook.rank), 4)
            for runbook, close, share in zip(candidates, near, shares, strict=True)
        ]

    def scene(self, runbook: Runbook, view: RecordView) -> EvaluationContext:
        cards = self.situation.tools
        ownership = self.ownership if view is self.before else Ownership(view, self._vouched, cards)
        situation = self.situation
        scene = EvaluationContext(view, ownership, situation.requester, situation.now, runbook.tools, cards, self.calls)
        return replace(scene, skipped=frozenset(_without_a_thing(runbook, scene)))

    @property
    def _vouched(self) -> str | None:
        return self.situation.requester if self.situation.requester_verified else None

    def holding(self, fitting: FittingRunbook) -> Diagnosis | UndecidedCondition | None:
        """The first cause of a runbook whose conditions hold. They are tried in their order, so one that nobody can
        evaluate ends it: nobody knows whether a later one is meant. Where the ticket hardly speaks of it, the
        requester's own records must."""
        scene = self.scene(fitting.runbook, self.before)
        for branch in fitting.runbook.branches:
            if not branch.conditions:
                continue
            result = evaluate(branch.conditions, scene)
            if result.holds:
                best = self.fitting_runbooks[0].fit if self.fitting_runbooks else fitting.fit
                weak = fitting.fit < max(FITS, _SHARE_OF_BEST * best)
                guess = not self.situation.follow and (weak or self._is_about_another_code(fitting.runbook))
                own = any(self.ownership.whose(record) == "own" for record in result.by)
                if guess and fitting.fit < FITS and not own:
                    return None
                return Diagnosis(fitting.runbook, branch, fitting.fit, result.by, guess)
            if result.holds is None:
                return UndecidedCondition(fitting.runbook, branch, result.why)
        return None

    def _is_about_another_code(self, runbook: Runbook) -> bool:
        """The ticket names a code that an entry of a page is called by, and the runbook says nothing of it."""
        named = {token for token in exact_tokens(self.situation.ticket[:_READ]) if not token.isdigit()}
        if not named:
            return False
        own = [page for page in self.situation.passages if page.citation in runbook.citations]
        explained = {
            token
            for page in self.situation.passages
            if page not in own
            for unit in page_units(page.text)
            for token in exact_tokens(unit.label)
        }
        return bool((named & explained) - {token for page in own for token in exact_tokens(page.text)})

    @cached_property
    def _followed(self) -> Diagnosis | UndecidedCondition | None:
        """Of the runbooks that fit, the first that comes to a cause; one that fits well and is undecided ends it."""
        for each in self.fitting_runbooks:
            outcome = self.holding(each)
            surely = each.fit >= FITS or bool(self.situation.follow)
            if isinstance(outcome, Diagnosis) or (isinstance(outcome, UndecidedCondition) and surely):
                return outcome
        return None

    @property
    def diagnosis(self) -> Diagnosis | None:
        return self._followed if isinstance(self._followed, Diagnosis) else None

    @property
    def undecided(self) -> UndecidedCondition | None:
        return self._followed if isinstance(self._followed, UndecidedCondition) else None

    @cached_property
    def diagnosis_despite_danger(self) -> Diagnosis | None:
        """Where a customer's own records give orders, the customer's trouble is still one. It is for colleagues to
        know, and nothing is done about it here."""
        if not self.orders or not self.orders[1] or not self.situation.requester_verified or self.is_stranger:
            return None
        outcomes = (self.holding(each) for each in self._harmless if each.fit >= FITS)
        return next((each for each in outcomes if isinstance(each, Diagnosis)), None)

    def remedies(self, diagnosis: Diagnosis) -> list[PastCall]:
        """Changes that were made to put it right. A note for colleagues puts nothing right."""
        notes = {short_name(each.tool) for each in diagnosis.branch.wanted if each.hands_over}
        return [call for call in self.changes if call.outcome == "done" and short_name(call.tool) not in notes]

    def looked_again(self, diagnosis: Diagnosis) -> ConditionResult:
        return evaluate(diagnosis.branch.conditions, self.scene(diagnosis.runbook, self.after))

    def was_made(self, key: str, since: int = 0) -> bool:
        return any(call.key == key and call.number > since for call in self.calls)


def is_about_strangers(runbook: Runbook) -> bool:
    """All its causes ask whether the requester is known at all, so it is for those who are not. A runbook that only
    has a branch for them besides others is for everybody."""
    asking = [branch for branch in runbook.branches if branch.conditions]
    return bool(asking) and all(
        any(isinstance(each, RequesterKnown) for group in branch.conditions for each in group) for branch in asking
    )


def says_symptom(ticket: str, symptoms: Sequence[str]) -> bool:
    """Whether a phrase of the runbook's front matter stands in the ticket, word by word."""
    text = f" {' '.join(_WORDS.findall(ticket.casefold()))} "
    phrases = (" ".join(_WORDS.findall(each.casefold())) for each in symptoms)
    return any(phrase and f" {phrase} " in text for phrase in phrases)


def _without_a_thing(runbook: Runbook, scene: EvaluationContext) -> Iterator[str]:
    """Tools that are called for each of some things of which there are none: they have nothing to tell."""
    for step in runbook.steps:
        if step.of is not None and step.of.each:
            best = max((each.called(step.of.nouns) for each in scene.collections), default=0)
            meant = [each for each in scene.collections if best and each.called(step.of.nouns) == best]
            if meant and not any(scene.ownership.readable(each.records) for each in meant):
                yield short_name(step.tool)


def cited(text: str, citations: Iterator[str] | Sequence[str]) -> CitedSentence:
    return CitedSentence(text, tuple(dict.fromkeys(citations)))


def _share(asked: dict[str, float], text: str) -> float:
    """How much of what a runbook is for the ticket speaks of."""
    ticket_terms = set(terms(text))
    return (
        min(1.0, sum(asked.get(term, 0.0) for term in ticket_terms) / max(4.0, 0.5 * len(ticket_terms)))
        if ticket_terms
        else 0.0
    )
