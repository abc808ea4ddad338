"""Numbers that are written exactly as a country writes its telephone numbers, by the tables of `phonenumbers`.

The tables are loaded with the first number whose groups a country uses: most texts never need them.
"""

import re
from functools import lru_cache

_GROUPS = re.compile(r"[0-9]+")
# Only groups that sums of money and lists of numbers rarely have. The trunk zero and North America are known without.
_COUNTRIES: dict[tuple[int, ...], tuple[str, ...]] = {
    (3, 2, 2, 2): ("ES",),
    (2, 2, 2, 2): ("DK", "NO"),
    (3, 2, 3): ("NO",),
    (2, 5, 4): ("BR",),
    (2, 4, 4): ("BR", "MX"),
    (3, 3, 4): ("IT",),
    (5, 5): ("IN",),
}


def is_written_as_phone(text: str) -> bool:
    shape = tuple(map(len, _GROUPS.findall(text[:24])))
    return shape in _COUNTRIES and len(text) <= 20 and _is_valid(text, _COUNTRIES[shape])


@lru_cache(maxsize=1024)
def _is_valid(text: str, countries: tuple[str, ...]) -> bool:
    import phonenumbers

    for country in countries:
        number = phonenumbers.parse(text, country)
        national = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
        if phonenumbers.is_valid_number(number) and _GROUPS.findall(national) == _GROUPS.findall(text):
            return True
    return False
