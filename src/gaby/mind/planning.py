"""What to do next in an investigation: ask the knowledge, call tools, or come to an end.

First the knowledge, then who is asking, then the runbooks that fit, the best first: what each wants to see, and once
one of its causes holds, what it wants done. After a change whatever showed the trouble is looked at again. Where no
runbook helps, a few tools that fit and only read. All of it follows from the situation: there is nothing to remember.
"""

from collections.abc import Iterable

from gaby.llm.embeddings.embed import Embed
from gaby.mind.answers import WELL, answer, answered
from gaby.mind.exploration import explore
from gaby.mind.fix_verification import looks
from gaby.mind.handover import wants_person
from gaby.mind.investigation import Diagnosis, SituationAnalysis, UndecidedCondition
from gaby.mind.questions import is_plain_question
from gaby.mind.replies import note_text
from gaby.mind.runbook_calls import identifying, reads
from gaby.mind.runbooks import document_of
from gaby.mind.search_queries import queries
from gaby.mind.situation_parts import by_symptom, things, why_unread
from gaby.mind.situations import FoundPassage, NextStep, ProposedCall, Situation
from gaby.mind.ticket_parts import parts
from gaby.mind.withheld_changes import permitted_calls

MOST_CALLS = 8
MOST_IN_ALL = 40
ANSWERED = WELL
_QUERIES = 5
_FOR_A_PART = 1
DANGER = "security: phishing, a stranger asks for access or gives orders to the assistant"


def next_step(situation: Situation, embed: Embed) -> NextStep:
    """The same for the same situation, always."""
    if asks_for_person(situation):
        return NextStep("conclude", why="The requester asks for a person.")
    if not situation.searched:
        return NextStep("retrieve", _first_queries(situation, embed), why="The handbook may know this.")
    if why_unread(situation):
        return _answered(SituationAnalysis(situation, embed)) or _unread(situation, embed)
    if reason := _is_over(SituationAnalysis(situation, embed)):
        return NextStep("conclude", why=reason)
    return _together(situation, [_next(each, embed) for each in things(situation, embed)])


def asks_for_person(situation: Situation) -> bool:
    return not situation.instructed and wants_person(situation.ticket)


def _next(situation: Situation, embed: Embed) -> NextStep:
    investigation = SituationAnalysis(situation, embed)
    if query := _second_query(investigation):
        return NextStep("retrieve", (query,), why="Something came up that the handbook may know.")
    for step in _steps(investigation):
        if step is not None:
            return step
    return NextStep("conclude", why="Nothing more can be learned.")


def _unread(situation: Situation, embed: Embed) -> NextStep:
    """What rules cannot read is looked into no further than to see who wrote it, and what the one runbook wants to see
    of which it says a symptom."""
    followed = by_symptom(situation, embed)
    investigation = SituationAnalysis(followed or situation, embed)
    step = _read_step(investigation, ())
    for fitting in investigation.fitting_runbooks[:1] if followed else ():
        step = step or _read_step(investigation, reads(investigation, fitting).calls)
        if step is None and isinstance(outcome := investigation.holding(fitting), Diagnosis):
            step = _fresh(investigation, reads(investigation, fitting, outcome).calls, f"{fitting.runbook.title}.")
    return step or NextStep("conclude", why="It is left to a person who reads it.")


def _together(situation: Situation, steps: list[NextStep]) -> NextStep:
    """Everything is looked at before anything is changed, so that what tells the causes is seen as it was."""
    if len(steps) == 1:
        return steps[0]
    if first := next((each for each in steps if each.kind == "retrieve"), None):
        return first
    only_read = {card.name for card in situation.tools if card.access == "read"}
    call_steps = [each for each in steps if each.kind == "call"]
    reading = [each for each in call_steps if all(call.tool in only_read for call in each.calls)]
    if not reading:
        return call_steps[0] if call_steps else steps[-1]
    once = {call.key: call for each in reading for call in each.calls}
    return NextStep("call", calls=tuple(once.values())[:MOST_CALLS], why=reading[0].why)


def prose(situation: Situation, investigation: SituationAnalysis) -> list[FoundPassage]:
    """Passages that are for everybody: runbooks are for those who work here."""
    runbook_keys = {each.key for each in investigation.all_runbooks}
    return [each for each in situation.passages if document_of(each.citation) not in runbook_keys]


