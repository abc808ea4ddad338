"""Whether a condition holds for what tools answered, which records show it, and, where nobody can tell, why not.

Only answers of tools that the runbook names are looked at, and only records that are not somebody else's. Conditions
of one group about the same kind of thing must hold for the same thing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations, islice, product

from gaby.mind.ownership import Ownership
from gaby.mind.records import Place, Record, RecordCollection, RecordView, called
from gaby.mind.runbooks.comparison import compares, passes, unreadable
from gaby.mind.runbooks.conditions import Condition, CountCondition, FieldTest, RequesterKnown, SameValue
from gaby.mind.runbooks.field_refs import FieldRef
from gaby.mind.situations import PastCall
from gaby.mind.tool_choice import ToolCard
from gaby.mind.tool_names import short_name
from gaby.mind.words import stem, words

_MOST_WAYS = 32
_MOST_COMPARED = 300


@dataclass(frozen=True)
class ConditionResult:
    holds: bool | None
    """None: nobody can tell."""
    by: tuple[Record, ...] = ()
    why: str = ""
    """Of what nobody can tell."""


@dataclass(frozen=True)
class EvaluationContext:
    """All that conditions are held against."""

    view: RecordView
    ownership: Ownership
    requester: str | None = None
    now: datetime | None = None
    tools: frozenset[str] = frozenset()
    """Short names of those that the runbook asks for. Empty: all answers count."""
    cards: Sequence[ToolCard] = ()
    calls: Sequence[PastCall] = ()
    """Also those that brought nothing."""
    skipped: frozenset[str] = frozenset()
    """Tools that were not called, because there is nothing that they would be called for: their answer is empty."""
    _places: dict[Place, RecordCollection] = field(default_factory=dict[Place, RecordCollection], init=False)

    @property
    def collections(self) -> list[RecordCollection]:
        """What was answered, and the rows of which the tool's schema tells and the answer has none."""
        if not self._places:
            answered = {call.tool for call in self.view.calls}
            answered |= {card.name for card in self.cards if short_name(card.name) in self.skipped}
            for each in self.view.collections:
                self._places[each.place] = each
            for card in self.cards:
                if card.name in answered:
                    for path in card.declares.rows:
                        self._places.setdefault((card.name, path), RecordCollection((card.name, path), ()))
        return [each for each in self._places.values() if not self.tools or short_name(each.place[0]) in self.tools]

    def names(self, collection: RecordCollection) -> frozenset[str]:
        """Its fields, as they were seen and as the schema declares them."""
        card = next((card for card in self.cards if card.name == collection.place[0]), None)
        declared = card.declares.rows.get(collection.place[1], frozenset()) if card else frozenset[str]()
        return collection.names | declared

    def names_thing(self, nouns: frozenset[str]) -> bool:
        """Whether the words mean rows of a tool of the runbook, also of one that has not answered."""
        places = {each.place for each in self.collections}
        places |= {(card.name, path) for card in self.cards for path in (*card.declares.rows, ())}
        meant = (place for place in places if not self.tools or short_name(place[0]) in self.tools)
        return any(called(place, nouns) for place in meant)


@dataclass(frozen=True)
class _ResolvedPlaces:
    places: tuple[RecordCollection, ...] = ()
    why: str = ""
    """Nothing or too much was found."""


def evaluate(groups: Sequence[Sequence[Condition]], scene: EvaluationContext) -> ConditionResult:
    """The first group that holds; else no, or not known if any group is not."""
    results: list[ConditionResult] = []
    for group in groups:
        result = _group(group, scene)
        if result.holds:
            return result
        results.append(result)
    unknown = next((result for result in results if result.holds is None), None)
    return unknown or ConditionResult(holds=False)


def matching(tests: Sequence[FieldTest], records: Sequence[Record], scene: EvaluationContext) -> list[Record]:
    """Of these records the ones that pass."""
    return [record for record in records if all(_passes(record, test, scene) for test in tests)]


