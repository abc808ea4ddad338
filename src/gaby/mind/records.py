"""What tools answered, as records: every object with its plain fields, and where in which answer it stood.

A newer answer to the same call replaces the older one, so that a second look counts and the first one does not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, cast

from gaby.mind.fields import statements
from gaby.mind.result_preview import read_back
from gaby.mind.situations import PastCall
from gaby.mind.tool_names import short_name
from gaby.mind.words import spelled, stem, stems, words

_DEEPEST = 8
_MOST = 1000
"""Records of one answer. Longer lists are there to be filtered."""
_MOST_IN_ALL = 10_000
_MOST_FIELDS = 100
_MOST_ITEMS = 100
_VERBS = stems("list get search find show read look fetch query describe check all latest recent by of for the")

Place = tuple[str, tuple[str, ...]]
"""The tool, and the keys that lead to a record in its answer."""


Rows = tuple[tuple[tuple[str, ...], Mapping[str, Any]], ...]
_Object = tuple[tuple[str, ...], dict[str, Any] | None, Rows]


@dataclass(frozen=True)
class Record:
    call: PastCall
    path: tuple[str, ...]
    fields: Mapping[str, Any]
    """By names in one spelling: plain values, lists of them, and None."""
    rows: Rows = ()
    """The object itself and those that it stands in, the innermost first, each with its path."""

    @property
    def place(self) -> Place:
        return self.call.tool, self.path

    def get(self, name: str) -> Any:
        return self.fields.get(name)


@dataclass(frozen=True)
class RecordCollection:
    """All records of one place, over all calls of the tool."""

    place: Place
    records: tuple[Record, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(name for record in self.records for name in record.fields)

    def called(self, nouns: frozenset[str]) -> int:
        return called(self.place, nouns)


class RecordView:
    """The latest answer to every call."""

    def __init__(self, calls: Sequence[PastCall]) -> None:
        latest = {call.key: call for call in calls if call.outcome == "done" and call.access == "read"}
        self.calls = sorted(latest.values(), key=lambda call: call.number)
        by_place: dict[Place, list[Record]] = {}
        remaining = _MOST_IN_ALL
        for call in self.calls:
            for path, fields, rows in islice(_objects(call.result), remaining):
                remaining -= 1
                here = by_place.setdefault((call.tool, path), [])
                if fields is not None:
                    here.append(Record(call, path, fields, rows))
        self.collections = [RecordCollection(place, tuple(records)) for place, records in by_place.items()]

    @cached_property
    def records(self) -> list[Record]:
        return [record for collection in self.collections for record in collection.records]

    @cached_property
    def names(self) -> frozenset[str]:
        """Of all fields that anything was told about."""
        return frozenset(name for collection in self.collections for name in collection.names)


def nearest(records: Sequence[Record], view: RecordView) -> list[list[Record]]:
    """The records themselves, what they stand in from the inside out, and what stands in them.

    A condition holds for the token of a top-up, and the number that is meant is the top-up's own."""
    deepest = max((len(record.rows) for record in records), default=0)
    outwards = [
        [_enclosing(record, level) for record in records if len(record.rows) > level] for level in range(1, deepest)
    ]
    own = {id(record.rows[0][1]) for record in records if record.rows}
    inwards = [each for each in view.records if any(id(row) in own for _, row in each.rows[1:])]
    return [level for level in (list(records), *outwards, inwards) if level]


def _enclosing(record: Record, level: int) -> Record:
    path, row = record.rows[level]
    fields = {spelled(str(key)): value for key, value in islice(row.items(), _MOST_FIELDS) if _is_plain(value)}
    return Record(record.call, path, fields, record.rows[level:])


def called(place: Place, nouns: frozenset[str]) -> int:
    """How plainly some words mean it: by what it is called itself, by what it stands in, or by its tool."""
    tool, path = place
    if path and nouns & _stems_of(path[-1]):
        return 3
    if any(nouns & _stems_of(key) for key in path):
        return 2
    return int(bool(nouns & (_stems_of(short_name(tool)) - _VERBS)))


def _stems_of(name: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(name))


def _objects(result: Any) -> Iterator[_Object]:
    """Every object with its path. An empty list gives its path and no object: it tells that there is none."""
    value = read_back(result) if isinstance(result, str) else result
    yield from islice(_of_text(value) if isinstance(value, str) else _traverse(value, (), (), 0), _MOST)


def _of_text(text: str) -> Iterator[_Object]:
    for statement in statements(text):
        if statement.fields:
            yield (), {spelled(field.name): field.value for field in statement.fields[:_MOST_FIELDS]}, ()
        elif statement.text:
            yield (), {"text": statement.text}, ()


def _traverse(value: Any, path: tuple[str, ...], above: Rows, depth: int) -> Iterator[_Object]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        listed = cast("list[Any]", value)
        if not listed:
            yield path, None, above
        for inner in listed[:_MOST]:
            yield from _traverse(inner, path, above, depth + 1)
    elif isinstance(value, Mapping):
        row = cast("Mapping[str, Any]", value)
        rows: Rows = ((path, row), *above)
        pairs = [(str(key), inner) for key, inner in row.items()][:_MOST_FIELDS]
        if plain := {spelled(key): inner for key, inner in pairs if _is_plain(inner)}:
            yield path, plain, rows
        for key, inner in pairs:
            if isinstance(inner, Mapping) or (isinstance(inner, list) and not _is_row(cast("list[Any]", inner))):
                yield from _traverse(inner, (*path, key), rows, depth + 1)


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return _is_row(cast("list[Any]", value))
    return value is None or isinstance(value, str | int | float)


def _is_row(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(each, str | int | float) for each in values[:_MOST_ITEMS])
