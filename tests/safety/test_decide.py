"""The decision, rule by rule. Each rule is the only thing that is wrong with an otherwise good call."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gaby.safety import (
    AccessRules,
    ArgumentLeaf,
    ArgumentRole,
    ArgumentTrace,
    CarrierFact,
    Disclosure,
    Facts,
    Label,
    Origin,
    Policy,
    Quote,
    Scopes,
    Verdict,
)
from gaby.safety.decide import autonomy_of, decide
from gaby_connectors.sdk.manifest import Autonomy
from tests.safety.facts import ACTING, EVERYTHING, NOW, OPERATOR, SYSTEM, approval, facts, tool, traced

pytestmark = pytest.mark.promise("S13")


def at(level: Autonomy, **more: int) -> Policy:
    return Policy(level, EVERYTHING, **more)


def test_a_change_whose_every_steering_value_is_vouched_for_is_allowed() -> None:
    assert decide(facts(), ACTING) == Verdict("allow", "act", "Every value that steers this change is vouched for.")


@pytest.mark.parametrize(
    ("spoiled", "policy", "rule"),
    [
        (facts(killed="grace stopped it"), ACTING, "kill_switch"),
        (facts(), at(Autonomy.OFF), "autonomy.off"),
        (facts(quarantined=True), ACTING, "definition.changed"),
        (facts(argument_errors=("who: missing",)), ACTING, "arguments.invalid"),
        (facts(tool=replace(tool(), unsafe=True)), ACTING, "manifest.missing"),
        (facts(), Policy(Autonomy.ACT, Scopes.reading()), "scope.not_allowed"),
        (facts(tool=tool(forbidden_in_autonomy=("act",))), ACTING, "autonomy.forbidden"),
        (facts(), at(Autonomy.ACT, writes_per_minute=0), "rate_limit"),
        (facts(rehearsal_wanted=True), ACTING, "rehearsal.impossible"),
        (facts(), at(Autonomy.INVESTIGATE), "autonomy.investigate"),
    ],
)
def test_each_refusal_has_its_rule(spoiled: Facts, policy: Policy, rule: str) -> None:
    verdict = decide(spoiled, policy)
    assert (verdict.outcome, verdict.rule) == ("deny", rule)
    assert verdict.concerns == ()
    assert not verdict.rehearse


def test_refusals_say_what_is_wrong_and_what_to_do() -> None:
    assert decide(facts(killed="grace: because"), ACTING).reason == "Stopped: grace: because"
    assert decide(facts(), at(Autonomy.OFF)).reason == "The connector desk is switched off."
    assert "`gaby connector diff desk`" in decide(facts(quarantined=True), ACTING).reason
    two = decide(facts(argument_errors=("a is missing", "b is no number")), ACTING).reason
    assert two == "The arguments do not fit the tool: a is missing; b is no number"
    assert "`gaby connector draft desk`" in decide(facts(tool=replace(tool(), unsafe=True)), ACTING).reason
    assert decide(facts(tool=tool(forbidden_in_autonomy=("act",))), ACTING).reason == (
        "unlock is forbidden while desk is set to act."
    )
    assert decide(facts(), at(Autonomy.ACT, writes_per_minute=0)).reason == "0 changes a minute are allowed for desk."
    assert decide(facts(rehearsal_wanted=True), ACTING).reason == "unlock cannot be rehearsed."
    assert decide(facts(), at(Autonomy.INVESTIGATE)).reason == "desk only investigates, so nothing is changed."


def test_refusals_come_in_the_order_in_which_one_wants_to_hear_them() -> None:
    everything = facts(
        killed="x", quarantined=True, argument_errors=("x",), calls_last_minute=999, tool=replace(tool(), unsafe=True)
    )
    policy = Policy(Autonomy.OFF, Scopes())
    rules: list[str] = []
    for mend in (
        {"killed": None},
        {},
        {"quarantined": False},
        {"argument_errors": ()},
        {"tool": tool(forbidden_in_autonomy=("act",))},
        {},
        {"tool": tool()},
        {},
        {"calls_last_minute": 0},
    ):
        rules.append(decide(everything, policy).rule)
        everything = replace(everything, **mend)
        if rules[-1] == "autonomy.off":
            policy = replace(policy, autonomy=Autonomy.ACT)
        if rules[-1] == "scope.not_allowed":
            policy = at(Autonomy.ACT, writes_per_minute=0)
        if rules[-1] == "rate_limit":
            policy = ACTING
    assert rules == [
        "kill_switch",
        "autonomy.off",
        "definition.changed",
        "arguments.invalid",
        "manifest.missing",
        "scope.not_allowed",
        "autonomy.forbidden",
        "rate_limit",
        "rate_limit",
    ]
    assert decide(everything, policy).outcome == "allow"


@pytest.mark.promise("S2", "S13")
def test_what_would_be_done_waits_for_the_rate_limit_and_is_told_for_how_long() -> None:
    assert facts().seconds_until_free == 0
    assert Verdict("allow", "act", "It may.").retry_after == 0
    often = facts(calls_last_minute=7, seconds_until_free=12.5)
    policy = at(Autonomy.ACT, writes_per_minute=7)
    reason = "7 changes a minute are allowed for desk."
    assert decide(often, policy) == Verdict("wait", "rate_limit", reason, retry_after=12.5)
    assert decide(replace(often, calls_last_minute=6), policy).outcome == "allow"
    reading = replace(often, tool=tool(scope="read"))
    waits = decide(reading, at(Autonomy.ACT, reads_per_minute=7))
    assert (waits.outcome, waits.reason) == ("wait", "7 reads a minute are allowed for desk.")
    rehearsed = replace(often, tool=tool(supports_dry_run=True), rehearsal_wanted=True)
    assert decide(rehearsed, policy).outcome == "wait"


@pytest.mark.promise("S2", "S13")
def test_a_refusal_or_a_question_does_not_wait_for_the_rate_limit() -> None:
    often = facts(calls_last_minute=999, seconds_until_free=60.0)
    assert decide(replace(often, killed="grace"), ACTING).rule == "kill_switch"
    assert decide(replace(often, rehearsal_wanted=True), ACTING).rule == "rehearsal.impossible"
    assert decide(often, at(Autonomy.INVESTIGATE)).rule == "autonomy.investigate"
    assert decide(replace(often, repeated=True), ACTING).outcome == "ask"


@pytest.mark.promise("S2")
def test_each_access_has_its_own_scopes_and_the_denying_pattern_is_named() -> None:
    reading = facts(tool=tool(scope="read"))
    writing = facts()
    only_reads = Policy(Autonomy.ACT, Scopes(read=AccessRules(allow=("unlock",))))
    only_writes = Policy(Autonomy.ACT, Scopes(write=AccessRules(allow=("unlock",))))
    assert decide(reading, only_reads).outcome == "allow"
    assert decide(writing, only_writes).outcome == "allow"
    assert decide(reading, only_writes).reason == "desk may not read `unlock`: no rule allows it."
    assert decide(writing, only_reads).reason == "desk may not write `unlock`: no rule allows it."
    denied = Policy(Autonomy.ACT, Scopes(write=AccessRules(allow=("**",), deny=("un*",))))
    verdict = decide(writing, denied)
    assert (verdict.rule, verdict.reason) == ("scope.denied", "desk may not write `unlock`: `un*` denies it.")


def test_reads_and_writes_have_their_own_limits() -> None:
    policy = at(Autonomy.ACT, reads_per_minute=5, writes_per_minute=3)
    reading = tool(scope="read")
    assert decide(facts(tool=reading, calls_last_minute=4), policy).outcome == "allow"
    assert decide(facts(tool=reading, calls_last_minute=5), policy).rule == "rate_limit"
    assert decide(facts(calls_last_minute=2), policy).outcome == "allow"
    assert decide(facts(calls_last_minute=3), policy).rule == "rate_limit"


def test_without_a_word_about_limits_a_connector_is_read_300_times_a_minute_and_changed_30_times() -> None:
    reading = tool(scope="read")
    assert decide(facts(tool=reading, calls_last_minute=299), ACTING).outcome == "allow"
    assert decide(facts(tool=reading, calls_last_minute=300), ACTING).rule == "rate_limit"
    assert decide(facts(calls_last_minute=29), ACTING).outcome == "allow"
    assert decide(facts(calls_last_minute=30), ACTING).rule == "rate_limit"
    assert decide(facts(), at(Autonomy.ACT, writes_per_minute=1)).outcome == "allow"


@pytest.mark.promise("S3")
def test_a_read_is_allowed_at_every_level_but_off_whatever_it_looks_for() -> None:
    reading = facts(tool=tool(scope="read"), traces=(traced(),))
    for level in Autonomy:
        verdict = decide(reading, at(level))
        assert verdict.rule == ("autonomy.off" if level is Autonomy.OFF else "read"), level
    assert decide(reading, at(Autonomy.INVESTIGATE)).reason == "Reading is allowed here."


@pytest.mark.promise("S3")
def test_a_connector_without_a_manifest_only_investigates_whatever_it_was_set_to() -> None:
    unsafe = replace(tool(scope="read", steering=()), unsafe=True)
    forbidden = replace(unsafe, manifest=unsafe.manifest.model_copy(update={"forbidden_in_autonomy": ("investigate",)}))
    for level in (Autonomy.INVESTIGATE, Autonomy.PROPOSE, Autonomy.ACT):
        asked = decide(facts(tool=unsafe, traces=()), at(level))
        assert (asked.outcome, asked.rule) == ("ask", "manifest.missing"), "not even a read runs unasked"
        agreed = facts(tool=unsafe, approval=approval(), binding="bound")
        assert decide(agreed, at(level)).rule == "approval"
        assert decide(facts(tool=forbidden), at(level)).rule == "autonomy.forbidden"
    assert decide(facts(tool=unsafe), at(Autonomy.OFF)).rule == "autonomy.off"
    levels = [autonomy_of(facts(tool=unsafe), at(level)) for level in Autonomy]
    assert levels == [Autonomy.OFF, *[Autonomy.INVESTIGATE] * 3]
    assert [autonomy_of(facts(), at(level)) for level in Autonomy] == list(Autonomy)


@pytest.mark.promise("S4")
def test_what_may_not_be_done_is_rehearsed_when_the_connector_can() -> None:
    able = facts(tool=tool(supports_dry_run=True))
    assert decide(able, at(Autonomy.INVESTIGATE)) == Verdict(
        "simulate", "autonomy.investigate", "desk only investigates, so nothing is changed."
    )
    wanted = replace(able, rehearsal_wanted=True)
    for level in (Autonomy.INVESTIGATE, Autonomy.PROPOSE, Autonomy.ACT):
        assert decide(wanted, at(level)) == Verdict("simulate", "rehearsal", "Rehearsed, as asked. Nothing is changed.")
    assert decide(able, at(Autonomy.ACT)).outcome == "allow"


@pytest.mark.promise("S4", "S9")
def test_what_would_send_something_is_not_even_rehearsed() -> None:
    sending = facts(tool=tool(supports_dry_run=True, destinations=("to",)))
    assert decide(sending, at(Autonomy.INVESTIGATE)).rule == "autonomy.investigate"
    assert decide(sending, at(Autonomy.INVESTIGATE)).outcome == "deny"
    assert decide(replace(sending, rehearsal_wanted=True), ACTING).rule == "rehearsal.impossible"
    assert not decide(sending, at(Autonomy.PROPOSE)).rehearse


@pytest.mark.promise("S3")
@pytest.mark.parametrize(
    ("manifest", "asks_at"),
    [
        ({}, [Autonomy.PROPOSE]),
        ({"dangerous": True}, [Autonomy.PROPOSE, Autonomy.ACT]),
        ({"dangerous": True, "requires_approval_above_autonomy": "propose"}, [Autonomy.PROPOSE]),
        ({"requires_approval_above_autonomy": "act"}, [Autonomy.PROPOSE, Autonomy.ACT]),
        ({"requires_approval_above_autonomy": "investigate"}, []),
    ],
)
def test_who_must_consent_is_said_by_autonomy_and_manifest(
    manifest: dict[str, object], asks_at: list[Autonomy]
) -> None:
    for level in (Autonomy.PROPOSE, Autonomy.ACT):
        verdict = decide(facts(tool=tool(**manifest)), at(level))
        assert verdict.outcome == ("ask" if level in asks_at else "allow"), level
        assert verdict.rule == ("consent" if level in asks_at else "act")


def test_a_question_of_consent_says_how_grave_it_is_and_offers_a_rehearsal() -> None:
    plain = decide(facts(tool=tool(supports_dry_run=True)), at(Autonomy.PROPOSE))
    assert plain.reason == "unlock changes something and needs a person's consent at `propose`."
    assert plain.rehearse
    grave = decide(facts(tool=tool(dangerous=True)), ACTING)
    assert grave.reason == "unlock is dangerous and needs a person's consent at `act`."
    assert not grave.rehearse


@pytest.mark.promise("S12")
def test_an_earlier_consent_in_the_same_sitting_is_enough_but_never_for_danger_or_strange_values() -> None:
    again = facts(approved_before=True)
    assert decide(again, at(Autonomy.PROPOSE)).outcome == "allow"
    assert decide(replace(again, tool=tool(dangerous=True)), at(Autonomy.PROPOSE)).rule == "consent"
    assert decide(replace(again, traces=(traced(),)), at(Autonomy.PROPOSE)).rule == "provenance"


@pytest.mark.promise("S7")
def test_a_value_from_outside_asks_and_quotes_its_source() -> None:
    seen = replace(traced(), quotes=(Quote("the ticket", "unlock ada"), Quote("a page", "ada")))
    verdict = decide(facts(traces=(seen,)), ACTING)
    assert (verdict.outcome, verdict.rule) == ("ask", "provenance")
    (concern,) = verdict.concerns
    assert concern.reason == "`ada` comes from outside. It was seen in the ticket."
    assert concern.argument == "who"
    assert concern.quotes == seen.quotes
    unseen = decide(facts(traces=(traced(),)), ACTING)
    assert unseen.reason == "`ada` comes from outside. Nobody trusted ever named it."


@pytest.mark.promise("S8")
def test_an_id_that_only_the_system_knows_is_enough_unless_the_tool_is_dangerous() -> None:
    known = facts(traces=(traced(SYSTEM),))
    assert decide(known, ACTING).outcome == "allow"
    grave = replace(known, tool=tool(dangerous=True, requires_approval_above_autonomy="propose"))
    verdict = decide(grave, ACTING)
    assert (verdict.outcome, verdict.rule) == ("ask", "binding")
    assert verdict.concerns[0].argument == "who"
    assert verdict.reason == "`ada` exists, but neither the requester nor an operator stands behind it."
    assert decide(replace(grave, traces=(traced(OPERATOR),)), ACTING).outcome == "allow"
    assert decide(replace(grave, traces=(traced(SYSTEM, quantity=True),)), ACTING).outcome == "allow"
    assert decide(replace(grave, traces=(traced(quantity=True),)), ACTING).rule == "provenance"


@pytest.mark.promise("S8")
def test_what_the_run_made_may_be_gone_on_with_where_the_manifest_says_so() -> None:
    created, template = Origin(Label.CREATED, "a result", "desk"), Origin(Label.TEMPLATE, "words")
    deletes = tool(dangerous=True, requires_approval_above_autonomy="propose")
    shares = tool(dangerous=True, requires_approval_above_autonomy="propose", own_creations=("who",))
    for argument in ("who", "who[]", "who.id", "who[].id"):
        for origin, allowed in ((created, True), (SYSTEM, False), (template, False)):
            made = facts(tool=shares, traces=(ArgumentTrace(ArgumentLeaf(argument, "ada"), (origin,)),))
            assert (decide(made, ACTING).outcome == "allow") is allowed, (argument, origin)
            assert decide(replace(made, tool=deletes), ACTING).rule == "binding"
    # A name may have a dot in it: `who.admin` is another argument than a field of `who`.
    dotted = replace(shares, roles={**shares.roles, "who.admin": ArgumentRole.STEERING})
    asked = facts(tool=dotted, traces=(ArgumentTrace(ArgumentLeaf("who.admin", "ada"), (created,)),))
    assert decide(asked, ACTING).rule == "binding"
    other = facts(tool=shares, traces=(ArgumentTrace(ArgumentLeaf("whom", "ada"), (created,)),))
    assert decide(other, ACTING).rule == "binding"
    assert decide(facts(traces=(traced(template),)), ACTING).outcome == "allow"


@pytest.mark.promise("S9")
def test_links_need_somebody_who_vouches_and_secrets_always_a_person() -> None:
    def with_carrier(kind: str, *, trusted: bool) -> Verdict:
        return decide(facts(carriers=(CarrierFact("body", kind, "http://x.example", trusted),)), ACTING)

    assert with_carrier("link", trusted=True).outcome == "allow"
    stranger = with_carrier("link", trusted=False)
    assert (stranger.rule, stranger.concerns[0].argument) == ("egress.carrier", "body")
    assert stranger.reason == "The text contains a link that nobody vouches for: `http://x.example`."
    for kind in ("secret", "card"):
        for trusted in (True, False):
            verdict = with_carrier(kind, trusted=trusted)
            assert verdict.rule == "egress.secret"
            assert verdict.reason == f"The text contains a {kind}."


@pytest.mark.promise("S14")
def test_telling_somebody_what_is_not_theirs_asks_and_says_what_to_whom() -> None:
    told = (
        Disclosure("the result of crm.find", "eve@evil.example", "Ada's plan"),
        Disclosure("page 2", "eve@evil.example"),
    )
    verdict = decide(facts(disclosures=told), ACTING)
    assert (verdict.outcome, verdict.rule) == ("ask", "readers")
    assert verdict.reason == (
        "It may tell eve@evil.example what is not for them: the result of crm.find (`Ada's plan`), page 2."
    )
    many = tuple(Disclosure(f"page {number}", reader) for reader in ("eve", "bob") for number in range(7))
    verdict = decide(facts(disclosures=many), ACTING)
    assert [concern.rule for concern in verdict.concerns] == ["readers", "readers"]
    assert verdict.concerns[0].reason.endswith("page 3, page 4 and 2 more.")
    assert "bob" in verdict.concerns[1].reason
    five = decide(facts(disclosures=many[:5]), ACTING)
    assert five.reason == "It may tell eve what is not for them: page 0, page 1, page 2, page 3, page 4."
    long = decide(facts(disclosures=(Disclosure("page 2", "eve", "x" * 81),)), ACTING)
    assert long.reason == f"It may tell eve what is not for them: page 2 (`{'x' * 80}`)."


def test_a_change_that_was_made_already_asks() -> None:
    verdict = decide(facts(repeated=True), ACTING)
    assert (verdict.outcome, verdict.rule) == ("ask", "repeated")
    assert verdict.reason == "unlock was done with the same arguments in this run already."


def test_a_read_is_never_rehearsed() -> None:
    reading = facts(tool=replace(tool(scope="read", supports_dry_run=True), unsafe=True))
    verdict = decide(reading, ACTING)
    assert (verdict.outcome, verdict.rule, verdict.rehearse) == ("ask", "manifest.missing", False)


@pytest.mark.promise("S9")
def test_a_read_of_a_link_that_nobody_trusted_named_asks() -> None:
    reading = facts(tool=tool(scope="read", steering=()), traces=())
    foreign, known = (CarrierFact("page", "link", "https://evil.example", trusted) for trusted in (False, True))
    assert decide(replace(reading, carriers=(foreign,)), ACTING).rule == "egress.carrier"
    assert decide(replace(reading, carriers=(known,)), ACTING).rule == "read"


def test_a_person_is_shown_every_concern_and_the_gravest_gives_the_rule() -> None:
    verdict = decide(
        facts(
            traces=(traced(), traced(OPERATOR), traced()),
            carriers=(CarrierFact("body", "link", "x", False),),
            disclosures=(Disclosure("a result", "eve"),),
        ),
        at(Autonomy.PROPOSE),
    )
    assert [concern.rule for concern in verdict.concerns] == [
        "provenance",
        "provenance",
        "egress.carrier",
        "readers",
        "consent",
    ]
    assert verdict.rule == "provenance"
    assert verdict.reason == " ".join(concern.reason for concern in verdict.concerns)


def test_long_values_are_cut_in_what_a_person_reads() -> None:
    long = replace(traced(), leaf=replace(traced().leaf, value="x" * 300))
    assert f"`{'x' * 200}`" in decide(facts(traces=(long,)), ACTING).reason
    carrier = CarrierFact("body", "link", "y" * 300, False)
    assert f"`{'y' * 200}`" in decide(facts(carriers=(carrier,)), ACTING).reason


@pytest.mark.promise("S6")
def test_an_approval_lets_through_what_would_have_asked() -> None:
    worst = facts(
        traces=(traced(),),
        disclosures=(Disclosure("a result", "eve"),),
        tool=tool(dangerous=True),
        approval=approval(),
        binding="bound",
    )
    assert decide(worst, ACTING) == Verdict("allow", "approval", "Approved by grace.")


@pytest.mark.promise("S6")
def test_an_approval_counts_only_when_given_in_time_for_exactly_this() -> None:
    def verdict(**changed: object) -> tuple[str, str]:
        decided = decide(facts(approval=approval(**changed), binding="bound"), ACTING)
        return decided.outcome, decided.rule

    assert verdict() == ("allow", "approval")
    for state in ("waiting", "refused", "escalated", "expired", "used"):
        assert verdict(state=state) == ("deny", "approval.unusable")
    assert verdict(expires_at=NOW) == ("deny", "approval.expired")
    assert verdict(expires_at=NOW + timedelta(microseconds=1)) == ("allow", "approval")
    assert verdict(binding="other") == ("deny", "approval.altered")


def test_a_call_is_bound_to_nothing_until_it_is_said_to_what() -> None:
    assert facts().binding is None
    assert decide(facts(approval=approval()), ACTING).rule == "approval.altered"


def test_a_tool_is_called_by_its_connector_and_its_own_name() -> None:
    assert tool().full_name == "desk.unlock"


def test_what_is_wrong_with_an_approval_is_said() -> None:
    def reason(**changed: object) -> str:
        return decide(facts(approval=approval(**changed), binding="bound"), ACTING).reason

    assert reason(state="used") == "The approval is used; it lets nothing happen."
    assert reason(expires_at=NOW) == "The approval has expired. Ask again."
    assert reason(binding="x") == "The call, the tool or the policy is not what was approved. Ask again."


@pytest.mark.promise("S6")
def test_no_approval_beats_a_refusal_and_a_rehearsal_stays_one() -> None:
    approved = facts(approval=approval(), binding="bound")
    assert decide(replace(approved, killed="x"), ACTING).rule == "kill_switch"
    assert decide(approved, at(Autonomy.OFF)).rule == "autonomy.off"
    assert decide(approved, at(Autonomy.INVESTIGATE)).rule == "autonomy.investigate"
    assert decide(approved, Policy(Autonomy.ACT, Scopes())).rule == "scope.not_allowed"
    wanted = replace(approved, rehearsal_wanted=True, tool=tool(supports_dry_run=True))
    assert decide(wanted, ACTING).outcome == "simulate"


def test_what_chooses_nothing_needs_nobody_behind_it() -> None:
    assumed = facts(traces=(ArgumentTrace(ArgumentLeaf("who", "everybody", chooses=False), ()),))
    assert decide(assumed, ACTING).outcome == "allow"