def places_of(condition: Condition, scene: EvaluationContext) -> list[RecordCollection]:
    """Where a condition looks."""
    match condition:
        case FieldTest(ref=ref, other=other):
            places = [*resolve(ref, scene).places]
            return places + ([*resolve(other, scene).places] if other is not None else [])
        case SameValue(ref=ref):
            return [*resolve(ref, scene).places]
        case CountCondition():
            return [*_counted_in(condition, scene).places]
        case RequesterKnown():
            return []


def resolve(ref: FieldRef, scene: EvaluationContext) -> _ResolvedPlaces:
    """Where such a field stands: of the tool or the thing that the words name, if they name one."""
    matching_places = [each for each in scene.collections if ref.name in scene.names(each)]
    if named := [
        each for each in matching_places if short_name(each.place[0]) in ref.tools or each.place[0] in ref.tools
    ]:
        matching_places = named
    if not matching_places:
        return _ResolvedPlaces(why=_never_seen(f"`{ref.name}`", scene))
    best = max(called(each.place, ref.nouns) for each in matching_places)
    if not (best or named or ref.implied) and scene.names_thing(ref.nouns):
        return _ResolvedPlaces(why=_never_seen(_field_of(ref), scene))
    matching_places = [each for each in matching_places if called(each.place, ref.nouns) == best]
    if len({_thing(each.place) for each in matching_places}) > 1:
        listed = ", ".join(
            f"`{short_name(tool)}` ({path[-1] if path else 'result'})"
            for tool, path in (each.place for each in matching_places)
        )
        return _ResolvedPlaces(
            why=f"`{ref.name}` stands in several answers, {listed}, and nothing says which one is meant"
        )
    return _ResolvedPlaces(tuple(matching_places))


def _thing(place: Place) -> str:
    """`users` of one answer and `user` of another are the same kind of thing."""
    tool, path = place
    return " ".join(stem(word) for word in words(path[-1])) if path else tool


def _field_of(ref: FieldRef) -> str:
    return f"`{ref.name}` of “{' '.join(sorted(ref.nouns))}”"


def _never_seen(what: str, scene: EvaluationContext) -> str:
    lost = [call for call in scene.calls if call.access == "read" and call.outcome in {"failed", "denied", "unknown"}]
    lost = [call for call in lost if not scene.tools or short_name(call.tool) in scene.tools]
    if lost:
        last = lost[-1]
        return f"{what} was not seen, because `{short_name(last.tool)}` was {last.outcome}: {last.reason[:160]}"
    tools = sorted(
        {short_name(call.tool) for call in scene.view.calls if not scene.tools or short_name(call.tool) in scene.tools}
    )
    if not tools:
        return f"{what} was not seen, because none of the runbook's tools was called"
    return f"no answer of {', '.join(f'`{tool}`' for tool in tools)} has {what}"


def _group(group: Sequence[Condition], scene: EvaluationContext) -> ConditionResult:
    """No is an answer even where another part is not known."""
    tests = [each for each in group if isinstance(each, FieldTest)]
    others = [each for each in group if not isinstance(each, FieldTest)]
    results = [_of_many(condition, tests, scene) for condition in others]
    if tests and not any(isinstance(each, SameValue) for each in others):
        results.append(_tested(tests, scene))
    if any(result.holds is False for result in results):
        return ConditionResult(holds=False)
    if unknown := next((result for result in results if result.holds is None), None):
        return unknown
    return ConditionResult(holds=True, by=tuple(_once(record for result in results for record in result.by)))


def _of_many(condition: Condition, tests: Sequence[FieldTest], scene: EvaluationContext) -> ConditionResult:
    match condition:
        case RequesterKnown(known=known):
            if not (scene.ownership.was_looked_up or scene.ownership.is_known):
                return ConditionResult(
                    None, why="nobody looked up who the requester is, with a tool whose rows have owners"
                )
            return ConditionResult(holds=scene.ownership.is_known == known)
        case SameValue():
            return _same(condition, tests, scene)
        case CountCondition():
            return _counted(condition, scene)
        case FieldTest():
            return _tested([condition], scene)


