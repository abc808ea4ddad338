"""Gathers the facts of a call, so that the decision itself can be a pure function."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from gaby.safety import (
    ApprovalBinding,
    ApprovalFact,
    ArgumentLeaf,
    ArgumentRole,
    ArgumentTrace,
    Facts,
    Label,
    ValueUse,
    carriers_in,
    digest,
    kind_of_argument,
    leaves,
    links_in_lookups,
    scope_path,
)
from gaby.safety.arguments import canonical_number, is_identifier, takes_quantity
from gaby.safety.binding import binding
from gaby.safety.provenance import TEXT_KIND
from gaby.safety.schemas import properties_of
from gaby.safety.value_match import same_case
from gaby.tools.catalogue import ToolEntry
from gaby.tools.disclosure import disclosures_of
from gaby.tools.runs import Author, Run
from gaby_connectors.sdk.manifest import GABY_ARGUMENTS

_SHOWN_ERRORS = 5
_AMOUNT = re.compile(r"[^\w\s]?\s?[-+]?\d[\d.,' ]*\s?(?:[A-Za-z]{1,3}|[^\w\s])?")


@dataclass(frozen=True)
class Circumstances:
    """What is true at this moment, besides the call itself."""

    now: datetime
    calls_last_minute: int = 0
    seconds_until_free: float = 0.0
    approved_before: bool = False
    approval: ApprovalFact | None = None
    rehearsal_wanted: bool = False
    composed_by: Author = "model"
    cited: Sequence[str] = ()
    """The sources of the ledger that a text by rules names."""
    released: Sequence[str] = ()
    """Sentences of such a text that a runbook of the company wants the requester to be told."""


def gather(entry: ToolEntry, arguments: Mapping[str, Any], run: Run, around: Circumstances) -> Facts:
    writes = entry.facts.access == "write"
    connector = entry.connector
    traces = tuple(_traces(entry, arguments, run)) if writes else ()
    tool, ledger = entry.facts, run.ledger
    carriers = (
        carriers_in(arguments, tool.roles, ledger, tool.connector)
        if writes
        else links_in_lookups(arguments, tool.roles, ledger)
    )
    return Facts(
        tool=entry.facts,
        arguments=arguments,
        path=scope_path(entry.facts.manifest.path or entry.facts.name, arguments),
        now=around.now,
        traces=traces,
        carriers=tuple(carriers),
        disclosures=tuple(
            disclosures_of(entry.facts, arguments, run, traces, around.composed_by, around.cited, around.released)
            if writes
            else ()
        ),
        argument_errors=tuple(misfits_of(entry, arguments)),
        killed=connector.killed,
        quarantined=connector.quarantined,
        calls_last_minute=around.calls_last_minute,
        seconds_until_free=around.seconds_until_free,
        repeated=writes and _is_repeated(entry, arguments, run),
        rehearsal_wanted=around.rehearsal_wanted,
        approved_before=around.approved_before,
        approval=around.approval,
        binding=bind(entry, arguments, run, around.approval.expires_at) if around.approval is not None else None,
    )


def change_key(entry: ToolEntry, arguments: Mapping[str, Any]) -> str:
    """What a change is, whatever is said with it, in whichever order and spelling: the same again is paying twice."""
    chosen = {(leaf.argument, _one_spelling(leaf)) for leaf in _choices(entry, arguments)}
    return digest([entry.facts.full_name, sorted(chosen)])


def _choices(entry: ToolEntry, arguments: Mapping[str, Any]) -> list[ArgumentLeaf]:
    leaves = _leaves(entry, arguments, frozenset({ArgumentRole.STEERING, ArgumentRole.DESTINATION}))
    return [leaf for leaf, _ in leaves if leaf.chooses]


def _one_spelling(leaf: ArgumentLeaf) -> str:
    """The same for all spellings that a system may take for one value: `5` and `5.0`, `R-1001` and `r-1001 `."""
    text = same_case(leaf.value.strip())
    try:
        return canonical_number(float(text))
    except (ValueError, OverflowError):
        return text


def _is_repeated(entry: ToolEntry, arguments: Mapping[str, Any], run: Run) -> bool:
    """The same change as before, or one thing named twice in one. Only notes and mails may follow each other: what
    has words of its own, is not dangerous, and counts nothing."""
    choices = _choices(entry, arguments)
    listed = [(leaf.argument, _one_spelling(leaf)) for leaf in choices if leaf.argument.endswith("[]")]
    if len(set(listed)) < len(listed) and not any(leaf.quantity for leaf in choices):
        return True
    speaks = ArgumentRole.CONTENT in entry.facts.roles.values() and not entry.facts.manifest.dangerous
    return not (speaks and not _counts(entry, choices)) and change_key(entry, arguments) in run.changes_made


def _counts(entry: ToolEntry, choices: Sequence[ArgumentLeaf]) -> bool:
    """Whether the tool takes an amount, be it as a text, or left out because there is a usual one."""
    schema = entry.facts.schema
    declared = properties_of(schema, schema)
    for name in (name for name, role in entry.facts.roles.items() if role is ArgumentRole.STEERING):
        usual = leaves(name, declared[name]["default"]) if "default" in declared.get(name, {}) else ()
        if takes_quantity(name, declared.get(name, {}), schema) or any(map(_is_amount, usual)):
            return True
    return any(leaf.quantity or _is_amount(leaf) for leaf in choices)


def _is_amount(leaf: ArgumentLeaf) -> bool:
    """`"20.00"` in an argument that names nothing."""
    return not (leaf.literal or is_identifier(leaf.argument)) and _AMOUNT.fullmatch(leaf.value.strip()) is not None


def bind(entry: ToolEntry, arguments: Mapping[str, Any], run: Run, expires_at: datetime) -> str:
    """What an approval of exactly this call is bound to."""
    return binding(
        ApprovalBinding(
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
    asked = frozenset(ArgumentRole) - {ArgumentRole.PLAIN}
    leaves = _leaves(entry, arguments, asked)
    return any(leaf.chooses and not leaf.literal and not run.ledger.origins(leaf, use) for leaf, use in leaves)


def names_requester(entry: ToolEntry, arguments: Mapping[str, Any], run: Run) -> bool:
    """Whether the argument that says whose the result is names the requester."""
    owner = entry.facts.manifest.owner_argument
    if owner is None or owner not in arguments or run.principals is None:
        return False
    use = _use(entry, owner)
    origins = [run.ledger.origins(leaf, use) for leaf in leaves(owner, arguments[owner])]
    return bool(origins) and all(any(each.label is Label.PRINCIPAL for each in origin) for origin in origins)


def _traces(entry: ToolEntry, arguments: Mapping[str, Any], run: Run) -> Iterator[ArgumentTrace]:
    for leaf, use in _leaves(entry, arguments, frozenset({ArgumentRole.STEERING, ArgumentRole.DESTINATION})):
        yield run.ledger.trace(leaf, use)


def _leaves(
    entry: ToolEntry, arguments: Mapping[str, Any], wanted: frozenset[ArgumentRole]
) -> Iterator[tuple[ArgumentLeaf, ValueUse]]:
    """The values in arguments of these roles, each with the kind of thing that it names."""
    schema, harmless = entry.facts.schema, entry.facts.manifest.harmless_values
    declared = properties_of(schema, schema)
    for name, value in arguments.items():
        # An argument that the schema does not know is refused anyway; until then nobody vouches for it.
        if entry.facts.roles.get(name, ArgumentRole.STEERING) in wanted:
            chooses = not (_is_default(declared.get(name), value) or _is_among(harmless.get(name, ()), value))
            for leaf in leaves(name, value, declared.get(name), schema):
                yield replace(leaf, chooses=chooses), _use(entry, name)


def _is_default(declared: Mapping[str, Any] | None, value: Any) -> bool:
    """Saying what the tool assumes anyway chooses nothing."""
    return declared is not None and "default" in declared and _is_among((declared["default"],), value)


def _is_among(values: Sequence[Any], value: Any) -> bool:
    """`True` is not the same as `1`."""
    return any(type(each) is type(value) and each == value for each in values)


def _use(entry: ToolEntry, name: str) -> ValueUse:
    declared, derived = entry.facts.manifest.argument_kinds.get(name), kind_of_argument(name)
    # That words name nothing is only a manifest's to say; `text_id` names something.
    return ValueUse(entry.facts.connector, declared or (None if derived == TEXT_KIND else derived))


def misfits_of(entry: ToolEntry, arguments: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(GABY_ARGUMENTS & set(arguments)):
        yield f"{name} is filled by Gaby"
    for count, error in enumerate(entry.validator.iter_errors(dict(arguments))):
        if count >= _SHOWN_ERRORS:
            return
        place = ".".join(str(step) for step in error.instance_path)
        yield f"{place}: {error.message[:200]}" if place else error.message[:200]
