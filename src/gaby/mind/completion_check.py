"""Whether a ticket is done, by rules that doubt in favour of leaving it open."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gaby.kernel.outcomes import CallOutcome, Verdict
from gaby.mind.changes import asked_changes
from gaby.mind.citation_parser import CitingSentence, cited_sentences
from gaby.mind.question_terms import telling_terms
from gaby.mind.questions import questions
from gaby.mind.sentences import Sentence, split
from gaby.mind.support import support
from gaby.mind.synonyms import alike
from gaby.mind.words import stem, terms, words

_READ = 20_000
_CLAUSES = re.compile(r"[,;:]|\band\b", re.IGNORECASE)
_COVERED = 0.3
"""The share of what a question speaks of that the reply must speak of too."""
_SPOKEN_OF = 0.5
"""The same for a change that is asked for, which words alone do not make."""


@dataclass(frozen=True)
class AppliedChange:
    tool: str
    outcome: CallOutcome
    verified: bool | None = None


@dataclass(frozen=True)
class ResolutionClaim:
    """What is said of a ticket that is about to be closed."""

    ticket: str
    summary: str
    verdict: Verdict
    evidence: Mapping[str, str]
    """By citation."""
    changes: tuple[AppliedChange, ...] = ()
    by_runbook: bool = False
    """A runbook was followed to a cause, and the reply is what it says of that."""

    @property
    def helped(self) -> list[AppliedChange]:
        return [change for change in self.changes if change.verified]

    @property
    def is_explained(self) -> bool:
        """A change that helped, or the cause by a runbook, answers "is it broken" and "what is going on"."""
        return bool(self.helped) or self.by_runbook


def completeness(claim: ResolutionClaim) -> tuple[bool, str]:
    """Whether it is complete, and why or why not."""
    said = cited_sentences(claim.summary[:_READ])
    for objection in (_about_verdict(claim), _about_changes(claim.changes), _about_sources(said, claim.evidence)):
        if objection:
            return False, objection
    if open_asks := [ask for ask in asks(claim.ticket) if not _is_covered(ask, claim, said)]:
        return False, f"The reply does not cover this: {open_asks[0][:200]}"
    if not claim.is_explained and not asks(claim.ticket):
        return False, "Nothing that was asked for can be told apart, so nobody can say whether it is done."
    return True, "All that was asked for is answered with sources or was done and checked."


def asks(ticket: str) -> list[str]:
    """The sentences of a ticket that want something: questions, and requests for a change."""
    own = [sentence for sentence in split(ticket[:_READ]) if sentence.is_own]
    asked = questions(ticket[:_READ])
    return list(dict.fromkeys([*asked, *(each.plain for each in own if _wants_change(each, asked))]))


def _wants_change(sentence: Sentence, asked: Sequence[str]) -> bool:
    text = sentence.plain
    return not any(each in text for each in asked) and bool(terms(text)) and bool(asked_changes(text))


def _about_verdict(claim: ResolutionClaim) -> str:
    return "" if claim.verdict == "auto_resolved" else f"It was judged {claim.verdict}, so it is left open."


def _about_changes(changes: Sequence[AppliedChange]) -> str:
    for change in changes:
        if change.outcome != "done":
            return f"{change.tool} is {change.outcome}."
        if not change.verified:
            return f"Nobody has seen that {change.tool} helped."
    return ""


def _about_sources(said: Sequence[CitingSentence], evidence: Mapping[str, str]) -> str:
    if not said:
        return "There is no reply."
    for sentence in said:
        sources = [evidence[token] for token in sentence.citations if token in evidence]
        if not sentence.citations or len(sources) < len(sentence.citations):
            return f"This has no source: {sentence.text[:200]}"
        if not (degree := support(sentence.text, sources)).holds:
            return f"{degree.why} It was said that {sentence.text[:200]}"
    return ""


def _is_covered(ask: str, claim: ResolutionClaim, said: Sequence[CitingSentence]) -> bool:
    said_stems = {stem(word) for sentence in said for word in words(sentence.text)}
    cited = {token for sentence in said for token in sentence.citations}
    # The page says what its sentences are about: its heading is asked for, and the list below it answers.
    meant = said_stems | {stem(word) for token in cited for word in words(claim.evidence.get(token, "")[:_READ])}
    if asked_changes(ask):
        done = {stem(word) for change in claim.helped for word in words(change.tool)}
        return all(
            _is_done(clause, done, said_stems, meant, helped=bool(claim.helped))
            for clause in map(str.strip, _CLAUSES.split(ask))
        )
    wanted = set(telling_terms(ask))
    if claim.is_explained:
        return True
    if not wanted:
        # "What can I do?" asks about what was told before, which the sources were chosen by.
        return bool(said) and not claim.changes
    return sum(bool(alike(term) & meant) for term in wanted) >= _COVERED * len(wanted)


def _is_done(clause: str, done: set[str], said_stems: set[str], meant: set[str], *, helped: bool) -> bool:
    """A change that is asked for: made by a tool of that name, or spoken of beside a change that helped. "Correct the
    bill" is, when the reply is about the bill; "and cancel the contract" is not."""
    verbs = asked_changes(clause)
    if not verbs or any(alike(verb) & done for verb in verbs):
        return True
    things = set(terms(clause)) - verbs
    spoken_of = sum(bool(alike(thing) & meant) for thing in things) >= _SPOKEN_OF * len(things)
    return helped and (verbs <= said_stems or (spoken_of and bool(things)))
