"""What can be found in a ticket: its kind, its words, and where they stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

EntityKind = Literal[
    "email",
    "url",
    "host",
    "ip",
    "uuid",
    "error_code",
    "username",
    "id",
    "date",
    "time",
    "money",
    "version",
    "path",
    "phone",
    "quantity",
    "quoted",
]

KINDS: tuple[EntityKind, ...] = get_args(EntityKind)
"""When two of the same length stand in the same place, the one that comes first here is meant."""


@dataclass(frozen=True, slots=True)
class Entity:
    kind: EntityKind
    value: str
    """Exactly as it stands in the text, from `start` to `end`."""
    start: int
    end: int
    normal: str | None = None
    """In one spelling, where there is no doubt: `2026-03-12`, `249.00 USD`, `502`. The date 03/04/2026 has none."""
    label: str | None = None
    """What the text calls it: `invoice` of an id, `minute` of a quantity."""

    @property
    def plain(self) -> str:
        return self.normal if self.normal is not None else self.value


_MADE_UP = re.compile(
    r"(?<![\w/\-])[A-Za-z_./\-]{0,40}+[0-9][A-Za-z0-9_/\-]{0,40}+|(?<!\w)[A-Za-z]{1,40}-[A-Za-z0-9\-]{1,40}+"
)
_BEFORE = 40
_LINKS = frozenset(" :=#(\"'`")
_WIDEST_LINK = 5


def made_up_words(text: str) -> Iterator[re.Match[str]]:
    """Words with a digit or a dash in them. What they are, the words before them tell."""
    return _MADE_UP.finditer(text)


def said_before(pattern: re.Pattern[str], text: str, start: int) -> re.Match[str] | None:
    """Whether the words before this place fit a pattern that ends with `\\Z`. Looking back is cheap; looking for every
    word that could announce something is not."""
    last = start - 1
    while last >= 0 and start - last < _WIDEST_LINK and text[last] in _LINKS:
        last -= 1
    # Most numbers in a row of numbers have no word before them at all.
    if last >= 0 and text[last] == ".":
        last -= 1  # As in `no. 4711`.
    if last < 0 or not text[last].isalpha():
        return None
    return pattern.search(text, max(0, start - _BEFORE), start)
