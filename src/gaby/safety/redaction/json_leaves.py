"""A JSON value taken apart into its texts and put together again."""

from collections.abc import Collection, Iterator
from typing import Any, cast

from gaby.kernel.errors import Invalid
from gaby.safety.redaction.fields import NO_HINTS, FieldHints, Path, is_plain_fact, kind_of_field
from gaby.safety.redaction.spans import Kind

MAX_DEPTH = 64
# Smaller numbers are too short for anything that is recognised by its form; longer ones are no number of anybody.
_SHORTEST_NUMBER = 10**6
_LONGEST_NUMBER = 10**24


class TooDeep(Invalid):
    """The data is nested more than 64 levels deep, and cannot be searched for personal data. Send it flatter."""


class NotJson(Invalid):
    """Only texts, numbers, true, false, null, lists, and objects with text keys can be searched for personal data."""


class JsonLeaves:
    """The texts of a value in their order: keys, strings, and numbers written out."""

    def __init__(self, hints: FieldHints = NO_HINTS, kinds: Collection[Kind] = ()) -> None:
        """`kinds` are those for which the name of a field is enough. A hint always is."""
        self.texts: list[str] = []
        self.forced: dict[int, Kind] = {}
        """Which of them are personal by their place."""
        self.numbers: dict[int, int | float] = {}
        """Which of them are numbers, still as they were."""
        self.json: list[int] = []
        """Which of them may have JSON inside."""
        self._hints = hints or None
        self._kinds = kinds

    def take(self, value: Any, forced: Kind | None = None, path: Path = (), depth: int = 0) -> None:
        if isinstance(value, str):
            self._add(value, forced)
        elif isinstance(value, dict):
            self._take_object(cast("dict[Any, Any]", value), forced, path, deeper(depth))
        elif isinstance(value, list | tuple):
            for place, item in enumerate(cast("list[Any]", value)):
                below, kind = self._below(path, str(place), forced)
                self.take(item, kind, below, deeper(depth))
        elif is_number(value):
            self._add_number(value, forced)
        elif not (value is None or isinstance(value, bool)):
            raise NotJson

    def put(self, value: Any) -> Any:
        """The same value with the texts as they are now."""
        return self._put(value, iter(enumerate(self.texts)))

    def _put(self, value: Any, texts: Iterator[tuple[int, str]]) -> Any:
        if isinstance(value, str):
            return next(texts)[1]
        if isinstance(value, dict):
            return {next(texts)[1]: self._put(item, texts) for item in cast("dict[str, Any]", value).values()}
        if isinstance(value, list | tuple):
            return [self._put(item, texts) for item in cast("list[Any]", value)]
        if is_number(value):
            place, text = next(texts)
            return value if place in self.numbers else text
        return value

    def _take_object(self, value: dict[Any, Any], forced: Kind | None, path: Path, depth: int) -> None:
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotJson
            self.texts.append(key)
            below, kind = (path, forced) if self._hints is None else self._below(path, key, forced)
            # A name like `token` says something of the value beside it, not of a whole structure.
            if kind is None and not isinstance(item, dict):
                kind = self._kind_by_name(key, item)
            self.take(item, kind, below, depth)

    def _kind_by_name(self, name: str, item: Any) -> Kind | None:
        named = kind_of_field(name)
        return None if named is None or named not in self._kinds or is_plain_fact(named, name, item) else named

    def _below(self, path: Path, step: str, forced: Kind | None) -> tuple[Path, Kind | None]:
        if self._hints is None:
            return path, forced
        below = (*path, step)
        return below, self._hints.kind_at(below) or forced

    def _add(self, text: str, forced: Kind | None) -> None:
        if forced is not None:
            self.forced[len(self.texts)] = forced
        elif "{" in text:
            self.json.append(len(self.texts))
        self.texts.append(text)

    def _add_number(self, number: float, forced: Kind | None) -> None:
        self.numbers[len(self.texts)] = number
        is_long = _SHORTEST_NUMBER <= abs(number) < _LONGEST_NUMBER and number == int(number)
        self._add(str(int(number)) if is_long else "", forced)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def deeper(depth: int) -> int:
    """One level more than `depth`, as long as there may be one more."""
    if depth >= MAX_DEPTH:
        raise TooDeep
    return depth + 1