def _same(condition: SameValue, tests: Sequence[FieldTest], scene: EvaluationContext) -> ConditionResult:
    """Tests beside it say which records are looked at."""
    resolved = resolve(condition.ref, scene)
    if resolved.why:
        return ConditionResult(None, why=resolved.why)
    for collection in resolved.places:
        mine, why = _readable(collection, scene)
        if why:
            return ConditionResult(None, why=why)
        fitting = [test for test in tests if test.ref.name in scene.names(collection)]
        groups: dict[str, list[Record]] = {}
        for record in matching(fitting, mine, scene):
            if value := str(record.get(condition.ref.name) or ""):
                groups.setdefault(value, []).append(record)
        largest: list[Record] = max(groups.values(), key=len, default=list[Record]())
        if len(largest) >= condition.least:
            return ConditionResult(holds=True, by=tuple(largest))
    return ConditionResult(holds=False)


def _counted_in(condition: CountCondition, scene: EvaluationContext) -> _ResolvedPlaces:
    """By what is counted, in the answer of the tool that is named, if any."""
    wanted = condition.tools | frozenset(name for test in condition.tests for name in test.ref.tools)
    among = [each for each in scene.collections if short_name(each.place[0]) in wanted] if wanted else scene.collections
    scores = {each.place: called(each.place, condition.nouns) for each in among}
    best = max(scores.values(), default=0)
    if best > 1 or (best and not condition.tests):
        return _ResolvedPlaces(tuple(each for each in among if scores[each.place] == best))
    if condition.tests:
        return resolve(condition.tests[0].ref, scene)
    return _ResolvedPlaces(why=_never_seen(f"a list of “{' '.join(sorted(condition.nouns))}”", scene))


def _counted(condition: CountCondition, scene: EvaluationContext) -> ConditionResult:
    resolved = _counted_in(condition, scene)
    if resolved.why:
        return ConditionResult(None, why=resolved.why)
    passing: list[Record] = []
    for collection in resolved.places:
        mine, why = _readable(collection, scene)
        if why:
            return ConditionResult(None, why=why)
        if mine and (lacking := [each.ref for each in condition.tests if each.ref.name not in scene.names(collection)]):
            return ConditionResult(None, why=_never_seen(_field_of(lacking[0]), scene))
        passing += matching(condition.tests, mine, scene)
    enough = len(passing) >= condition.least and (condition.most is None or len(passing) <= condition.most)
    return ConditionResult(holds=enough, by=tuple(passing) if enough else ())


def _readable(collection: RecordCollection, scene: EvaluationContext) -> tuple[list[Record], str]:
    """The records that may be spoken of; why not, if there are some and all are somebody else's."""
    mine = scene.ownership.readable(collection.records)
    if mine or not collection.records:
        return mine, ""
    tool, count = short_name(collection.place[0]), len(collection.records)
    return [], f"`{tool}` gave {count} row{'s' if count > 1 else ''}, and none belongs to the requester"


