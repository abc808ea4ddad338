"""The decision: facts in, verdict out. Refusals first, then rehearsals, then whatever a person must be asked about."""

from collections.abc import Iterator

from gaby.safety.arguments import stands_in
from gaby.safety.facts import ApprovalFact, Facts, Policy, ToolFacts
from gaby.safety.provenance import ArgumentTrace, Label
from gaby.safety.scopes import check_scope
from gaby.safety.verdicts import Concern, Verdict, allow, ask, deny, simulate, wait
from gaby_connectors.sdk.manifest import Autonomy

_TRUSTED = (Label.OPERATOR, Label.PRINCIPAL, Label.CREATED, Label.TEMPLATE, Label.SYSTEM)
_AUTHORITY = (Label.OPERATOR, Label.PRINCIPAL)
_SHOWN_SOURCES = 5


def decide(facts: Facts, policy: Policy) -> Verdict:
    for refused in _refusals(facts, policy):
        if refused is not None:
            return refused
    verdict = _permission(facts, policy)
    # Only what would be done now has to wait. A refusal or a question need not, and neither calls the connector.
    if verdict.outcome in {"allow", "simulate"}:
        return _too_often(facts, policy) or verdict
    return verdict


def _permission(facts: Facts, policy: Policy) -> Verdict:
    """What may happen with a call that nothing forbids, however often the connector was used."""
    reads = facts.tool.access == "read"
    if not reads and (rehearsed := _rehearsal(facts, policy)) is not None:
        return rehearsed
    if facts.approval is not None:
        return _with_approval(facts, facts.approval)
    concerns = list(_read_concerns(facts) if reads else _concerns(facts, policy))
    if concerns:
        return ask(concerns, rehearse=not reads and facts.tool.can_rehearse)
    if reads:
        return allow("read", "Reading is allowed here.")
    return allow("act", "Every value that steers this change is vouched for.")


def autonomy_of(facts: Facts, policy: Policy) -> Autonomy:
    """A connector without a complete manifest only investigates, whatever it was set to."""
    most = Autonomy.INVESTIGATE if facts.tool.unsafe else Autonomy.ACT
    return min(policy.autonomy, most, key=lambda level: level.rank)


def _refusals(facts: Facts, policy: Policy) -> Iterator[Verdict | None]:
    """In the order in which a person would want to hear them."""
    yield _killed(facts)
    yield _off(facts, policy)
    yield _quarantined(facts)
    yield _misfit(facts)
    yield _unmanifested_write(facts)
    yield _out_of_scope(facts, policy)
    yield _forbidden(facts, policy)
    yield _never(facts, policy)


def _killed(facts: Facts) -> Verdict | None:
    return None if facts.killed is None else deny("kill_switch", f"Stopped: {facts.killed}")


def _off(facts: Facts, policy: Policy) -> Verdict | None:
    if policy.autonomy is not Autonomy.OFF:
        return None
    return deny("autonomy.off", f"The connector {facts.tool.connector} is switched off.")


def _quarantined(facts: Facts) -> Verdict | None:
    if not facts.quarantined:
        return None
    name = facts.tool.connector
    reason = f"The tools of {name} changed since they were accepted. See `gaby connector diff {name}`."
    return deny("definition.changed", reason)


def _misfit(facts: Facts) -> Verdict | None:
    if not facts.argument_errors:
        return None
    return deny("arguments.invalid", "The arguments do not fit the tool: " + "; ".join(facts.argument_errors))


def _unmanifested_write(facts: Facts) -> Verdict | None:
    if not facts.tool.unsafe or facts.tool.access == "read":
        return None
    reason = (
        f"No manifest of {facts.tool.connector} says what {facts.tool.name} does, so it is not used. "
        f"`gaby connector draft {facts.tool.connector}` proposes one for you to accept."
    )
    return deny("manifest.missing", reason)


def _out_of_scope(facts: Facts, policy: Policy) -> Verdict | None:
    rules = policy.scopes.read if facts.tool.access == "read" else policy.scopes.write
    scope = check_scope(rules, facts.path)
    if scope.allowed:
        return None
    why = f"`{scope.pattern}` denies it" if scope.pattern else "no rule allows it"
    return deny(scope.rule, f"{facts.tool.connector} may not {facts.tool.access} `{facts.path}`: {why}.")


def _forbidden(facts: Facts, policy: Policy) -> Verdict | None:
    level = autonomy_of(facts, policy)
    if level not in facts.tool.manifest.forbidden_in_autonomy:
        return None
    return deny("autonomy.forbidden", f"{facts.tool.name} is forbidden while {facts.tool.connector} is set to {level}.")


def _never(facts: Facts, policy: Policy) -> Verdict | None:
    """A limit of none does not pass."""
    if policy.per_minute(facts.tool.access) > 0:
        return None
    return deny("rate_limit", rate_reason(facts.tool, policy))


def _too_often(facts: Facts, policy: Policy) -> Verdict | None:
    most = policy.per_minute(facts.tool.access)
    if facts.calls_last_minute < most:
        return None
    return wait("rate_limit", rate_reason(facts.tool, policy), retry_after=facts.seconds_until_free)


