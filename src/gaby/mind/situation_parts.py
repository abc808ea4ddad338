"""A situation as rules can look into it: in a language that they read, and cut into the things that it tells of.

Each thing is looked into by itself, with all that was read for any of them, and with those changes that were made for
it. Where somebody is not known, or gives orders, nothing is cut: there is one ticket, and it is looked at as a whole.
"""

from dataclasses import replace

from gaby.llm.embeddings.embed import Embed
from gaby.mind.investigation import SituationAnalysis, is_about_strangers
from gaby.mind.languages import ENGLISH, UNKNOWN, language_of
from gaby.mind.questions import is_question, questions
from gaby.mind.situations import Situation
from gaby.mind.ticket_parts import parts
from gaby.mind.tool_names import short_name

_ALIKE = 0.12
"""A part that fits no runbook at least so well has none in common with another."""


def why_unread(situation: Situation) -> str:
    """Why a person has to read the ticket; empty where rules can."""
    language = language_of(situation.ticket)
    if language == ENGLISH:
        return ""
    described = language if language == UNKNOWN else f"{language}, a language"
    return f"It is written in {described} that Gaby does not read without a model, so a person has to."


def by_symptom(situation: Situation, embed: Embed) -> Situation | None:
    """With the runbook to follow, for a ticket that rules cannot read and that says a symptom of exactly one runbook.
    It is followed for what it reads and for its cause; whatever it would change or send is left to a person."""
    investigation = SituationAnalysis(situation, embed)
    if not situation.requester_verified or investigation.is_dangerous or investigation.is_stranger:
        return None
    if situation.follow:
        return situation
    said = investigation.by_symptom
    if len(said) != 1 or said[0].errors or is_about_strangers(said[0]):
        return None
    return replace(situation, follow=said[0].citations[0])


def things(situation: Situation, embed: Embed) -> list[Situation]:
    """One for each thing that the ticket tells of; the whole situation where that is one."""
    texts = parts(situation.title, situation.text)
    if len(texts) <= 1 or not situation.requester_verified:
        return [situation]
    # Questions are answered together: whoever asks several asks about one thing, and the page of one helps the others.
    if is_question(situation.ticket) and all(map(questions, texts)):
        return [situation]
    whole = SituationAnalysis(situation, embed)
    if whole.is_dangerous or whole.is_stranger:
        return [situation]
    looked_into = [SituationAnalysis(replace(situation, title="", text=each), embed) for each in texts]
    apart = _apart(looked_into)
    return [_own_changes(each, apart) for each in apart] if len(apart) > 1 else [situation]


def _apart(looked_into: list[SituationAnalysis]) -> list[SituationAnalysis]:
    """Two that lead to the same runbook tell of the same thing."""
    analyses: dict[str, SituationAnalysis] = {}
    for place, each in enumerate(looked_into):
        best = each.fitting_runbooks[0] if each.fitting_runbooks and each.fitting_runbooks[0].fit >= _ALIKE else None
        key = best.runbook.key if best else str(place)
        if key in analyses:
            together = replace(each.situation, text=f"{analyses[key].situation.text} {each.situation.text}")
            analyses[key] = SituationAnalysis(together, each.embed)
        else:
            analyses[key] = each
    return list(analyses.values())


def _own_changes(part: SituationAnalysis, all_parts: list[SituationAnalysis]) -> Situation:
    """A change that only another part wanted tells nothing about this one."""
    own = _wanted(part)
    others = frozenset[str]().union(*(_wanted(each) for each in all_parts if each is not part)) - own
    calls = [call for call in part.calls if call.access == "read" or short_name(call.tool) not in others]
    return replace(part.situation, calls=calls)


def _wanted(part: SituationAnalysis) -> frozenset[str]:
    """Nothing is changed because of a guess, so what was changed was not for it."""
    diagnosis = part.diagnosis
    if diagnosis is None or diagnosis.is_a_guess:
        return frozenset()
    return frozenset(short_name(each.tool) for each in diagnosis.branch.wanted)
