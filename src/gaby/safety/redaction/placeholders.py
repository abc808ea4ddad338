"""Placeholders of one run: a value leaves the text as `[email:1-k7qd2m]` and can be put back by this run alone.

The number says whose value it is: the same e-mail gets the same number however it is spelled, and a second spelling is
`[email:1.2-k7qd2m]`, so that putting back gives exactly what was there. The tag is the run's own and cannot be guessed:
whoever types `[email:1]`, or copies the placeholder of another run, has typed mere text.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection
from functools import cached_property
from typing import Any, NamedTuple, Self, cast

from gaby.kernel.errors import GabyError
from gaby.safety.redaction.json_leaves import deeper
from gaby.safety.redaction.normalized_text import canonical
from gaby.safety.redaction.spans import ALL_KINDS, Kind

_TAG = re.compile(r"[a-z0-9]{6,16}")
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
_TAG_LENGTH = 6
_NAMES = "|".join(sorted(ALL_KINDS))
TYPED = "typed"
"""The kind of a placeholder that somebody typed: putting it back gives what was typed, and nobody's data."""
_SEPARATED = frozenset[str]({"card", "iban", "national_id", "phone", "mac"})
_BETWEEN = re.compile(r"[\s\-./():]+")

Original = str | int | float
MayRead = Callable[[str], bool]
"""Whether whoever is going to read it may see this value, as text."""


class PlaceholdersUnreadable(GabyError):
    """The stored placeholders of this run cannot be read. Start the run again from its ticket."""


class _PlaceholderEntry(NamedTuple):
    kind: str
    number: int
    spelling: int
    original: Original


class _RestoreReader(NamedTuple):
    """Who is going to read what is restored."""

    allow: Collection[str]
    may_read: MayRead | None
    hidden: str | None

    def sees(self, kind: str, original: Original) -> bool:
        return kind in self.allow and (self.may_read is None or self.may_read(str(original)))


def tag_from(seed: bytes) -> str:
    """A run's tag out of at least four random bytes."""
    number = int.from_bytes(seed, "big")
    return "".join(_ALPHABET[number >> 5 * place & 31] for place in range(_TAG_LENGTH))


class Placeholders:
    def __init__(self, tag: str) -> None:
        if not _TAG.fullmatch(tag):
            raise ValueError("a tag has 6 to 16 small letters and digits")
        self.tag = tag
        self._entries: dict[str, _PlaceholderEntry] = {}
        self._placeholders: dict[tuple[str, type, Original], str] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._spellings: dict[tuple[str, int], int] = {}
        self._last: dict[str, int] = {}

    @cached_property
    def own(self) -> re.Pattern[str]:
        """Has the form of a placeholder of this run. Whether it is one, `in` says."""
        return re.compile(rf"\[(?:{_NAMES}|{TYPED}):[0-9]+(?:\.[0-9]+)?-{self.tag}\]")

    def __contains__(self, placeholder: str) -> bool:
        return placeholder in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, kind: Kind, original: Original) -> str:
        """The placeholder that stands for this value."""
        return self._put(kind, original)

    def defused(self, text: str, *, all_of_them: bool) -> str:
        """The text in which what only looks like a placeholder of this run stands for nothing but itself."""

        def defuse(match: re.Match[str]) -> str:
            return self._put(TYPED, match[0]) if all_of_them or match[0] not in self else match[0]

        return self.own.sub(defuse, text)

    def restore(
        self, text: str, *, allow: Collection[Kind], may_read: MayRead | None = None, hidden: str | None = None
    ) -> str:
        """The text with its values back, as far as their kinds are allowed and `may_read` says that the reader may see
        them. What they may not see stays a placeholder, or becomes `hidden`. Do it once: what comes back is not looked
        at again."""
        return self._restore_text(text, _RestoreReader(allow, may_read, hidden))

    def restore_value(self, value: Any, *, allow: Collection[Kind]) -> Any:
        """The same for JSON, keys too. A number comes back as the number it was."""
        return self._restore(value, _RestoreReader(allow, None, None), 0)

    def to_json(self) -> str:
        """Holds the originals: store it encrypted."""
        return json.dumps({"tag": self.tag, "entries": list(self._entries.values())})

    @classmethod
    def from_json(cls, text: str) -> Self:
        try:
            stored = json.loads(text)
            placeholders = cls(stored["tag"])
            for entry in stored["entries"]:
                placeholders._load(_checked(*entry))
        except (ValueError, TypeError, KeyError) as error:
            raise PlaceholdersUnreadable from error
        return placeholders

    def _restore(self, value: Any, reader: "_RestoreReader", depth: int) -> Any:
        if isinstance(value, str):
            return self._original(value, reader) if value in self else self._restore_text(value, reader)
        if isinstance(value, list):
            below = deeper(depth)
            return [self._restore(item, reader, below) for item in cast("list[Any]", value)]
        if isinstance(value, dict):
            return self._restore_object(cast("dict[str, Any]", value), reader, deeper(depth))
        return value

    def _restore_text(self, text: str, reader: "_RestoreReader") -> str:
        return self.own.sub(lambda match: str(self._original(match[0], reader)), text) if self.tag in text else text

    def _restore_object(self, value: dict[str, Any], reader: "_RestoreReader", depth: int) -> dict[str, Any]:
        items = [(self._restore_text(key, reader), key, item) for key, item in value.items()]
        times = Counter(restored for restored, _, _ in items)
        # Two keys that would become one stay apart.
        return {
            restored if times[restored] == 1 else key: self._restore(item, reader, depth)
            for restored, key, item in items
        }

    def _original(self, placeholder: str, reader: "_RestoreReader") -> Original:
        """What stood there, when this run made the placeholder and the reader may see it."""
        entry = self._entries.get(placeholder)
        if entry is None:
            return placeholder
        if entry.kind == TYPED or reader.sees(entry.kind, entry.original):
            return entry.original
        return placeholder if reader.hidden is None else reader.hidden

    def _put(self, kind: str, original: Original) -> str:
        placeholder = self._placeholders.get((kind, type(original), original))
        if placeholder is None:
            number = self._numbers.get((kind, _identity(kind, original)), self._last.get(kind, 0) + 1)
            placeholder = self._load(
                _PlaceholderEntry(kind, number, self._spellings.get((kind, number), 0) + 1, original)
            )
        return placeholder

    def _load(self, entry: _PlaceholderEntry) -> str:
        kind, number, spelling, original = entry
        placeholder = f"[{kind}:{number}{f'.{spelling}' if spelling > 1 else ''}-{self.tag}]"
        self._entries[placeholder] = entry
        self._placeholders[kind, type(original), original] = placeholder
        self._numbers[kind, _identity(kind, original)] = number
        self._spellings[kind, number] = spelling
        self._last[kind] = max(number, self._last.get(kind, 0))
        return placeholder


def _identity(kind: str, original: Original) -> str:
    """What makes two spellings the same value."""
    is_whole = isinstance(original, float) and original.is_integer()
    plain = canonical(str(int(original) if is_whole else original))
    return _BETWEEN.sub("", plain) if kind in _SEPARATED else plain


def _checked(kind: Any, number: Any, spelling: Any, original: Any) -> _PlaceholderEntry:
    if kind not in ALL_KINDS | {TYPED} or not isinstance(original, Original):
        raise ValueError
    return _PlaceholderEntry(kind, int(number), int(spelling), original)
