"""Bank accounts: the country's length of IBAN and its check digits."""

import re
from collections.abc import Iterator

from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import SpanCertainty, TextSpan

_LENGTHS = {
    15: "NO",
    16: "BE",
    18: "DK FK FI FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
_LENGTH_OF = {country: length for length, countries in _LENGTHS.items() for country in countries.split()}
_IBAN = re.compile(r"[A-Za-z]{2}[0-9]{2}(?:[ \-._]{0,2}[A-Za-z0-9]){11,29}+")


def find_ibans(sight: ScannedText) -> Iterator[TextSpan]:
    for at in sight.letters_first:
        # The underscore is a letter in a shape, but not in a country.
        if match := _IBAN.match(sight.text, at):
            end = iban_end(sight.text, match.start(), match.end())
            if end and sight.is_apart(at, end):
                yield TextSpan(at, end, "iban", SpanCertainty.SURE)


def iban_end(text: str, start: int, end: int) -> int:
    """Where the IBAN that begins at `start` ends, or 0 when its check digits are wrong."""
    length = _LENGTH_OF.get(text[start : start + 2].upper())
    places = [place for place in range(start, end) if text[place].isalnum()]
    if length is None or len(places) < length:
        return 0
    compact = "".join(text[place] for place in places[:length])
    number = int("".join(str(int(character, 36)) for character in compact[4:] + compact[:4]))
    return places[length - 1] + 1 if number % 97 == 1 else 0
