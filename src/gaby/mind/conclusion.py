"""How an investigation ends: what was found, what is left to do, and what the requester is told."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from gaby.llm.embeddings.embed import Embed
from gaby.mind.answers import WORTH_TELLING, PageAnswer, answer, answered
from gaby.mind.changes import asked_changes
from gaby.mind.conclusion_merge import joined
from gaby.mind.fix_verification import helped
from gaby.mind.investigation import FITS, Diagnosis, SituationAnalysis
from gaby.mind.obstacles import asked_values, in_short, not_done, obstacles, overlooked
from gaby.mind.planning import ANSWERED, asks_for_person, prose
from gaby.mind.questions import (
    asks_for_detail,
    asks_for_rules,
    is_plain_question,
    is_question,
    questions,
    wanted_changes,
)
from gaby.mind.records import Record, RecordView
from gaby.mind.replies import follow_up_sentences, note_text, notes, reply, unsent
from gaby.mind.result_preview import shown
from gaby.mind.runbook_calls import card_of
from gaby.mind.runbooks import Branch, Runbook
from gaby.mind.runbooks.conditions import CountCondition
from gaby.mind.sentences import split
from gaby.mind.situation_parts import by_symptom, things, why_unread
from gaby.mind.situations import PastCall, RuleConclusion, Situation
from gaby.mind.states import OPPOSITES, TROUBLE
from gaby.mind.summaries import CitedSentence, SummaryPassage, summarise
from gaby.mind.synonyms import alike
from gaby.mind.tool_names import short_name
from gaby.mind.triage import triage
from gaby.mind.verdicts import CaseFinding, CaseStep, RuleVerdict, VerdictCase, judge
from gaby.mind.withheld_changes import withheld_changes
from gaby.mind.words import stem, terms

_SURE, _LIKELY = 0.9, 0.75
_WELL = 0.4
"""From here on a runbook is plainly about what the ticket says."""
_GUESS = 0.45
_UNANSWERED = CaseFinding("It is a question that no page answers for sure.", up_to="person")
_MAY_ANSWER = 0.3
"""How surely a page must answer a question, to be suggested to a person who looks at the draft."""
_EVIDENCE = 3
"""Passages that colleagues are shown where nothing answers."""
_SUMMARISED = 6
_HEADLINES = ("title", "headline", "subject", "summary")
_NO_ANSWER = frozenset({"failed", "denied", "unknown"})
_WHO = "who is asking: the request has to come from an address that we know"
ASK_WHO = "We cannot look into this before we know who you are: please write to us from the address that we know."


def conclude(situation: Situation, embed: Embed) -> RuleConclusion:
    """What is known now. Whoever stops early gets what can be said at that point."""
    urgency = triage(situation.ticket, embed).urgency
    return replace(_conclude(situation, embed), urgency=urgency)


def _conclude(situation: Situation, embed: Embed) -> RuleConclusion:
    whole = SituationAnalysis(situation, embed)
    if not whole.is_dangerous and asks_for_person(situation):
        return _apart(_handed_over(whole, "The requester asks for a person."))
    if (unread := why_unread(situation)) and not whole.is_dangerous:
        return _apart(_unread(whole, unread))
    parts = things(situation, embed)
    if len(parts) == 1:
        return _apart(_concluded(parts[0], embed))
    return _apart(joined([(each.text, _concluded(each, embed)) for each in parts]))


def _concluded(situation: Situation, embed: Embed) -> RuleConclusion:
    investigation = SituationAnalysis(situation, embed)
    if investigation.is_dangerous:
        return _danger(investigation)
    diagnosis = investigation.diagnosis
    if diagnosis is not None and diagnosis.is_a_guess and _is_answered(investigation):
        # What a page surely says counts more than what is only guessed at.
        return _undiagnosed(investigation)
    if diagnosis is not None and _is_off_topic(situation, diagnosis):
        return _undiagnosed(investigation)
    if diagnosis is not None and investigation.situation.requester_verified:
        return _diagnosed(investigation, diagnosis)
    return _undiagnosed(investigation)


def _is_off_topic(situation: Situation, diagnosis: Diagnosis) -> bool:
    """Somebody asks for rules, and a runbook that is hardly about it finds that there is no such trouble: asked what is
    paid back to those who cancel, it says that no sailing was cancelled."""
    groups = diagnosis.branch.conditions
    finds_nothing = bool(groups) and all(
        isinstance(each, CountCondition) and each.most == 0 for group in groups for each in group
    )
    is_about_it = diagnosis.fit >= _WELL or bool(diagnosis.branch.wanted)
    return finds_nothing and not is_about_it and is_question(situation.ticket) and asks_for_rules(situation.ticket)


def _is_answered(investigation: SituationAnalysis) -> bool:
    return answered(investigation.situation.ticket, _known(investigation)) >= ANSWERED


def _apart(conclusion: RuleConclusion) -> RuleConclusion:
    """A value that was told may be several sentences, and each needs its source."""
    return replace(conclusion, sentences=_each_cited(conclusion.sentences), notes=_each_cited(conclusion.notes))


def _each_cited(sentences: Sequence[CitedSentence]) -> tuple[CitedSentence, ...]:
    return tuple(
        CitedSentence(" ".join(part.text.split()), each.citations, each.released)
        for each in sentences
        for part in split(each.text)
    )


def _unread(investigation: SituationAnalysis, doubt: str) -> RuleConclusion:
    """A page may answer a question in any language; the rest is for a person."""
    situation = investigation.situation
    known = _known(investigation)
    sure = answered(situation.ticket, known)
    if sure < ANSWERED:
        followed = by_symptom(situation, investigation.embed)
        if followed is not None:
            return _diagnosed_unread(SituationAnalysis(followed, investigation.embed), doubt)
        return _handed_over(investigation, doubt)
    case = VerdictCase(steps=_steps(investigation, None), answered=sure, budget_gone=situation.budget_gone)
    return RuleConclusion(case, judge(case), known.sentences)


def _diagnosed_unread(investigation: SituationAnalysis, doubt: str) -> RuleConclusion:
    """To a person, with what the runbook says whose symptom the ticket says: its cause, what it would do, its texts."""
    diagnosis = investigation.diagnosis
    branch = diagnosis.branch if diagnosis else None
    case = VerdictCase(
        findings=(CaseFinding(doubt, up_to="person"),),
        steps=_steps(investigation, branch),
        security=branch is not None and branch.security,
        budget_gone=investigation.situation.budget_gone,
    )
    if diagnosis is None:
        _, sentences = _findings(investigation)
        return RuleConclusion(case, judge(case), (), (*obstacles(investigation), *sentences))
    left = withheld_changes(investigation, diagnosis, note_text(investigation, diagnosis))
    return RuleConclusion(
        case,
        judge(case),
        tuple(reply(investigation, diagnosis)),
        (
            *notes(investigation, diagnosis),
            *(CitedSentence(each.explanation, diagnosis.runbook.citations) for each in left),
            *follow_up_sentences(investigation, diagnosis),
        ),
        diagnosis.branch.cause,
        diagnosis.runbook.citations,
    )


def _handed_over(investigation: SituationAnalysis, why: str) -> RuleConclusion:
    """To a person, with the passages that may help them."""
    case = VerdictCase(
        findings=(CaseFinding(why, up_to="person"),),
        steps=_steps(investigation, None),
        budget_gone=investigation.situation.budget_gone,
    )
    return RuleConclusion(case, judge(case), (), _evidence(investigation))


def _known(investigation: SituationAnalysis) -> PageAnswer:
    """What the pages answer that the requester may read."""
    situation = investigation.situation
    readable = [each for each in prose(situation, investigation) if each.for_requester]
    return answer(situation.ticket, readable, investigation.embed)


def _evidence(investigation: SituationAnalysis) -> tuple[CitedSentence, ...]:
    """What the pages say that come nearest: for colleagues, who may read all of them and can tell whether it helps."""
    situation = investigation.situation
    return answer(situation.ticket, prose(situation, investigation), investigation.embed).evidence[:_EVIDENCE]


def _danger(investigation: SituationAnalysis) -> RuleConclusion:
    """The requester reads nothing of it: whoever is honest is not accused, and whoever is not learns nothing."""
    situation = investigation.situation
    diagnosis = investigation.diagnosis
    sources = [call.citation for call in investigation.before.calls][:2]
    cited_branch = [diagnosis.branch.citation] if diagnosis else []
    cause = diagnosis.branch.cause if diagnosis else _what_is_wrong(investigation)
    case = VerdictCase(
        findings=(CaseFinding(cause, 0.9, cited=bool(sources or cited_branch), up_to="tech"),),
        steps=_steps(investigation, diagnosis.branch if diagnosis else None),
        asks_change=bool(asked_changes(situation.text)),
        security=True,
        budget_gone=situation.budget_gone,
    )
    cited = (*cited_branch, *sources)
    sentences = notes(investigation, diagnosis) if diagnosis else [CitedSentence(cause, cited)] if cited else []
    if other_diagnosis := investigation.diagnosis_despite_danger:
        sentences += notes(investigation, other_diagnosis)
    return RuleConclusion(
        case,
        judge(case),
        (),
        tuple(sentences),
        cause,
        diagnosis.runbook.citations if diagnosis else (),
    )


def _what_is_wrong(investigation: SituationAnalysis) -> str:
    if investigation.orders:
        words_, where = investigation.orders
        return (
            f"Somebody tries to give orders to the assistant ({'in a result' if where else 'in the ticket'}): {words_}."
        )
    return "Somebody whom nobody knows asks for a change or for data."


def _diagnosed(investigation: SituationAnalysis, diagnosis: Diagnosis) -> RuleConclusion:
    branch = diagnosis.branch
    strength = _GUESS if diagnosis.is_a_guess else _SURE if diagnosis.fit >= _WELL else _LIKELY
    finding = CaseFinding(branch.cause or diagnosis.runbook.title, strength, up_to=_up_to(investigation, diagnosis))
    left = [] if diagnosis.is_a_guess else overlooked(investigation, diagnosis)
    handed = branch.handed[:1] if investigation.remedies(diagnosis) else ()
    case = VerdictCase(
        findings=(finding, *(CaseFinding(each.text, up_to="person") for each in (*left, *handed))),
        steps=_steps(investigation, branch),
        asks_change=bool(asked_changes(investigation.situation.ticket)),
        verified=helped(investigation, diagnosis),
        settles=branch.settles,
        security=branch.security,
        contradictions=_contradictions(investigation.before),
        budget_gone=investigation.situation.budget_gone,
    )
    return RuleConclusion(
        case,
        judge(case),
        tuple(_guessed(investigation) if diagnosis.is_a_guess else reply(investigation, diagnosis)),
        (
            *notes(investigation, diagnosis),
            *not_done(investigation, diagnosis),
            *left,
            *(_evidence(investigation) if diagnosis.is_a_guess else ()),
        ),
        branch.cause,
        diagnosis.runbook.citations,
    )


def _guessed(investigation: SituationAnalysis) -> list[CitedSentence]:
    """What the handbook says of it may be told; what is only guessed at may not."""
    known = _known(investigation)
    return list(known.sentences) if known.how_well >= WORTH_TELLING else []


def _up_to(investigation: SituationAnalysis, diagnosis: Diagnosis) -> Literal["gaby", "client", "tech", "nobody"]:
    branch = diagnosis.branch
    changed = {short_name(call.tool) for call in investigation.changes}
    for each in branch.wanted:
        if not each.hands_over and (short_name(each.tool) in changed or card_of(investigation, each, "write")):
            return "gaby"
    if branch.asked or branch.handed:
        return "tech" if branch.handed else "client"
    # The runbook has nothing to do and nobody to hand it to: to be told is all there is to it.
    is_told = branch.told and not branch.wanted and not branch.slow and not unsent(investigation, diagnosis)
    return "nobody" if is_told and not diagnosis.is_a_guess else "tech"


def _undiagnosed(investigation: SituationAnalysis) -> RuleConclusion:
    situation = investigation.situation
    known = _known(investigation)
    sure = 0.0 if _is_handed_over_by_runbook(investigation) else answered(situation.ticket, known)
    is_open = situation.requester_verified and not investigation.is_stranger
    findings, sentences = _findings(investigation) if is_open else ((), ())
    missing = _missing(investigation, sure)
    if sure < ANSWERED and not missing and is_plain_question(situation.ticket):
        findings = (*findings, _UNANSWERED)
    if is_open and (stopped := obstacles(investigation)):
        sentences = (*stopped, *sentences)
        # It explains nothing and nothing is in order by it, so somebody has to look.
        findings = (CaseFinding(in_short(investigation)), *findings)
    case = VerdictCase(
        findings=findings,
        steps=_steps(investigation, None),
        missing=missing,
        answered=sure,
        asks_change=bool(wanted_changes(situation.ticket)),
        contradictions=_contradictions(investigation.before),
        budget_gone=situation.budget_gone,
    )
    judgement = judge(case)
    if judgement.verdict == "auto_resolved":
        return RuleConclusion(case, judgement, known.sentences, sentences)
    if situation.drafts and judgement.reasons == (_UNANSWERED.statement,) and sure >= _MAY_ANSWER:
        suggested = RuleVerdict("auto_resolved", 0.5, ("A page may answer it, which a person decides.",))
        return RuleConclusion(case, suggested, known.sentences, sentences, is_suggestion=True)
    # What answers only a part is for a colleague to judge.
    near = () if judgement.verdict == "needs_client" else _evidence(investigation)
    return RuleConclusion(case, judgement, _open_end(investigation, case), (*sentences, *near))


def _steps(investigation: SituationAnalysis, branch: Branch | None) -> tuple[CaseStep, ...]:
    """A note that was left for colleagues is no change that anybody has to check."""
    notes_ = {each.tool for each in branch.wanted if each.hands_over} if branch else set[str]()
    return tuple(
        CaseStep(
            call.tool,
            call.outcome,
            call.access == "write" and not (short_name(call.tool) in notes_ and call.outcome == "done"),
            call.reason,
        )
        for call in investigation.calls
    )


def _findings(investigation: SituationAnalysis) -> tuple[tuple[CaseFinding, ...], tuple[CitedSentence, ...]]:
    """What the tools show, without anybody having said what it means."""
    findings: list[CaseFinding] = []
    sentences: list[CitedSentence] = []
    if investigation.before.calls and (followed := _followed_to_the_end(investigation)):
        sources = (
            *(runbook.citations[0] for runbook, _ in followed),
            *(call.citation for call in investigation.before.calls),
        )
        for runbook, says in followed:
            text = f"The runbook “{runbook.title}” was followed, and none of its conditions holds. {says}".strip()
            sentences.append(CitedSentence(text, sources))
            findings.append(CaseFinding(text, healthy=True))
    speakable = [call for call in investigation.before.calls if _is_speakable(investigation, call)]
    passages = [SummaryPassage(call.citation, shown(call.result)) for call in speakable]
    irrelevant = _irrelevant_headlines(investigation)
    for each in summarise(investigation.situation.ticket, passages, investigation.embed, _SUMMARISED).sentences:
        if any(headline in each.text for headline in irrelevant):
            continue
        troubled = not TROUBLE.isdisjoint(terms(each.text))
        findings.append(CaseFinding(each.text, _GUESS if troubled else 0.0, healthy=not troubled))
        sentences.append(each)
    return tuple(findings), tuple(sentences)


def _irrelevant_headlines(investigation: SituationAnalysis) -> set[str]:
    """Headlines of what happened to all, such as an incident, and has no word in common with the ticket: a colleague
    who reads what was found need not read those."""
    about = frozenset(terms(investigation.situation.ticket))
    shared = [each for each in investigation.before.records if investigation.ownership.whose(each) == "shared"]
    headlines = {str(each.get(name)) for each in shared for name in _HEADLINES if each.get(name)}
    return {each for each in headlines if not any(not alike(term).isdisjoint(about) for term in terms(each))}


def _followed_to_the_end(investigation: SituationAnalysis) -> list[tuple[Runbook, str]]:
    """Runbooks that fit and of which every condition was evaluated, with whom each hands it to then."""
    followed: list[tuple[Runbook, str]] = []
    for each in investigation.fitting_runbooks:
        if (each.fit >= FITS or investigation.situation.follow) and investigation.holding(each) is None:
            otherwise = [branch for branch in each.runbook.branches if not branch.conditions]
            followed.append((each.runbook, " ".join(said.text for branch in otherwise for said in branch.handed)))
    return followed


def _is_handed_over_by_runbook(investigation: SituationAnalysis) -> bool:
    """A runbook for this trouble found no cause and says who takes it then. A page answers only who asks for a detail:
    `the gate code does not work?` is a question by its mark alone."""
    if not investigation.before.calls or asks_for_detail(investigation.situation.ticket):
        return False
    return any(says for _, says in _followed_to_the_end(investigation))


def _is_speakable(investigation: SituationAnalysis, call: PastCall) -> bool:
    records = [record for record in investigation.before.records if record.call is call]
    return bool(records) and all(investigation.ownership.whose(record) != "other" for record in records)


def _missing(investigation: SituationAnalysis, answered: float) -> tuple[str, ...]:
    """What only the requester can tell."""
    situation, asked = investigation.situation, asked_values(investigation)
    if answered >= ANSWERED or situation.instructed or (not asked and is_plain_question(situation.ticket)):
        return ()
    if not situation.requester_verified:
        return (_WHO,) if _needs_identity(investigation) and not situation.asked_before else ()
    if investigation.is_stranger:
        # The desk vouches for them. Why no record has their address is ours to find out.
        return ()
    if any(call.outcome in _NO_ANSWER for call in investigation.calls):
        # What our own tools could not tell is not the requester's to find out.
        return ()
    return asked


def _needs_identity(investigation: SituationAnalysis) -> bool:
    """Something would be changed, or somebody's records would be looked at. Whoever asks a question is answered from
    pages, or by a person."""
    ticket = investigation.situation.ticket
    return not questions(ticket) and (bool(asked_changes(ticket)) or bool(investigation.tools))


def _open_end(investigation: SituationAnalysis, case: VerdictCase) -> tuple[CitedSentence, ...]:
    """What only the requester can tell. That a person takes over is said in the acknowledgement."""
    sources = tuple(call.citation for call in investigation.before.calls)[:4]
    runbook_citations = tuple(each.runbook.citations[0] for each in investigation.fitting_runbooks[:1])
    if case.missing == (_WHO,):
        # It states nothing that was found, and whoever is asked may not know what was.
        return (CitedSentence(ASK_WHO, ()),)
    if case.missing and (sources or runbook_citations):
        return (CitedSentence(f"To go on we need to know {case.missing[0]}.", sources or runbook_citations),)
    return ()


def _contradictions(view: RecordView) -> int:
    """Two tools that say the opposite of the same thing."""
    seen: dict[tuple[str, str], Record] = {}
    count = 0
    for record in view.records:
        identity = record.get("id")
        if not isinstance(identity, str):
            continue
        for name, value in record.fields.items():
            first = seen.setdefault((identity, name), record)
            count += first.call is not record.call and _are_opposed(first.get(name), value)
    return count


def _are_opposed(one: object, other: object) -> bool:
    if isinstance(one, bool) and isinstance(other, bool):
        return one != other
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    return (stem(one.lower()), stem(other.lower())) in OPPOSITES
