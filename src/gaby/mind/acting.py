"""Calls that runbooks ask for, with arguments, for the things that are meant."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gaby.mind.investigation import Diagnosis, Fitting, Investigation
from gaby.mind.records import Record, spelled
from gaby.mind.runbooks import Scene, Selector, Wanted, chosen
from gaby.mind.runbooks.comparing import figure
from gaby.mind.situations import PlannedCall
from gaby.mind.tool_choice import ToolCard
from gaby.mind.values import Filling, Values, takes_an_address
from gaby.mind.words import stems, words

_MOST = 8
_IDENTITIES = 2
_PEOPLE = stems("user person people customer client account member employee contact directory login identity")


@dataclass(frozen=True)
class Calls:
    made: tuple[PlannedCall, ...] = ()
    missing: tuple[str, ...] = ()
    """What nobody could tell."""


def values(investigation: Investigation, content: str = "") -> Values:
    return Values(investigation.situation, investigation.before, investigation.ownership, content)


def identifying(investigation: Investigation) -> list[PlannedCall]:
    """Reads that show who is asking, by nothing but the address."""
    address = investigation.situation.requester
    if not address:
        return []
    cards = [card for card in investigation.situation.tools if card.lane == "read" and takes_an_address(card)]
    ranked = sorted(cards, key=lambda card: -_about_people(card))[:_IDENTITIES]
    found: list[PlannedCall] = []
    for card in ranked:
        filled = values(investigation).fill(card)
        found += [PlannedCall(card.name, each, "To see who is asking.") for each in filled.arguments[:1]]
    return found


def reads(investigation: Investigation, fitting: Fitting, diagnosis: Diagnosis | None = None) -> Calls:
    """What a runbook wants to see; with a cause that holds, what it wants to see then."""
    wanted = fitting.book.steps if diagnosis is None else diagnosis.branch.wanted
    return _gathered(investigation, fitting, wanted, "read", diagnosis, "")


def writes(investigation: Investigation, diagnosis: Diagnosis, content: str) -> Calls:
    fitting = Fitting(diagnosis.book, diagnosis.fit)
    return _gathered(investigation, fitting, diagnosis.branch.wanted, "write", diagnosis, content)


def card_of(investigation: Investigation, wanted: Wanted, lane: str) -> ToolCard | None:
    """The first tool of that name that was not refused and did not fail; the name may say which connector's."""
    cards = [*investigation.tools.get(wanted.tool, ())]
    cards += [card for card in investigation.situation.tools if card.name == wanted.tool]
    useless = {call.tool for call in investigation.calls if call.outcome in {"denied", "failed"}}
    worked = {call.tool for call in investigation.calls if call.outcome in {"done", "simulated", "asked"}}
    cards = [card for card in cards if card.lane == lane]
    return next(
        (card for card in cards if card.name not in useless or card.name in worked), cards[0] if cards else None
    )


def _gathered(
    investigation: Investigation,
    fitting: Fitting,
    wanted: Sequence[Wanted],
    lane: str,
    diagnosis: Diagnosis | None,
    content: str,
) -> Calls:
    made: dict[str, PlannedCall] = {}
    missing: list[str] = []
    at_hand = values(investigation, content)
    scene = investigation.scene(fitting.book, investigation.before)
    for each in wanted:
        card = card_of(investigation, each, lane)
        if card is None:
            continue
        for filled in _filled(at_hand, card, each, scene, diagnosis):
            missing += filled.missing
            for arguments in filled.arguments:
                call = PlannedCall(card.name, arguments, _why(each, fitting), each.consent if lane == "write" else "")
                made.setdefault(call.key, call)
    return Calls(tuple(made.values())[: _MOST * 2], tuple(dict.fromkeys(missing)))


def _filled(
    at_hand: Values, card: ToolCard, wanted: Wanted, scene: Scene, diagnosis: Diagnosis | None
) -> Iterator[Filling]:
    shows = diagnosis.by if diagnosis else ()
    given = dict(wanted.given)
    if wanted.of is None:
        yield at_hand.fill(card, given, shows, several=True)
        return
    meant = _selected(wanted.of, scene, shows)
    if not meant:
        yield Filling(missing=(" ".join(sorted(wanted.of.nouns)),))
    for record in meant[: _MOST if wanted.of.each else 1]:
        yield at_hand.fill(card, given, (record, *shows))


def _selected(selector: Selector, scene: Scene, shows: Sequence[Record]) -> list[Record]:
    """Among the records that show the trouble, if any of them is such a thing; else among all that may be spoken of."""
    collections = {each.place: each.called(selector.nouns) for each in scene.view.collections if each.records}
    best = max(collections.values(), default=0)
    if not best:
        return []
    among = [record for record in shows if collections.get(record.place) == best]
    among = among or [
        record
        for record in scene.view.records
        if collections.get(record.place) == best and scene.ownership.whose(record) != "other"
    ]
    found = chosen([replace(test, other=None) if test.values else test for test in selector.tests], among, scene)
    if selector.extreme:
        name = spelled(selector.by)
        found = [record for record in found if figure(record.get(name)) is not None]
        found.sort(key=lambda record: figure(record.get(name)) or 0.0, reverse=selector.extreme == "highest")
    return found


def _about_people(card: ToolCard) -> int:
    told = stems(" ".join(words(f"{card.name} {card.description}")))
    name = stems(" ".join(words(card.name.rpartition(".")[2])))
    return 2 * len(name & _PEOPLE) + len(told & _PEOPLE)


def _why(wanted: Wanted, fitting: Fitting) -> str:
    return f"{fitting.book.title}: {wanted.words}"[:300]
