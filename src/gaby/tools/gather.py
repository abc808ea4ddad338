"""Gathers the facts of a call, so that the decision itself can be a pure function."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gaby.safety import (
    ApprovalFact,
    Bound,
    Facts,
    Leaf,
    Role,
    Trace,
    binding,
    carriers_in,
    leaves,
    scope_path,
)
from gaby.tools.catalogue import ToolEntry
from gaby.tools.runs import Run
from gaby_connectors.sdk.manifest import GABY_ARGUMENTS

_SHOWN_ERRORS = 5


@dataclass(frozen=True)
class Circumstances:
    """What is true at this moment, besides the call itself."""

    now: datetime
    calls_last_minute: int = 0
    approved_before: bool = False
    approval: ApprovalFact | None = None
    rehearsal_wanted: bool = False


def gather(entry: ToolEntry, arguments: Mapping[str, Any], run: Run, around: Circumstances) -> Facts:
    writes = entry.facts.lane == "write"
    connector = entry.connector
    plan = run.plan
    tool = entry.facts.full_name
    return Facts(
        tool=entry.facts,
        arguments=arguments,
        path=scope_path(entry.facts.manifest.path or entry.facts.name, arguments),
        now=around.now,
        traces=tuple(_traces(entry, arguments, run)) if writes else (),
        carriers=tuple(carriers_in(arguments, entry.facts.roles, run.ledger)) if writes else (),
        argument_errors=tuple(misfits_of(entry, arguments)),
        killed=connector.killed,
        quarantined=connector.quarantined,
        calls_last_minute=around.calls_last_minute,
        widening=plan.widening(tool, arguments, run.changes[tool]) if writes and plan is not None else None,
        rehearsal_wanted=around.rehearsal_wanted,
        approved_before=around.approved_before,
        approval=around.approval,
        binding=bind(entry, arguments, run, around.approval.expires_at) if around.approval is not None else None,
    )


def bind(entry: ToolEntry, arguments: Mapping[str, Any], run: Run, expires_at: datetime) -> str:
    """What an approval of exactly this call is bound to."""
    return binding(
        Bound(
            workspace=str(run.workspace_id),
            run=str(run.id),
            connector=entry.connector.key.connector,
            tool=entry.facts.name,
            fingerprint=entry.facts.fingerprint,
            arguments=arguments,
            policy_version=entry.connector.version,
            expires_at=expires_at,
        )
    )


def chosen_outside(entry: ToolEntry, arguments: Mapping[str, Any], run: Run) -> bool:
    """Whether content from outside had a say in what a call looked up."""
    asked = frozenset(Role) - {Role.PLAIN}
    found = _leaves(entry, arguments, asked)
    return any(not run.ledger.origins(leaf, entry.facts.connector, kind) for leaf, kind in found)


def _traces(entry: ToolEntry, arguments: Mapping[str, Any], run: Run) -> Iterator[Trace]:
    for leaf, kind in _leaves(entry, arguments, frozenset({Role.STEERING, Role.DESTINATION})):
        yield run.ledger.trace(leaf, entry.facts.connector, kind)


def _leaves(
    entry: ToolEntry, arguments: Mapping[str, Any], wanted: frozenset[Role]
) -> Iterator[tuple[Leaf, str | None]]:
    """The values in arguments of these roles, each with the kind of thing that it names."""
    for name, value in arguments.items():
        # An argument that the schema does not know is refused anyway; until then nobody vouches for it.
        if entry.facts.roles.get(name, Role.STEERING) in wanted:
            for leaf in leaves(name, value):
                yield leaf, entry.facts.manifest.argument_kinds.get(name)


def misfits_of(entry: ToolEntry, arguments: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(GABY_ARGUMENTS & set(arguments)):
        yield f"{name} is filled by Gaby"
    for count, error in enumerate(entry.validator.iter_errors(dict(arguments))):
        if count >= _SHOWN_ERRORS:
            return
        place = ".".join(str(step) for step in error.instance_path)
        yield f"{place}: {error.message[:200]}" if place else error.message[:200]
