"""Calls that runbooks ask for, with arguments, for the things that are meant."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gaby.mind.investigation import Diagnosis, FittingRunbook, SituationAnalysis
from gaby.mind.records import Record
from gaby.mind.runbooks import EvaluationContext, RunbookCall, Selector, matching
from gaby.mind.runbooks.comparison import figure
from gaby.mind.runbooks.model import RequesterAddress
from gaby.mind.situations import ProposedCall
from gaby.mind.tool_choice import ToolCard
from gaby.mind.values import ArgumentResolution, ArgumentResolver, MissingValue, takes_an_address
from gaby.mind.words import spelled

_MOST = 8
_IDENTITIES = 2


@dataclass(frozen=True)
class MissingArgument:
    """An argument that a runbook's call needs and nobody could tell."""

    call: RunbookCall
    value: MissingValue

    @property
    def explanation(self) -> str:
        return f"`{self.call.tool}` was not called, because it needs `{self.value.argument}`: {self.value.why}"


@dataclass(frozen=True)
class ResolvedCalls:
    calls: tuple[ProposedCall, ...] = ()
    missing: tuple[MissingArgument, ...] = ()


def values(
    investigation: SituationAnalysis, content: str = "", tools: frozenset[str] = frozenset()
) -> ArgumentResolver:
    return ArgumentResolver(investigation.situation, investigation.before, investigation.ownership, content, tools)


def identifying(investigation: SituationAnalysis) -> list[ProposedCall]:
    """Reads that show who is asking, by nothing but the address: with tools whose rows have a declared owner."""
    address = investigation.situation.requester
    if not address:
        return []
    calls: list[ProposedCall] = []
    for card in investigation.situation.tools:
        name = takes_an_address(card) if card.access == "read" and card.declares.owner else ""
        if name:
            filled = values(investigation).fill(card, {name: RequesterAddress()})
            calls += [ProposedCall(card.name, each, "To see who is asking.") for each in filled.arguments[:1]]
    return calls[:_IDENTITIES]


def reads(
    investigation: SituationAnalysis, fitting: FittingRunbook, diagnosis: Diagnosis | None = None
) -> ResolvedCalls:
    """What a runbook wants to see; with a cause that holds, what it wants to see then."""
    wanted = fitting.runbook.steps if diagnosis is None else diagnosis.branch.wanted
    return _gathered(investigation, fitting, wanted, "read", diagnosis, "")


def writes(investigation: SituationAnalysis, diagnosis: Diagnosis, content: str) -> ResolvedCalls:
    fitting = FittingRunbook(diagnosis.runbook, diagnosis.fit)
    return _gathered(investigation, fitting, diagnosis.branch.wanted, "write", diagnosis, content)


def card_of(investigation: SituationAnalysis, wanted: RunbookCall, access: str) -> ToolCard | None:
    """The first tool of that name that was not refused and did not fail; the name may say which connector's."""
    cards = [*investigation.tools.get(wanted.tool, ())]
    cards += [card for card in investigation.situation.tools if card.name == wanted.tool]
    useless = {call.tool for call in investigation.calls if call.outcome in {"denied", "failed"}}
    worked = {call.tool for call in investigation.calls if call.outcome in {"done", "simulated", "asked"}}
    cards = [card for card in cards if card.access == access]
    return next(
        (card for card in cards if card.name not in useless or card.name in worked), cards[0] if cards else None
    )


def _gathered(
    investigation: SituationAnalysis,
    fitting: FittingRunbook,
    wanted: Sequence[RunbookCall],
    access: str,
    diagnosis: Diagnosis | None,
    content: str,
) -> ResolvedCalls:
    calls: dict[str, ProposedCall] = {}
    missing: list[MissingArgument] = []
    resolver = values(investigation, content, fitting.runbook.tools)
    scene = investigation.scene(fitting.runbook, investigation.before)
    for each in wanted:
        card = card_of(investigation, each, access)
        if card is None:
            continue
        for filled in _filled(resolver, card, each, scene, diagnosis):
            missing += [MissingArgument(each, value) for value in filled.missing]
            for arguments in filled.arguments:
                call = ProposedCall(
                    card.name, arguments, _why(each, fitting), each.consent if access == "write" else ""
                )
                calls.setdefault(call.key, call)
    return ResolvedCalls(tuple(calls.values())[: _MOST * 2], tuple(dict.fromkeys(missing)))


def _filled(
    resolver: ArgumentResolver,
    card: ToolCard,
    wanted: RunbookCall,
    scene: EvaluationContext,
    diagnosis: Diagnosis | None,
) -> Iterator[ArgumentResolution]:
    shows = diagnosis.by if diagnosis else ()
    given = dict(wanted.given)
    if wanted.of is None:
        yield resolver.fill(card, given, shows)
        return
    chosen = _selected(wanted.of, scene, shows)
    if not chosen and card.access == "write":
        tests = " and ".join(each.words for each in wanted.of.tests)
        yield ArgumentResolution(
            missing=(MissingValue(wanted.of.words, f"there is none{f' whose {tests}' if tests else ''}"),)
        )
        return
    # What is chosen comes first; the records beside it, such as the user, only for what it does not have.
    fillings = [
        filled
        if (filled := resolver.fill(card, given, (record,))).arguments
        else resolver.fill(card, given, (record, *shows))
        for record in (chosen[:1] if wanted.of.extreme else chosen[:_MOST])
    ]
    if not wanted.of.each and len({repr(each.arguments) for each in fillings}) > 1:
        why = f"several things are meant by “the {wanted.of.words}”, and only one can be"
        yield ArgumentResolution(missing=(MissingValue(wanted.of.words, why),))
        return
    yield from fillings


def _selected(selector: Selector, scene: EvaluationContext, shows: Sequence[Record]) -> list[Record]:
    """Among the records that show the trouble, if any of them is such a thing; else among all that may be spoken of."""
    collections = {each.place: each.called(selector.nouns) for each in scene.collections if each.records}
    best = max(collections.values(), default=0)
    if not best:
        return []
    among = [record for record in shows if collections.get(record.place) == best]
    among = among or scene.ownership.readable(
        [record for record in scene.view.records if collections.get(record.place) == best]
    )
    records = matching(selector.tests, among, scene)
    if selector.extreme:
        name = spelled(selector.by)
        records = [record for record in records if figure(record.get(name)) is not None]
        records.sort(key=lambda record: figure(record.get(name)) or 0.0, reverse=selector.extreme == "highest")
    return records


def _why(wanted: RunbookCall, fitting: FittingRunbook) -> str:
    return f"{fitting.runbook.title}: {wanted.words}"[:300]