def _tested(tests: Sequence[FieldTest], scene: EvaluationContext) -> ConditionResult:
    """Tries the places in which the fields stand, those first that have all of them."""
    refs = list(dict.fromkeys(ref for test in tests for ref in (test.ref, test.other) if ref is not None))
    places = {ref: resolve(ref, scene) for ref in refs}
    why = next((resolved.why for resolved in places.values() if resolved.why), "")
    for resolved in places.values():
        for collection in resolved.places:
            why = why or _readable(collection, scene)[1]
    known = [test for test in tests if all(places[ref].places for ref in (test.ref, test.other) if ref is not None)]
    refs = [ref for ref in refs if places[ref].places]
    if why and any(_held(test, scene, places) is False for test in known):
        return ConditionResult(holds=False)
    if why:
        return ConditionResult(None, why=why)
    ways = islice(product(*(places[ref].places for ref in refs)), _MOST_WAYS)
    for way in sorted(ways, key=lambda way: len({each.place for each in way})):
        if not _is_consistent(dict(zip(refs, way, strict=True)), places):
            continue
        if (by := _by(known, dict(zip(refs, way, strict=True)), scene)) is not None:
            return ConditionResult(holds=True, by=tuple(by))
    unclear = next((resolved for test in known if (resolved := _misread(test, scene, places))), "")
    return ConditionResult(None, why=unclear) if unclear else ConditionResult(holds=False)


def _is_consistent(way: dict[FieldRef, RecordCollection], places: dict[FieldRef, _ResolvedPlaces]) -> bool:
    """Fields of the same kind of thing are looked for in the same answer, if one answer has both: the region of one
    incident and the components of another show nothing."""
    for (one, here), (other, there) in combinations(way.items(), 2):
        if here.place != there.place and _thing(here.place) == _thing(there.place):
            both = {each.place for each in places[one].places} & {each.place for each in places[other].places}
            if both:
                return False
    return True


def _misread(test: FieldTest, scene: EvaluationContext, places: dict[FieldRef, _ResolvedPlaces]) -> str:
    """Why a comparison makes no sense for any of the records: their values are no numbers or no moments."""
    mine = [record for each in places[test.ref].places for record in _readable(each, scene)[0]]
    values = [record.get(test.ref.name) for record in mine]
    if not values or not all(unreadable(value, test.operator) for value in values):
        return ""
    return f"`{test.ref.name}` is {str(values[0])[:60]!r}, which cannot be compared with “{test.words[-80:]}”"


def _held(test: FieldTest, scene: EvaluationContext, places: dict[FieldRef, _ResolvedPlaces]) -> bool | None:
    """A single test, where all records that it speaks of may be spoken of."""
    if test.other is not None:
        return None
    mine = [record for each in places[test.ref].places for record in _readable(each, scene)[0]]
    hidden = any(_readable(each, scene)[1] for each in places[test.ref].places)
    return None if hidden else bool(matching([test], mine, scene))


def _by(
    tests: Sequence[FieldTest], places: dict[FieldRef, RecordCollection], scene: EvaluationContext
) -> list[Record] | None:
    """The records that pass, when for every place there are some."""
    left = {collection.place: scene.ownership.readable(collection.records) for collection in places.values()}
    joins: list[FieldTest] = []
    for test in tests:
        if test.other is not None:
            joins.append(test)
            continue
        here = places[test.ref].place
        left[here] = [record for record in left[here] if _passes(record, test, scene)]
    for test in joins:
        _join(test, places, left)
    return [record for records in left.values() for record in records] if all(left.values()) else None


def _join(test: FieldTest, places: dict[FieldRef, RecordCollection], left: dict[Place, list[Record]]) -> None:
    """Keeps on both sides what has a partner on the other."""
    if test.other is None:
        return
    here, there = places[test.ref].place, places[test.other].place
    mine, theirs = left[here][:_MOST_COMPARED], left[there][:_MOST_COMPARED]
    pairs = [
        (one, other)
        for one in mine
        for other in theirs
        if (here != there or one is other)
        and compares(one.get(test.ref.name), test.operator, other.get(test.other.name)) != test.negated
    ]
    left[here] = _once(one for one, _ in pairs)
    if here != there:
        left[there] = _once(other for _, other in pairs)


def _passes(record: Record, test: FieldTest, scene: EvaluationContext) -> bool:
    """A field that the schema declares and the row leaves out is empty."""
    return passes(record.get(test.ref.name), test, scene.now, scene.requester)


def _once(records: Iterable[Record]) -> list[Record]:
    return list({id(record): record for record in records}.values())