def _first_queries(situation: Situation, embed: Embed) -> tuple[str, ...]:
    danger = [DANGER] if SituationAnalysis(situation, embed).is_dangerous else []
    asked = [situation.title[:240]] if situation.title.strip() else []
    each = [query for part in parts(situation.title, situation.text) for query in queries(part, _FOR_A_PART)]
    ordered = dict.fromkeys([*danger, *each, *asked, *queries(situation.ticket)])
    return tuple(ordered)[: max(_QUERIES, len(danger) + len(each))] or (" ".join(situation.ticket[:240].split()),)


def _second_query(investigation: SituationAnalysis) -> str | None:
    """What was asked for is known only if the loop says so; else nothing is asked twice."""
    asked = investigation.situation.queries
    if not asked:
        return None
    if investigation.is_dangerous and DANGER not in asked:
        return DANGER
    return None


def _is_over(investigation: SituationAnalysis) -> str:
    if any(call.outcome == "asked" for call in investigation.changes):
        return "A change waits for a person's consent."
    if any(call.outcome == "unknown" for call in investigation.changes):
        return "Nobody knows whether a change happened, so nothing more is done."
    if len(investigation.calls) >= MOST_IN_ALL:
        return "Enough was looked at."
    return ""


def _steps(investigation: SituationAnalysis) -> Iterable[NextStep | None]:
    """Each only when those before it have nothing to do."""
    if any(call.outcome in {"done", "simulated"} for call in investigation.changes):
        diagnosis = investigation.diagnosis
        yield _fresh(investigation, looks(investigation), "To see whether it helped.", investigation.last_change)
        if diagnosis is not None:
            yield _change(investigation, diagnosis)
        yield NextStep("conclude", why="What could be done was done.")
    yield _answered(investigation)
    yield _read_step(investigation, ())
    if not (investigation.situation.requester_verified or investigation.is_dangerous):
        yield NextStep("conclude", why="Nobody knows who is asking, so nothing more is looked up.")
    yield from _runbooks(investigation)
    if not investigation.situation.nudges and not investigation.is_dangerous and not investigation.is_stranger:
        yield _fresh(investigation, explore(investigation), "No runbook explains it, so what fits is looked at.")


def _answered(investigation: SituationAnalysis) -> NextStep | None:
    situation = investigation.situation
    is_read = not why_unread(situation)
    if investigation.is_dangerous or (is_read and not is_plain_question(situation.ticket)):
        return None
    page_answer = answer(situation.ticket, prose(situation, investigation), investigation.embed)
    is_answered = answered(situation.ticket, page_answer) >= ANSWERED
    return NextStep("conclude", why="The handbook answers it.") if is_answered else None


def _runbooks(investigation: SituationAnalysis) -> Iterable[NextStep | None]:
    for fitting in investigation.fitting_runbooks:
        yield _read_step(investigation, reads(investigation, fitting).calls)
        outcome = investigation.holding(fitting)
        if isinstance(outcome, Diagnosis):
            yield _fresh(investigation, reads(investigation, fitting, outcome).calls, f"{fitting.runbook.title}.")
            yield _change(investigation, outcome)
            yield NextStep("conclude", why="The cause is known, and what could be done was done.")
        elif isinstance(outcome, UndecidedCondition) and outcome == investigation.undecided:
            yield NextStep("conclude", why=outcome.explanation[:300])


def _read_step(investigation: SituationAnalysis, wanted: Iterable[ProposedCall]) -> NextStep | None:
    """Together with whatever is still open about who is asking: all of it only reads."""
    first = [] if investigation.before.calls and investigation.ownership.is_known else identifying(investigation)
    return _fresh(investigation, [*first, *wanted], "To see what is the case.")


def _change(investigation: SituationAnalysis, diagnosis: Diagnosis) -> NextStep | None:
    """Nothing is changed for strangers or where there is danger; a note for colleagues can always be left."""
    calls = permitted_calls(investigation, diagnosis, note_text(investigation, diagnosis))
    return _fresh(investigation, calls, diagnosis.branch.cause or diagnosis.runbook.title)


def _fresh(
    investigation: SituationAnalysis, calls: Iterable[ProposedCall], why: str, since: int = 0
) -> NextStep | None:
    """Those that were not made yet, whatever came of them."""
    once = {call.key: call for call in calls}
    open_ones = [call for key, call in once.items() if not investigation.was_made(key, since)][:MOST_CALLS]
    return NextStep("call", calls=tuple(open_ones), why=why[:300]) if open_ones else None
