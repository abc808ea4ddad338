"""Everything that can be found in a text, without overlaps.

Where two overlap, the longer one is meant, and of two as long the one of the more certain kind. What stands in
quotation marks is the exception: it is taken only where nothing of a certain kind was found, since
`"order INV-2041 failed"` tells more by its number than by being quoted. Nothing is taken from inside of a password, a
key or a card number.

No pattern has a repetition without bounds inside of another, so that a megabyte of hostile text costs no more than its
length allows.
"""

from collections.abc import Iterable
from functools import lru_cache

from gaby.mind.entities.addresses import Withheld, find_addresses
from gaby.mind.entities.amounts import find_amounts
from gaby.mind.entities.codes import find_codes
from gaby.mind.entities.dates import find_dates, find_times
from gaby.mind.entities.entity import KINDS, Entity
from gaby.mind.entities.identifiers import find_identifiers
from gaby.mind.entities.names import find_names, find_quoted

_RANK = {kind: rank for rank, kind in enumerate(KINDS)}


def extract(text: str) -> list[Entity]:
    """In the order of the text."""
    return list(_extract(text))


# A ticket and what was found for it are looked at before every step.
@lru_cache(maxsize=256)
def _extract(text: str) -> tuple[Entity, ...]:
    addresses, withheld = find_addresses(text)
    typed = [
        *addresses,
        *find_identifiers(text),
        *find_codes(text),
        *find_dates(text),
        *find_times(text),
        *find_amounts(text),
        *find_names(text),
    ]
    occupied = _OccupiedSpans(len(text), withheld)
    kept = occupied.claim(typed)
    kept += occupied.claim(find_quoted(text))
    return tuple(sorted(kept, key=lambda entity: entity.start))


class _OccupiedSpans:
    """Which characters belong to something already."""

    def __init__(self, length: int, withheld: Withheld) -> None:
        self._occupied = bytearray(length)
        for start, end in withheld:
            self._mark(start, end)

    def claim(self, entities: Iterable[Entity]) -> list[Entity]:
        kept: list[Entity] = []
        for entity in sorted(entities, key=_by_length):
            if self._occupied.find(1, entity.start, entity.end) < 0:
                self._mark(entity.start, entity.end)
                kept.append(entity)
        return kept

    def _mark(self, start: int, end: int) -> None:
        self._occupied[start:end] = b"\1" * (end - start)


def _by_length(entity: Entity) -> tuple[int, int, bool, int]:
    # Of two that are the same, the one that the text gives a name is worth more.
    return entity.start - entity.end, _RANK[entity.kind], entity.label is None, entity.start
