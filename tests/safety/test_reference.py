"""The decision against a second opinion: a small model written only from the rules as a person would tell them."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaby.safety import CarrierFact, Facts, Label, LaneRules, Leaf, Origin, Policy, Scopes, Trace, decide
from gaby_connectors.sdk.manifest import Autonomy
from tests.safety.facts import NOW, approval, facts, tool

pytestmark = pytest.mark.promise("S13")

LEVELS = st.sampled_from(list(Autonomy))


def _trace(labels: list[Label], quantity: bool) -> Trace:
    return Trace(Leaf("who", "x", quantity), tuple(Origin(label, "s", "desk") for label in labels))


_LABELS = st.lists(st.sampled_from([Label.OPERATOR, Label.PRINCIPAL, Label.SYSTEM]), max_size=2)
TRACES = st.lists(st.builds(_trace, _LABELS, st.booleans()), max_size=3)
CARRIERS = st.lists(
    st.builds(CarrierFact, st.just("body"), st.sampled_from(["link", "secret", "card"]), st.just("v"), st.booleans()),
    max_size=2,
)


@st.composite
def situations(draw: st.DrawFn) -> tuple[Facts, Policy]:
    writes = draw(st.booleans())
    manifest: dict[str, object] = {"scope": "write" if writes else "read", "supports_dry_run": draw(st.booleans())}
    if writes:
        manifest["dangerous"] = draw(st.booleans())
        manifest["requires_approval_above_autonomy"] = draw(st.sampled_from([None, "investigate", "propose", "act"]))
        manifest["forbidden_in_autonomy"] = draw(st.lists(LEVELS, max_size=2))
        manifest["destinations"] = draw(st.sampled_from([(), ("to",)]))
    of_tool = replace(tool(**manifest), unsafe=draw(st.booleans()))
    approvals = st.builds(
        approval,
        state=st.sampled_from(["approved", "waiting", "used"]),
        binding=st.sampled_from(["bound", "other"]),
        expires_at=st.sampled_from([NOW, approval().expires_at]),
    )
    found = facts(
        tool=of_tool,
        traces=tuple(draw(TRACES)),
        carriers=tuple(draw(CARRIERS)),
        killed=draw(st.sampled_from([None, None, None, "x"])),
        quarantined=draw(st.sampled_from([False, False, True])),
        argument_errors=draw(st.sampled_from([(), (), ("x",)])),
        calls_last_minute=draw(st.sampled_from([0, 0, 30, 300])),
        widening=draw(st.sampled_from([None, "wider"])),
        rehearsal_wanted=draw(st.booleans()),
        approved_before=draw(st.booleans()),
        approval=draw(st.none() | approvals),
        binding="bound",
    )
    lanes = st.sampled_from([LaneRules(allow=("**",)), LaneRules(), LaneRules(allow=("**",), deny=("unlock",))])
    return found, Policy(draw(LEVELS), Scopes(read=draw(lanes), write=draw(lanes)))


def may_run(found: Facts, policy: Policy) -> bool:
    """Nothing at all happens if this says no."""
    rules = policy.scopes.write if found.tool.lane == "write" else policy.scopes.read
    level = Autonomy.INVESTIGATE if found.tool.unsafe and policy.autonomy.rank > 1 else policy.autonomy
    most = 30 if found.tool.lane == "write" else 300
    return not (
        found.killed
        or policy.autonomy is Autonomy.OFF
        or found.quarantined
        or found.argument_errors
        or (found.tool.unsafe and found.tool.lane == "write")
        or not rules.allow
        or rules.deny
        or level in found.tool.manifest.forbidden_in_autonomy
        or found.calls_last_minute >= most
    )


def needs_a_person(found: Facts, policy: Policy) -> bool:
    manifest = found.tool.manifest
    authority = {Label.OPERATOR, Label.PRINCIPAL}
    for trace in found.traces:
        enough = authority if manifest.dangerous and not trace.leaf.quantity else authority | {Label.SYSTEM}
        if not enough & {origin.label for origin in trace.origins}:
            return True
    if any(carrier.kind != "link" or not carrier.trusted for carrier in found.carriers):
        return True
    if found.widening:
        return True
    default = "act" if manifest.dangerous else "propose"
    asks_up_to = Autonomy(manifest.requires_approval_above_autonomy or default)
    return policy.autonomy.rank <= asks_up_to.rank and (manifest.dangerous or not found.approved_before)


def expected(found: Facts, policy: Policy) -> str:
    if not may_run(found, policy):
        return "deny"
    if found.tool.lane == "read":
        return "allow"
    can_rehearse = found.tool.manifest.supports_dry_run and not found.tool.manifest.destinations
    if found.rehearsal_wanted or policy.autonomy is Autonomy.INVESTIGATE:
        return "simulate" if can_rehearse else "deny"
    if found.approval is not None:
        given_for_this = found.approval.state == "approved" and found.approval.binding == "bound"
        return "allow" if given_for_this and found.approval.expires_at > NOW else "deny"
    return "ask" if needs_a_person(found, policy) else "allow"


@settings(max_examples=1500)
@given(situations())
def test_every_decision_agrees_with_the_second_opinion(situation: tuple[Facts, Policy]) -> None:
    found, policy = situation
    verdict = decide(found, policy)
    assert verdict.outcome == expected(found, policy), verdict
    assert verdict.rule
    assert verdict.reason
    assert bool(verdict.concerns) == (verdict.outcome == "ask")


@settings(max_examples=500)
@given(situations())
def test_content_never_raises_authority(situation: tuple[Facts, Policy]) -> None:
    """Taking trusted origins away never turns a question or a denial into a permission."""
    found, policy = situation
    before = decide(found, policy).outcome
    stripped = tuple(replace(trace, origins=()) for trace in found.traces)
    after = decide(replace(found, traces=stripped), policy).outcome
    assert (before, after) in {(before, before), ("allow", "ask")}
