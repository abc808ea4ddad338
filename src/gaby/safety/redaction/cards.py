"""Payment cards: a brand's prefix, one of its lengths, and the Luhn check."""

import re
from collections.abc import Iterator
from functools import lru_cache

from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import SpanCertainty, TextSpan

_LONG = 14
_MOST_DIGITS = 19
_ALL_LENGTHS = (12, 13, 14, 15, 16, 17, 18, 19)
_CONTEXT = 28
_CARD_WORDS = frozenset(
    {"card", "cc", "creditcard", "karte", "kreditkarte", "carte", "tarjeta", "carta", "cartao", "kaart",
     "karta", "karty", "kort", "visa", "mastercard", "maestro", "amex", "jcb", "diners", "pan"}
)  # fmt: skip
_SAYS_CARD = re.compile(rf"\b(?:{'|'.join(sorted(_CARD_WORDS))})[^0-9]{{0,20}}\Z")
_WIDE = "_,\n\r\t"
_WRITTEN = frozenset({(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (8, 8)})
_GROUP = re.compile(r"[0-9]+")
_GOES_ON = re.compile(r"[-.][0-9]")
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


def find_cards(sight: ScannedText) -> Iterator[TextSpan]:
    speaks_of_cards = bool(sight.long_runs) and not sight.words.isdisjoint(_CARD_WORDS)
    for start, end in sight.long_runs:
        groups = [match.span() for match in _GROUP.finditer(sight.text, start, end)]
        first = 0
        while first < len(groups):
            is_said = speaks_of_cards and _SAYS_CARD.search(sight.before(groups[first][0], _CONTEXT)) is not None
            count = _card_at(sight, groups, first, is_said=is_said)
            if count:
                yield TextSpan(groups[first][0], groups[first + count - 1][1], "card", SpanCertainty.SURE)
            first += count or 1


def has_luhn(digits: str) -> bool:
    # Sums of bytes, each 48 more than its digit: this is tried at every number of a long list.
    codes = digits.encode()
    total = sum(codes[::-2]) + sum(codes.translate(_DOUBLED)[-2::-2])
    return (total - 48 * len(codes)) % 10 == 0


def _card_at(sight: ScannedText, groups: list[tuple[int, int]], first: int, *, is_said: bool) -> int:
    """How many groups of digits the card has that begins with this one, or 0. After a word for it, brands that are not
    in the table are cards too."""
    digits, best, text = "", 0, sight.text
    for count, (start, end) in enumerate(groups[first : first + _MOST_DIGITS], 1):
        digits += text[start:end]
        lengths = _ALL_LENGTHS if is_said or len(digits) < 4 else _lengths(digits[:4])
        if len(digits) > _MOST_DIGITS or not lengths:
            break
        if len(digits) in lengths and has_luhn(digits) and _is_card(sight, groups, first, count):
            best = count
    return best


def _is_card(sight: ScannedText, groups: list[tuple[int, int]], first: int, count: int) -> bool:
    start, end = groups[first][0], groups[first + count - 1][1]
    lengths = tuple(last - begin for begin, last in groups[first : first + count])
    separators = set(_BETWEEN.findall(sight.text, start, end))
    if not sight.is_apart(start, end) or sight.is_in_uuid(start) or _GOES_ON.match(sight.text, end):
        return False
    if sight.text[start - 1 : start] == "+" or not separators.isdisjoint("/()"):
        return False
    if not separators.isdisjoint(_WIDE):
        # Lists of numbers are written like this too, so that only the very form of a card counts, and no longer list.
        around = groups[max(0, first - 1) : first] + groups[first + count : first + count + 1]
        is_list = any(last - begin == lengths[0] for begin, last in around)
        return lengths in _WRITTEN and len(separators - {" ", "\r"}) == 1 and not is_list
    is_even = len(set(lengths)) == 1 or lengths[0] == 4
    # As one writes a card, not as telephone numbers in a row: one in ten of those passes the Luhn check.
    return is_even or (len(separators) == 1 and sum(lengths) >= _LONG)


@lru_cache(maxsize=10_000)
def _lengths(prefix: str) -> tuple[int, ...]:
    for low, high, lengths in _BRANDS:
        if low <= prefix[: len(low)] <= high:
            return lengths
    return ()