def rate_reason(tool: ToolFacts, policy: Policy) -> str:
    """The limit of a connector, as people are told of it."""
    most, calls = policy.per_minute(tool.access), "reads" if tool.access == "read" else "changes"
    return f"{most} {calls} a minute are allowed for {tool.connector}."


def _rehearsal(facts: Facts, policy: Policy) -> Verdict | None:
    """What may not be done is shown instead, if the connector can and nothing would leave the house by it."""
    if facts.rehearsal_wanted:
        if facts.tool.can_rehearse:
            return simulate("rehearsal", "Rehearsed, as asked. Nothing is changed.")
        return deny("rehearsal.impossible", f"{facts.tool.name} cannot be rehearsed.")
    if autonomy_of(facts, policy) is not Autonomy.INVESTIGATE:
        return None
    reason = f"{facts.tool.connector} only investigates, so nothing is changed."
    return simulate("autonomy.investigate", reason) if facts.tool.can_rehearse else deny("autonomy.investigate", reason)


def _with_approval(facts: Facts, approval: ApprovalFact) -> Verdict:
    if approval.state != "approved":
        return deny("approval.unusable", f"The approval is {approval.state}; it lets nothing happen.")
    if facts.now >= approval.expires_at:
        return deny("approval.expired", "The approval has expired. Ask again.")
    if approval.binding != facts.binding:
        reason = "The call, the tool or the policy is not what was approved. Ask again."
        return deny("approval.altered", reason)
    return allow("approval", f"Approved by {approval.decided_by}.")


def _concerns(facts: Facts, policy: Policy) -> Iterator[Concern]:
    for trace in facts.traces:
        if (concern := _provenance(facts, trace)) is not None:
            yield concern
    yield from _egress(facts)
    yield from _disclosure(facts)
    if facts.repeated:
        yield Concern("repeated", f"{facts.tool.name} was done with the same arguments in this run already.")
    if (concern := _needs_consent(facts, policy)) is not None:
        yield concern


def _read_concerns(facts: Facts) -> Iterator[Concern]:
    if facts.tool.unsafe:
        reason = (
            f"No manifest of {facts.tool.connector} says what {facts.tool.name} does. "
            f"`gaby connector draft {facts.tool.connector}` proposes one for you to accept."
        )
        yield Concern("manifest.missing", reason)
    yield from _egress(facts)


def _disclosure(facts: Facts) -> Iterator[Concern]:
    """One reason for each reader, with the first few sources."""
    for reader in dict.fromkeys(each.reader for each in facts.disclosures):
        disclosed = [each for each in facts.disclosures if each.reader == reader]
        places = [f"{each.source} (`{each.value[:80]}`)" if each.value else each.source for each in disclosed]
        listed = ", ".join(dict.fromkeys(places[:_SHOWN_SOURCES]))
        more = f" and {len(places) - _SHOWN_SOURCES} more" if len(places) > _SHOWN_SOURCES else ""
        yield Concern("readers", f"It may tell {reader} what is not for them: {listed}{more}.")


def _provenance(facts: Facts, trace: ArgumentTrace) -> Concern | None:
    if not trace.leaf.chooses:
        return None
    # A quantity names nobody, so that no one need stand behind it; but somebody trusted must have given it.
    identity_matters = facts.tool.manifest.dangerous and not trace.leaf.quantity
    if trace.has(*(_AUTHORITY if identity_matters else _TRUSTED)):
        return None
    if trace.has(Label.CREATED) and _top(facts, trace) in facts.tool.manifest.own_creations:
        return None
    value = trace.leaf.value[:200]
    if trace.has(Label.SYSTEM, Label.CREATED, Label.TEMPLATE):
        reason = f"`{value}` exists, but neither the requester nor an operator stands behind it."
        return Concern("binding", reason, trace.leaf.argument)
    place = f" It was seen in {trace.quotes[0].source}." if trace.quotes else " Nobody trusted ever named it."
    return Concern("provenance", f"`{value}` comes from outside.{place}", trace.leaf.argument, trace.quotes)


def _top(facts: Facts, trace: ArgumentTrace) -> str:
    """The argument that a value stands in. A name may have dots in it: the longest that fits counts."""
    fitting = [name for name in facts.tool.roles if stands_in(trace.leaf.argument, name)]
    return max(fitting, key=len, default=trace.leaf.argument)


def _egress(facts: Facts) -> Iterator[Concern]:
    for carrier in facts.carriers:
        if carrier.is_secret:
            yield Concern("egress.secret", f"The text contains a {carrier.kind}.", carrier.argument)
        elif not carrier.trusted:
            reason = f"The text contains a {carrier.kind} that nobody vouches for: `{carrier.value[:200]}`."
            yield Concern("egress.carrier", reason, carrier.argument)


def _needs_consent(facts: Facts, policy: Policy) -> Concern | None:
    manifest = facts.tool.manifest
    level = autonomy_of(facts, policy)
    if level.rank > manifest.needs_approval_up_to.rank:
        return None
    if facts.approved_before and not manifest.dangerous:
        return None
    kind = "is dangerous and" if manifest.dangerous else "changes something and"
    return Concern("consent", f"{facts.tool.name} {kind} needs a person's consent at `{level}`.")
