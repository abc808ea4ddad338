"""The verdict keeps a ticket open whenever there is doubt, and never overlooks what is dangerous."""

from dataclasses import replace
from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.kernel.outcomes import CallOutcome, Verdict
from gaby.mind.verdicts import CaseFinding, CaseStep, VerdictCase, judge

pytestmark = pytest.mark.promise("G2", "L12")

OUTCOMES: tuple[CallOutcome, ...] = get_args(CallOutcome)
CAUSE = CaseFinding("The account is locked.", explains=0.9)
UNLOCK = CaseStep("unlock_user", "done", changes=True)
RESOLVED = VerdictCase(findings=(CAUSE,), steps=(UNLOCK,), verified=True)

steps = st.builds(CaseStep, tool=st.just("t"), outcome=st.sampled_from(OUTCOMES), changes=st.booleans())
cases = st.builds(
    VerdictCase,
    worth_investigating=st.booleans(),
    findings=st.lists(
        st.builds(
            CaseFinding,
            statement=st.just("x"),
            explains=st.floats(0, 1),
            healthy=st.booleans(),
            cited=st.booleans(),
            up_to=st.sampled_from([None, "gaby", "client", "tech", "person"]),
        ),
        max_size=3,
    ).map(tuple),
    steps=st.lists(steps, max_size=3).map(tuple),
    missing=st.sampled_from([(), ("the order number",)]),
    answered=st.floats(0, 1),
    asks_change=st.booleans(),
    verified=st.sampled_from([None, True, False]),
    security=st.booleans(),
    contradictions=st.integers(0, 2),
    budget_gone=st.booleans(),
)


def test_a_change_that_was_checked_resolves_the_ticket() -> None:
    assert judge(RESOLVED).verdict == "auto_resolved"


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        (replace(RESOLVED, verified=None), "needs_tech"),
        (replace(RESOLVED, verified=False), "needs_l2"),
        (replace(RESOLVED, security=True), "needs_l2"),
        (replace(RESOLVED, steps=(UNLOCK, CaseStep("refund", "unknown", changes=True))), "needs_tech"),
        (replace(RESOLVED, steps=(UNLOCK, CaseStep("refund", "asked", changes=True))), "needs_tech"),
        (VerdictCase(findings=(CAUSE,), steps=(CaseStep("unlock_user", "denied", changes=True),)), "needs_tech"),
        (VerdictCase(findings=(replace(CAUSE, up_to="client"),)), "needs_client"),
        (VerdictCase(findings=(replace(CAUSE, cited=False),)), "needs_l2"),
        (VerdictCase(missing=("the order number",)), "needs_client"),
        (VerdictCase(answered=0.9), "auto_resolved"),
        (VerdictCase(answered=0.9, asks_change=True), "needs_tech"),
        (VerdictCase(steps=(CaseStep("get_user", "failed"),)), "failed"),
        (VerdictCase(budget_gone=True), "failed_budget"),
        (replace(RESOLVED, budget_gone=True), "auto_resolved"),
        (VerdictCase(worth_investigating=False), "skipped"),
        (VerdictCase(), "needs_l2"),
    ],
)
def test_each_end_of_an_investigation_has_its_verdict_and_a_reason(case: VerdictCase, verdict: Verdict) -> None:
    judgement = judge(case)
    assert judgement.verdict == verdict
    assert all(reason.endswith(".") for reason in judgement.reasons)


@given(cases)
def test_a_ticket_is_resolved_only_by_a_checked_change_or_a_cited_answer(case: VerdictCase) -> None:
    judgement = judge(case)
    assert 0 < judgement.confidence <= 1
    assert judgement.reasons
    if judgement.verdict == "auto_resolved":
        changed = any(step.changes and step.outcome == "done" for step in case.steps)
        assert (changed and case.verified) or (case.answered >= 0.6 and not case.missing and not case.asks_change)
        assert not case.security
        assert not any(step.outcome == "asked" or (step.outcome == "unknown" and step.changes) for step in case.steps)


@given(cases)
def test_a_change_whose_effect_nobody_knows_always_goes_to_a_person(case: VerdictCase) -> None:
    lost = replace(case, worth_investigating=True, steps=(*case.steps, CaseStep("refund", "unknown", changes=True)))
    assert judge(lost).verdict == "needs_tech"
    assert "refund" in judge(lost).reasons[0]


@given(cases)
def test_signs_of_danger_always_go_to_somebody_who_knows(case: VerdictCase) -> None:
    danger = replace(case, worth_investigating=True, security=True)
    assert judge(danger).verdict in {"needs_l2", "needs_tech"}


def test_every_combination_of_two_outcomes_has_a_verdict() -> None:
    for first, second, changes in product(OUTCOMES, OUTCOMES, (True, False)):
        steps = (CaseStep("a", first, changes=changes), CaseStep("b", second, changes=changes))
        assert judge(VerdictCase(steps=steps)).verdict in get_args(Verdict)


@given(case=cases)
def test_what_is_left_to_a_person_is_never_called_resolved(case: VerdictCase) -> None:
    left = CaseFinding("Nobody here could read it.", up_to="person")
    judgement = judge(replace(case, findings=(*case.findings, left)))
    assert judgement.verdict != "auto_resolved"


def test_what_is_left_to_a_person_is_told_as_the_reason() -> None:
    left = CaseFinding("Nobody here could read it.", up_to="person")
    assert judge(replace(RESOLVED, findings=(CAUSE, left))).reasons == (left.statement,)
