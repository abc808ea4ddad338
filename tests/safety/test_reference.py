"""The decision against a second opinion: a small model written only from the rules as a person would tell them."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from gaby.safety import (
    AccessRules,
    ApprovalFact,
    ArgumentLeaf,
    ArgumentTrace,
    CarrierFact,
    Disclosure,
    Facts,
    Label,
    Origin,
    Policy,
    Scopes,
)
from gaby.safety.decide import decide
from gaby_connectors.sdk.manifest import Autonomy
from tests.safety.facts import NOW, approval, facts, tool

pytestmark = pytest.mark.promise("S13")

SITUATIONS = 8_000
LABELS = (Label.OPERATOR, Label.PRINCIPAL, Label.SYSTEM, Label.CREATED, Label.TEMPLATE)
ALLOWING, SILENT, DENYING = AccessRules(allow=("**",)), AccessRules(), AccessRules(allow=("**",), deny=("unlock",))

Choice = TypeVar("Choice")


class Draws:
    """Choices that follow from a number, so that a situation can be looked at again by its number."""

    def __init__(self, number: int) -> None:
        self._rest = int.from_bytes(hashlib.sha512(str(number).encode()).digest())

    def pick(self, *options: Choice) -> Choice:
        self._rest, chosen = divmod(self._rest, len(options))
        return options[chosen]

    def rarely(self, spoiled: Choice, good: Choice) -> Choice:
        """One time in twelve, so that most situations are good enough for the later rules to matter."""
        return self.pick(spoiled, *[good] * 11)


def situation(number: int) -> tuple[Facts, Policy]:
    draw = Draws(number)
    manifest: dict[str, Any] = {"scope": "read", "supports_dry_run": draw.pick(True, False)}
    if draw.pick(True, True, True, False):
        manifest |= {
            "scope": "write",
            "dangerous": draw.pick(True, False),
            "requires_approval_above_autonomy": draw.pick(None, "investigate", "propose", "act"),
            "forbidden_in_autonomy": draw.rarely((draw.pick(*Autonomy),), ()),
            "destinations": draw.pick((), ("to",)),
        }
        manifest |= {"own_creations": draw.pick((), ("who",))} if manifest["dangerous"] else {}
    found = facts(
        tool=replace(tool(**manifest), unsafe=draw.rarely(True, False)),
        traces=tuple(_trace(draw) for _ in range(draw.pick(0, 1, 2))),
        carriers=tuple(_carrier(draw) for _ in range(draw.pick(0, 0, 1, 2))),
        killed=draw.rarely("x", None),
        quarantined=draw.rarely(True, False),
        argument_errors=draw.rarely(("x",), ()),
        calls_last_minute=draw.rarely(draw.pick(30, 299, 300), draw.pick(0, 29)),
        disclosures=draw.pick((Disclosure("a result", "ada"),), (), (), ()),
        repeated=draw.rarely(True, False),
        rehearsal_wanted=draw.pick(True, False, False),
        approved_before=draw.pick(True, False),
        approval=draw.pick(None, None, _approval(draw)),
        binding="bound",
    )
    read, write = (draw.rarely(draw.pick(SILENT, DENYING), ALLOWING) for _ in range(2))
    return found, Policy(draw.pick(*Autonomy, Autonomy.ACT, Autonomy.PROPOSE), Scopes(read=read, write=write))


def _trace(draw: Draws) -> ArgumentTrace:
    labels = [draw.pick(*LABELS) for _ in range(draw.rarely(0, draw.pick(1, 2)))]
    return ArgumentTrace(
        ArgumentLeaf("who", "x", draw.pick(True, False)), tuple(Origin(label, "s", "desk") for label in labels)
    )


def _carrier(draw: Draws) -> CarrierFact:
    return CarrierFact("body", draw.pick("link", "link", "link", "secret", "card"), "v", draw.pick(True, True, False))


def _approval(draw: Draws) -> ApprovalFact:
    return approval(
        state=draw.pick("approved", "approved", "approved", "waiting", "used"),
        binding=draw.pick("bound", "bound", "bound", "other"),
        expires_at=draw.pick(NOW, *[approval().expires_at] * 3),
    )


def situations() -> Iterator[tuple[int, Facts, Policy]]:
    for number in range(SITUATIONS):
        yield number, *situation(number)


def may_run(found: Facts, policy: Policy) -> bool:
    """Nothing at all happens if this says no."""
    rules = policy.scopes.write if found.tool.access == "write" else policy.scopes.read
    level = Autonomy.INVESTIGATE if found.tool.unsafe and policy.autonomy.rank > 1 else policy.autonomy
    return not (
        found.killed
        or policy.autonomy is Autonomy.OFF
        or found.quarantined
        or found.argument_errors
        or (found.tool.unsafe and found.tool.access == "write")
        or not rules.allow
        or rules.deny
        or level in found.tool.manifest.forbidden_in_autonomy
    )


def needs_a_person(found: Facts, policy: Policy) -> bool:
    manifest = found.tool.manifest
    authority = {Label.OPERATOR, Label.PRINCIPAL}
    for trace in found.traces:
        enough = authority | ({Label.CREATED} if manifest.own_creations else set[Label]())
        if not manifest.dangerous or trace.leaf.quantity:
            enough = {*authority, Label.SYSTEM, Label.CREATED, Label.TEMPLATE}
        if not enough & {origin.label for origin in trace.origins}:
            return True
    if any(carrier.kind != "link" or not carrier.trusted for carrier in found.carriers):
        return True
    if found.disclosures or found.repeated:
        return True
    default = "act" if manifest.dangerous else "propose"
    asks_up_to = Autonomy(manifest.requires_approval_above_autonomy or default)
    return policy.autonomy.rank <= asks_up_to.rank and (manifest.dangerous or not found.approved_before)


def expected(found: Facts, policy: Policy) -> str:
    often = found.calls_last_minute >= (30 if found.tool.access == "write" else 300)
    said = said_at_leisure(found, policy)
    return "wait" if often and said in {"allow", "simulate"} else said


def said_at_leisure(found: Facts, policy: Policy) -> str:
    """However often the connector was used."""
    if not may_run(found, policy):
        return "deny"
    reads = found.tool.access == "read"
    can_rehearse = found.tool.manifest.supports_dry_run and not found.tool.manifest.destinations
    if not reads and (found.rehearsal_wanted or policy.autonomy is Autonomy.INVESTIGATE):
        return "simulate" if can_rehearse else "deny"
    if found.approval is not None:
        given_for_this = found.approval.state == "approved" and found.approval.binding == "bound"
        return "allow" if given_for_this and found.approval.expires_at > NOW else "deny"
    asks = _read_needs_a_person(found) if reads else needs_a_person(found, policy)
    return "ask" if asks else "allow"


def _read_needs_a_person(found: Facts) -> bool:
    """Nobody has said what the tool does, or what it is to fetch comes from outside."""
    return found.tool.unsafe or any(carrier.kind != "link" or not carrier.trusted for carrier in found.carriers)


def test_every_decision_agrees_with_the_second_opinion() -> None:
    seen: Counter[str] = Counter()
    for number, found, policy in situations():
        verdict = decide(found, policy)
        assert verdict.outcome == expected(found, policy), (number, verdict)
        assert verdict.rule
        assert verdict.reason
        assert bool(verdict.concerns) == (verdict.outcome == "ask")
        seen[verdict.outcome] += 1
    assert all(seen[outcome] > SITUATIONS // 50 for outcome in ("allow", "ask", "simulate", "deny")), seen
    assert seen["wait"] > SITUATIONS // 200, seen


def test_content_never_raises_authority() -> None:
    """Taking trusted origins away never turns a question or a denial into a permission."""
    changed = 0
    for number, found, policy in situations():
        before = decide(found, policy).outcome
        stripped = tuple(replace(trace, origins=()) for trace in found.traces)
        after = decide(replace(found, traces=stripped), policy).outcome
        assert (before, after) in {(before, before), ("allow", "ask"), ("wait", "ask")}, number
        changed += before != after
    assert changed
