"""Payment cards: a brand's prefix, one of its lengths, and the Luhn check."""

import re
from collections.abc import Iterator
from functools import lru_cache

from gaby.safety.redaction.sight import Run, Sight
from gaby.safety.redaction.spans import Certainty, Span

_SHORTEST = 12
_LONG = 14
_GROUP = re.compile(r"[0-9]+")
_BETWEEN = re.compile(r"[^0-9]")
_DOUBLED = bytes.maketrans(b"0123456789", b"0246813579")

# First number, last number (as many digits as the prefix has), lengths.
_BRANDS = (
    ("2200", "2204", (16,)),  # Mir
    ("2221", "2720", (16,)),  # Mastercard
    ("300", "305", (14,)),  # Diners Club
    ("34", "34", (15,)),  # American Express
    ("3528", "3589", (16,)),  # JCB
    ("36", "36", (14,)),  # Diners Club
    ("37", "37", (15,)),  # American Express
    ("38", "39", (14,)),  # Diners Club
    ("4", "4", (19, 16, 13)),  # Visa
    ("5018", "5018", (19, 16, 13, 12)),  # Maestro
    ("5020", "5020", (19, 16, 13, 12)),
    ("5038", "5038", (19, 16, 13, 12)),
    ("51", "55", (16,)),  # Mastercard
    ("5893", "5893", (19, 16, 13, 12)),  # Maestro
    ("6011", "6011", (19, 16)),  # Discover
    ("62", "62", (19, 18, 17, 16)),  # UnionPay
    ("6304", "6304", (19, 16, 13, 12)),  # Maestro
    ("644", "649", (19, 16)),  # Discover
    ("65", "65", (19, 16)),
    ("6759", "6763", (19, 16, 13, 12)),  # Maestro
)


def find_cards(sight: Sight) -> Iterator[Span]:
    for run in sight.runs:
        if len(run.digits) >= _SHORTEST:
            yield from _cards_in(sight, run)


def has_luhn(digits: str) -> bool:
    # Sums of bytes, each 48 more than its digit: this is tried at every number of a long list.
    codes = digits.encode()
    total = sum(codes[::-2]) + sum(codes.translate(_DOUBLED)[-2::-2])
    return (total - 48 * len(codes)) % 10 == 0


def _cards_in(sight: Sight, run: Run) -> Iterator[Span]:
    places = [place for place, character in enumerate(run.text, run.start) if character in "0123456789"]
    first = 0
    while first <= len(places) - _SHORTEST:
        length = _card_at(sight, run, places, first)
        if length:
            yield Span(places[first], places[first + length - 1] + 1, "card", Certainty.SURE)
        first += length or 1


def _card_at(sight: Sight, run: Run, places: list[int], first: int) -> int:
    """How many digits the card has that begins with this digit, or 0."""
    for length in _lengths(run.digits[first : first + 4]):
        last = first + length - 1
        if last >= len(places):
            continue
        start, end = places[first], places[last] + 1
        if (
            sight.is_apart(start, end)
            and has_luhn(run.digits[first : last + 1])
            and _is_grouped(sight.text, start, end)
        ):
            return length
    return 0


def _is_grouped(text: str, start: int, end: int) -> bool:
    """Written as one writes a card, not as telephone numbers in a row: one in ten of those passes the Luhn check."""
    groups = _GROUP.findall(text, start, end)
    separators = set(_BETWEEN.findall(text, start, end))
    if text[start - 1 : start] == "+" or not separators.isdisjoint("/()"):
        return False
    is_even = len(set(map(len, groups))) == 1 or len(groups[0]) == 4
    return is_even or (len(separators) == 1 and sum(map(len, groups)) >= _LONG)


@lru_cache(maxsize=10_000)
def _lengths(prefix: str) -> tuple[int, ...]:
    for low, high, lengths in _BRANDS:
        if low <= prefix[: len(low)] <= high:
            return lengths
    return ()
