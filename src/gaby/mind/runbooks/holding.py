"""Whether a condition holds for what tools answered, and which records show it. Not known is an answer, too.

Conditions of one group about the same kind of thing must hold for the same thing. Of several records those count that
are the requester's own; somebody else's never show anything, except where they are only counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, product

from gaby.mind.ownership import Ownership
from gaby.mind.records import Collection, Record, View, short
from gaby.mind.runbooks.comparing import compares, passes
from gaby.mind.runbooks.conditions import Condition, Count, Known, Ref, Same, Test
from gaby.mind.synonyms import alike
from gaby.mind.words import terms

HEADLINES = ("title", "headline", "subject", "summary", "component", "components", "service", "services")
_MOST_WAYS = 32
_MOST_COMPARED = 300


@dataclass(frozen=True)
class Shown:
    holds: bool | None
    """None: the fields that it speaks of were not seen."""
    by: tuple[Record, ...] = ()


@dataclass(frozen=True)
class Scene:
    """All that conditions are held against."""

    view: View
    ownership: Ownership
    requester: str | None = None
    now: datetime | None = None
    tools: frozenset[str] = frozenset()
    """Short names of those that the runbook asks for. Their answers are meant first."""
    about: frozenset[str] = frozenset()
    """What the ticket and the runbook speak of. Empty: nobody knows."""


def shown(groups: Sequence[Sequence[Condition]], scene: Scene) -> Shown:
    """The first group that holds; else no, or not known if any group is not."""
    results: list[Shown] = []
    for group in groups:
        result = _group(group, scene)
        if result.holds:
            return result
        results.append(result)
    return Shown(holds=None if any(result.holds is None for result in results) else False)


def chosen(tests: Sequence[Test], records: Sequence[Record], scene: Scene) -> list[Record]:
    """Of these records the ones that pass."""
    return [record for record in records if all(_passes(record, test, scene) for test in tests)]


def resolve(ref: Ref, scene: Scene) -> list[Collection]:
    """Where such a field was told: where the words point most plainly to, and in answers that the runbook asks for."""
    found = [each for each in scene.view.collections if ref.name in each.names]
    named = [each for each in found if short(each.place[0]) in ref.tools or each.place[0] in ref.tools]
    found = named or found
    best = max((each.called(ref.nouns) for each in found), default=0)
    found = [each for each in found if each.called(ref.nouns) == best]
    asked = [each for each in found if short(each.place[0]) in scene.tools]
    return asked or found


def _group(group: Sequence[Condition], scene: Scene) -> Shown:
    tests = [each for each in group if isinstance(each, Test)]
    others = [each for each in group if not isinstance(each, Test)]
    by: list[Record] = []
    unknown = False
    for condition in others:
        result = _of_many(condition, tests, scene)
        if result.holds is False:
            return result
        unknown |= result.holds is None
        by += result.by
    if tests and not any(isinstance(each, Same) for each in others):
        result = _tested(tests, scene)
        if result.holds is False:
            return result
        unknown |= result.holds is None
        by += result.by
    return Shown(holds=None) if unknown else Shown(holds=True, by=tuple(_once(by)))


def _of_many(condition: Condition, tests: Sequence[Test], scene: Scene) -> Shown:
    match condition:
        case Known(known=known):
            if not (scene.ownership.was_looked_up or scene.ownership.is_known):
                return Shown(holds=None)
            return Shown(holds=scene.ownership.is_known == known)
        case Same():
            return _same(condition, tests, scene)
        case Count():
            return _counted(condition, scene)
        case _:
            return Shown(holds=None)


def _same(condition: Same, tests: Sequence[Test], scene: Scene) -> Shown:
    """Tests beside it say which records are looked at."""
    found = resolve(condition.ref, scene)
    if not found:
        return Shown(holds=None)
    for collection in found:
        fitting = [test for test in tests if test.ref.name in collection.names]
        groups: dict[str, list[Record]] = {}
        for record in chosen(fitting, _mine(collection.records, scene), scene):
            if value := str(record.get(condition.ref.name) or ""):
                groups.setdefault(value, []).append(record)
        largest: list[Record] = max(groups.values(), key=len, default=list[Record]())
        if len(largest) >= condition.least:
            return Shown(holds=True, by=tuple(largest))
    return Shown(holds=False)


def speaks_of(condition: Condition, scene: Scene) -> list[Collection]:
    """Where a condition looks."""
    match condition:
        case Test(ref=ref, other=other):
            return resolve(ref, scene) + (resolve(other, scene) if other is not None else [])
        case Same(ref=ref):
            return resolve(ref, scene)
        case Count():
            return _counted_in(condition, scene)
        case Known():
            return []


def _counted_in(condition: Count, scene: Scene) -> list[Collection]:
    """By what is counted, in the answer of the tool that is named, if any. A list may be empty and tells of no field,
    and still it is the one that is meant."""
    wanted = frozenset(name for test in condition.tests for name in test.ref.tools)
    among = [each for each in scene.view.collections if short(each.place[0]) in wanted] or scene.view.collections
    best = max((each.called(condition.nouns) for each in among), default=0)
    if best > 1:
        return [each for each in among if each.called(condition.nouns) == best]
    return resolve(condition.tests[0].ref, scene) if condition.tests else []


def _counted(condition: Count, scene: Scene) -> Shown:
    found = _counted_in(condition, scene)
    if not found:
        return Shown(holds=None)
    passing = [record for each in found for record in chosen(condition.tests, each.records, scene)]
    enough = len(passing) >= condition.least and (condition.most is None or len(passing) <= condition.most)
    return Shown(holds=enough, by=tuple(passing) if enough else ())


def _tested(tests: Sequence[Test], scene: Scene) -> Shown:
    """Tries the places in which the fields were told, those first that have all of them."""
    refs = list(dict.fromkeys(ref for test in tests for ref in (test.ref, test.other) if ref is not None))
    literal = {
        test.other for test in tests if test.other is not None and test.values and not resolve(test.other, scene)
    }
    refs = [ref for ref in refs if ref not in literal]
    places = {ref: resolve(ref, scene) for ref in refs}
    for ref in (ref for ref in refs if not places[ref]):
        # An empty list tells that nothing of the kind is so.
        gone = any(not each.records and each.called(ref.nouns) > 1 for each in scene.view.collections)
        return Shown(holds=False if gone else None)
    ways = islice(product(*places.values()), _MOST_WAYS)
    for way in sorted(ways, key=lambda way: len({each.place for each in way})):
        if (by := _by(tests, dict(zip(refs, way, strict=True)), scene)) is not None:
            return Shown(holds=True, by=tuple(by))
    return Shown(holds=False)


def _by(tests: Sequence[Test], places: dict[Ref, Collection], scene: Scene) -> list[Record] | None:
    """The records that pass, when for every place there are some."""
    tested = frozenset(test.ref.name for test in tests)
    left = {collection.place: _mine(collection.records, scene, tested) for collection in places.values()}
    joins: list[Test] = []
    for test in tests:
        if test.other is not None and test.other in places:
            joins.append(test)
            continue
        here = places[test.ref].place
        left[here] = [record for record in left[here] if _passes(record, test, scene)]
    for test in joins:
        _join(test, places, left)
    return [record for records in left.values() for record in records] if all(left.values()) else None


def _join(test: Test, places: dict[Ref, Collection], left: dict[tuple[str, tuple[str, ...]], list[Record]]) -> None:
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


def _passes(record: Record, test: Test, scene: Scene) -> bool:
    if test.ref.name not in record.fields:
        return False
    return passes(record.get(test.ref.name), test, scene.now, scene.requester)


def _mine(records: Sequence[Record], scene: Scene, tested: frozenset[str] = frozenset()) -> list[Record]:
    for whose in ("own", "account", "anyone"):
        if found := [record for record in records if scene.ownership.whose(record) == whose]:
            return found if whose != "anyone" else [each for each in found if speaks_of_it(each, scene.about, tested)]
    return []


def speaks_of_it(record: Record, about: frozenset[str], tested: frozenset[str] = frozenset()) -> bool:
    """What happened to all, such as an incident, explains a ticket only when its headline is about the same. Where a
    condition asks for the headline itself, the runbook has decided that."""
    headlines = {name: str(record.get(name)) for name in HEADLINES if record.get(name)}
    if not about or not headlines or not tested.isdisjoint(headlines):
        return True
    told = {term for text in headlines.values() for term in terms(text)}
    return any(not alike(term).isdisjoint(about) for term in told)


def _once(records: Iterable[Record]) -> list[Record]:
    return list({id(record): record for record in records}.values())
