"""What each tool may do unasked and who may be told what it returns, in words for those who set it up."""

from dataclasses import dataclass

from gaby.safety import ArgumentRole, ToolFacts, check_scope, scope_path
from gaby.tools.catalogue import ToolEntry
from gaby_connectors.sdk.manifest import Audience, Autonomy, ToolManifest

_AUDIENCES = {
    Audience.PUBLIC: "anybody",
    Audience.CUSTOMERS: "every verified requester",
    Audience.STAFF: "colleagues only",
}


@dataclass(frozen=True)
class ToolRules:
    tool: str
    access: str
    unasked: str
    told: str


def rules_of(entry: ToolEntry) -> ToolRules:
    facts = entry.facts
    access = "dangerous write" if facts.manifest.dangerous and facts.access == "write" else facts.access
    return ToolRules(facts.name, access, _unasked(entry), audience_text(facts.manifest))


def audience_text(manifest: ToolManifest) -> str:
    """Who may be told what it returns: its audience, owners, and single fields that differ."""
    readers = [_AUDIENCES[manifest.audience]]
    readers += [f"whoever is {owner} of {row}" for row, owner in manifest.owner.items()]
    if manifest.owner_argument is not None:
        readers.append(f"whoever {manifest.owner_argument} belongs to")
    readers += [f"{path}: {_AUDIENCES[audience]}" for path, audience in manifest.readers.items()]
    return "; ".join(readers)


def _unasked(entry: ToolEntry) -> str:
    facts, policy = entry.facts, entry.connector.policy
    if (stopped := _stopped(entry)) is not None:
        return f"nothing: {stopped}"
    if facts.unsafe:
        return (
            "nothing: it has no manifest, so a read asks" if facts.access == "read" else "nothing: it has no manifest"
        )
    rules = policy.scopes.read if facts.access == "read" else policy.scopes.write
    path = facts.manifest.path or facts.name
    if "{" not in path and not check_scope(rules, scope_path(path, {})).allowed:
        return f"nothing: no rule lets it {facts.access} {path}"
    if not rules.allow:
        return f"nothing: no rule lets it {facts.access} anything"
    return "reads" if facts.access == "read" else _unasked_write(facts, policy.autonomy)


def _stopped(entry: ToolEntry) -> str | None:
    if entry.connector.killed is not None:
        return "a kill switch is pulled"
    if entry.connector.policy.autonomy is Autonomy.OFF:
        return "the connector is off"
    return "its tools changed since they were accepted" if entry.connector.quarantined else None


def _unasked_write(facts: ToolFacts, autonomy: Autonomy) -> str:
    if autonomy in facts.manifest.forbidden_in_autonomy:
        return f"nothing: it is forbidden at {autonomy}"
    if autonomy is Autonomy.INVESTIGATE:
        return "a rehearsal that changes nothing" if facts.can_rehearse else "nothing: the connector only investigates"
    if autonomy.rank <= facts.manifest.needs_approval_up_to.rank:
        return f"nothing: a person is asked each time at {autonomy}"
    steers = [name for name, role in facts.roles.items() if role in (ArgumentRole.STEERING, ArgumentRole.DESTINATION)]
    return f"changes, if {', '.join(steers)} come from somebody trusted" if steers else "changes"
